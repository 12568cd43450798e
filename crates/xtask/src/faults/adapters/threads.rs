//! Threads of Codex as its clients are shown them: answers that are written while they are read, and
//! pages.

use crate::faults::mutations::{Mutation, cut};

const ANSWER_TESTS: &str = "app_server::answer::";
const PAGE_TESTS: &str = "app_server::pages::";

const ANSWER: &str = "codex/src/app_server/answer.rs";
const CLIENT: &str = "codex/src/app_server/client.rs";
const FACE: &str = "codex/src/app_server/face.rs";
const PAST: &str = "codex/src/app_server/past.rs";
const NEWEST: &str = "codex/src/app_server/pages/newest.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 7] = [
    cut(
        ANSWER_TESTS,
        "answer-turns-without-commas",
        [
            ANSWER,
            "        if self.turns > 0 {\n",
            "        if self.turns > 0 && !$M {\n",
        ],
    ),
    cut(
        ANSWER_TESTS,
        "answer-held-whole",
        [
            ANSWER,
            "        if self.text.len() < PIECE_BYTES {\n",
            "        if $M || self.text.len() < PIECE_BYTES {\n",
        ],
    ),
    cut(
        ANSWER_TESTS,
        "answer-line-is-broken-into",
        [
            CLIENT,
            "Some(answer) if answer.sent == Sent::Part => &self.behind,",
            "Some(answer) if answer.sent == Sent::Part && !$M => &self.behind,",
        ],
    ),
    cut(
        ANSWER_TESTS,
        "answer-half-a-line-stays",
        [
            CLIENT,
            "            && answer.sent == Sent::Part\n",
            "            && answer.sent == Sent::Part\n            && !$M\n",
        ],
    ),
    cut(
        ANSWER_TESTS,
        "answer-two-at-once",
        [
            FACE,
            "        if shows_turns && self.client.is_writing() {\n",
            "        if shows_turns && self.client.is_writing() && !$M {\n",
        ],
    ),
    cut(
        ANSWER_TESTS,
        "answer-turn-before-its-end",
        [
            PAST,
            "        let closed = self.turns.len() - 1;\n",
            "        let closed = self.turns.len() - usize::from(!$M);\n",
        ],
    ),
    cut(
        PAGE_TESTS,
        "newest-page-cut-short",
        [
            NEWEST,
            "        if turns.len() <= self.limit && self.rest.is_some() {\n",
            "        if turns.len() <= self.limit && self.rest.is_some() && !$M {\n",
        ],
    ),
];
