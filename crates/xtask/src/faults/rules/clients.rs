//! Who looks on, who left a turn to itself, and what is not carried elsewhere.

use super::{ASKS, ATTEST, CLIENTS, CLOSINGS, CORE, FOLD, TURNS, broken};
use crate::faults::mutations::Mutation;

/// All of them.
pub(super) const MUTATIONS: [Mutation; 27] = [
    // Viewers
    broken(
        "viewer-submits",
        [
            CORE,
            "        if let Some(error) = self.only_looks_on(cause.conn) {\n            return self.reject(&cause, error);\n        }\n",
            "",
        ],
    ),
    broken(
        "viewer-that-controls-looks-on",
        [
            CLIENTS,
            "        self.core.viewers.remove(&conn);\n        self.core.awaited.clear();\n",
            "        self.core.awaited.clear();\n",
        ],
    ),
    broken(
        "let-go-under-a-viewer",
        [
            CLIENTS,
            "self.controller.is_none() && self.viewers.is_empty()",
            "self.controller.is_none()",
        ],
    ),
    broken(
        "kept-for-nobody",
        [CLIENTS, "return self.stop_if_done();", "return;"],
    ),
    broken(
        "closing-under-a-viewer",
        [
            CLIENTS,
            "                if self.core.viewers.is_empty() {",
            "                if true {",
        ],
    ),
    broken(
        "calls-in-flight-unshown",
        [
            TURNS,
            "        for open in &standing.open {",
            "        for open in standing.open.iter().take(0) {",
        ],
    ),
    broken(
        "output-in-flight-unshown-to-viewers",
        [
            TURNS,
            "        for output in &self.outputs {",
            "        for output in self.outputs.iter().take(0) {",
        ],
    ),
    broken(
        "requests-in-flight-unshown",
        [
            TURNS,
            "        for open in &standing.requests {",
            "        for open in standing.requests.iter().take(0) {",
        ],
    ),
    // A turn left to itself
    broken(
        "question-is-dropped",
        [
            CLIENTS,
            "                self.leave_asks();\n",
            "                self.settle_all_asks(ClosedBecause::ControllerLeft);\n",
        ],
    ),
    broken(
        "nobody-is-waited-for",
        [
            CLIENTS,
            "None => self.awaited.contains(&kind),",
            "None => self.awaited.contains(&kind) && self.turn.is_none(),",
        ],
    ),
    broken(
        "waited-for-after-all",
        [CLIENTS, "        self.core.awaited.clear();\n", ""],
    ),
    broken(
        "question-is-not-asked-again",
        [CLIENTS, "        self.ask_again();\n", ""],
    ),
    broken(
        "old-question-stays-open",
        [
            ASKS,
            "        self.close_ask(request, &ask, closed);\n        if let",
            "        let _ = (request, closed);\n        if let",
        ],
    ),
    broken(
        "old-client-is-still-asked",
        [
            ASKS,
            "(ask.conn, ask.until) = (None, Some(until));",
            "ask.until = Some(until);",
        ],
    ),
    broken(
        "work-waits-for-the-next-client",
        [
            ASKS,
            "            if is_question(ask.body.kind()) {",
            "            if true {",
        ],
    ),
    broken(
        "question-waits-for-ever",
        [CORE, "        self.give_up_questions();\n", ""],
    ),
    broken(
        "question-is-given-up-at-once",
        [
            ASKS,
            "ask.until.is_some_and(|until| until <= now)",
            "ask.until.is_some_and(|until| until.max(now) > Duration::ZERO)",
        ],
    ),
    broken(
        "end-of-a-question-unknown",
        [
            CORE,
            "turn.into_iter().chain(self.questions_end()).min()",
            "turn",
        ],
    ),
    // Another root
    broken(
        "grants-at-another-root",
        [ATTEST, "if tightened || elsewhere {", "if tightened {"],
    ),
    broken(
        "mode-at-another-root",
        [
            ATTEST,
            "asks.filter(|_| unattended)",
            "asks.filter(|_| unattended && elsewhere && tightened)",
        ],
    ),
    broken(
        "revocation-unrecorded",
        [
            ATTEST,
            "        core.record_first(Event::Marker(Marker::Revoke {}));\n",
            "",
        ],
    ),
    broken(
        "mode-change-unrecorded",
        [
            ATTEST,
            "        core.record_first(Event::SessionChanged(change));\n",
            "        drop(change);\n",
        ],
    ),
    // Forks
    broken(
        "fork-has-grants",
        [
            FOLD,
            "        self.grants.clear();\n        self.keys.clear();\n",
            "        self.keys.clear();\n",
        ],
    ),
    broken(
        "fork-has-keys",
        [
            FOLD,
            "        self.grants.clear();\n        self.keys.clear();\n",
            "        self.grants.clear();\n",
        ],
    ),
    broken(
        "fork-has-the-mode",
        [
            FOLD,
            "            header.parent = Some(point);\n            self.mode.clone_from(&header.mode);\n",
            "            header.parent = Some(point);\n",
        ],
    ),
    broken(
        "fork-is-silent",
        [
            CLOSINGS,
            "            push(None, None, Event::Marker(Marker::Fork { parent, at }));\n",
            "            let _ = (parent, at, Marker::Clear {});\n",
        ],
    ),
    broken(
        "fork-is-counted-twice",
        [
            FOLD,
            "                if !self.is_fork_of(*parent) {",
            "                if true {",
        ],
    ),
];
