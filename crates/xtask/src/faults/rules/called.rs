//! Servers of the client, asked by a program that stands for them.

use crate::faults::mutations::{Mutation, cut};

const TESTS: &str = "core::tests::called::";

const CALLED: &str = "engine/src/core/called.rs";
const CLIENTS: &str = "engine/src/core/clients.rs";
const WITHDRAWAL: &str = "engine/src/core/withdrawal.rs";

/// All of them.
pub(super) const MUTATIONS: [Mutation; 5] = [
    cut(
        TESTS,
        "caller-gone-call-stays",
        [CLIENTS, "        self.caller_gone(conn);\n", ""],
    ),
    cut(
        TESTS,
        "call-withdrawn-call-stays",
        [
            WITHDRAWAL,
            "        self.take_back(|waits| matches!(waits, Waits::Caller(asker) if asker == cause));\n",
            "",
        ],
    ),
    cut(
        TESTS,
        "calls-without-a-bound",
        [
            CALLED,
            "_ if open >= OPEN_CALLS =>",
            "_ if open > usize::MAX - 1 =>",
        ],
    ),
    cut(
        TESTS,
        "call-in-a-turn-that-stops",
        [
            CALLED,
            "_ if self.is_cancelling() =>",
            "_ if self.is_cancelling() && open > 0 =>",
        ],
    ),
    cut(
        TESTS,
        "call-of-who-answers-none",
        [
            CALLED,
            "_ if !self.core.answers(RequestKind::Mcp) =>",
            "_ if !self.core.answers(RequestKind::Mcp) && open > 0 =>",
        ],
    ),
];
