//! Compactions: what is summed up, when, and what counts.

use super::{BUSY, COMPACTION, FOLD, TURNS, broken};
use crate::faults::mutations::{Mutation, cut};

/// All of them.
pub(super) const MUTATIONS: [Mutation; 16] = [
    broken(
        "compaction-under-a-turn",
        [
            COMPACTION,
            "        if let Some(error) = self.core.occupied() {",
            "        if let Some(error) = self.core.occupied().filter(|_| false) {",
        ],
    ),
    broken(
        "compaction-of-nothing",
        [
            COMPACTION,
            "standing.is_compact() && !self.core.closings.iter().any(says)",
            "standing.is_compact() && false && !self.core.closings.iter().any(says)",
        ],
    ),
    cut(
        // Only a death between two records of one step leaves this.
        "core::tests::compaction::",
        "compaction-passes-over-what-was-open",
        [
            COMPACTION,
            "standing.is_compact() && !self.core.closings.iter().any(says)",
            "standing.is_compact() && !self.core.closings.iter().any(|frame| says(frame) && false)",
        ],
    ),
    broken(
        "compaction-covers-less",
        [
            COMPACTION,
            "from: standing.in_force().before().next(),",
            "from: standing.base,",
        ],
    ),
    broken(
        "compaction-covers-what-was-open-not",
        [
            COMPACTION,
            "        self.record_closings();\n        let standing",
            "        let standing",
        ],
    ),
    broken(
        "compaction-has-no-agent",
        [
            COMPACTION,
            "        self.push(Effect::StartCompaction { turn });\n",
            "        let _ = Effect::StartCompaction { turn };\n",
        ],
    ),
    broken(
        "late-summary-counts",
        [
            COMPACTION,
            "        if self.is_cancelling() {\n",
            "        if self.is_cancelling() && summary.is_empty() {\n",
        ],
    ),
    broken(
        "blank-summary-counts",
        [
            COMPACTION,
            "if summary.trim().is_empty() || summary.len()",
            "if summary.is_empty() || summary.len()",
        ],
    ),
    broken(
        "summary-of-any-length",
        [
            COMPACTION,
            "summary.len() > limits::SUMMARY_BYTES {",
            "summary.len() > 2 * limits::SUMMARY_BYTES {",
        ],
    ),
    broken(
        "second-window-is-the-first",
        [
            COMPACTION,
            "let window = self.core.standing.windows + 1;",
            "let window = 1;",
        ],
    ),
    broken(
        "agent-goes-on-from-no-summary",
        [
            TURNS,
            "        if active.covers.is_some() {\n",
            "        if active.covers.is_some() && false {\n",
        ],
    ),
    broken(
        "steered-compaction",
        [
            BUSY,
            "            IfBusy::Steer if self.covers().is_some() => self.queue_up(wanted),\n",
            "",
        ],
    ),
    broken(
        "steer-op-of-a-compaction",
        [
            BUSY,
            "        let active = active.filter(|_| self.covers().is_none());\n",
            "",
        ],
    ),
    broken(
        "fold-forgets-compactions",
        [
            FOLD,
            "                        self.compaction = Some(cursor);\n",
            "                        let _ = cursor;\n",
        ],
    ),
    broken(
        "fold-counts-no-windows",
        [FOLD, "                        self.windows += 1;\n", ""],
    ),
    broken(
        "summary-outlives-its-conversation",
        [
            FOLD,
            "        self.base = cursor;\n        self.compaction = None;\n",
            "        self.base = cursor;\n",
        ],
    ),
];
