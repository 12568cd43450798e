//! What clients change of the conversation, and take back; what the agent offers.

use super::{ASKS, CONVERSATION, COURSE, FOLD, OFFERS, SETTINGS, TITLE, TURNS, WITHDRAWAL, broken};
use crate::faults::mutations::Mutation;

/// All of them.
pub(super) const MUTATIONS: [Mutation; 33] = [
    // Withdrawal
    broken(
        "withdrawal-by-another",
        [
            WITHDRAWAL,
            "self.core.queued_by.contains(&(turn, cause.conn));",
            "self.core.queued_by.iter().any(|(asked, _)| *asked == turn);",
        ],
    ),
    broken(
        "withdrawn-turn-waits",
        [
            WITHDRAWAL,
            "            self.end_waiting(|waiting| waiting.id == turn);\n",
            "            let _ = turn;\n",
        ],
    ),
    // Rewind
    broken(
        "rewind-under-a-turn",
        [
            CONVERSATION,
            "            .or_else(|| self.only_looks_on(cause.conn))\n            .or_else(|| self.core.occupied())\n",
            "            .or_else(|| self.only_looks_on(cause.conn))\n",
        ],
    ),
    broken(
        "rewind-by-who-looks-on",
        [
            CONVERSATION,
            "            .or_else(|| self.only_looks_on(cause.conn))\n            .or_else(|| self.core.occupied())\n",
            "            .or_else(|| self.only_looks_on(cause.conn).filter(|_| false))\n            .or_else(|| self.core.occupied())\n",
        ],
    ),
    broken(
        "rewind-behind-the-close",
        [
            CONVERSATION,
            "        is_closed\n            .then(closed)\n",
            "        (is_closed && self.core.turn.is_some())\n            .then(closed)\n",
        ],
    ),
    broken(
        "rewind-keeps-the-agent",
        [
            CONVERSATION,
            "        self.step.urgent.push(Urgent::DropAgent);\n        self.record(None, None, Event::Marker(marker));\n",
            "        self.record(None, None, Event::Marker(marker));\n",
        ],
    ),
    broken(
        "rewind-to-anything",
        [
            COURSE,
            "        if let Err(at) = self.bookmarks.binary_search(&to) {\n",
            "        if let Err(at) = self.bookmarks.binary_search(&to)\n            && at > self.bookmarks.len()\n        {\n",
        ],
    ),
    broken(
        "rewind-keeps-what-was-left",
        [
            COURSE,
            "self.turnings.iter().rev().find(|(at, _)| *at <= to);",
            "self.turnings.iter().find(|(at, _)| *at <= to);",
        ],
    ),
    broken(
        "fold-forgets-what-was-kept",
        [
            FOLD,
            "Event::Marker(Marker::Rewind { kept, .. }) => self.turn_at(cursor, kept.clone()),",
            "Event::Marker(Marker::Rewind { kept, .. }) => {\n                self.turn_at(cursor, kept.iter().take(0).copied().collect());\n            }",
        ],
    ),
    broken(
        "turn-goes-on-from-elsewhere",
        [
            TURNS,
            "let base = standing.begins_after();",
            "let base = standing.bookmark;",
        ],
    ),
    // Clear
    broken(
        "clear-keeps-the-agent",
        [
            SETTINGS,
            "        self.step.urgent.push(Urgent::DropAgent);\n",
            "        let _ = Urgent::DropAgent;\n",
        ],
    ),
    // Append
    broken(
        "append-under-a-turn",
        [
            CONVERSATION,
            "let error = self.core.occupied().or_else(|| unfit(&items));",
            "let error = unfit(&items);",
        ],
    ),
    broken(
        "append-of-anything",
        [
            CONVERSATION,
            "let error = self.core.occupied().or_else(|| unfit(&items));",
            "let error = self.core.occupied().or_else(|| unfit(&items).filter(|_| false));",
        ],
    ),
    broken(
        "append-keeps-the-agent",
        [
            CONVERSATION,
            "        self.step.urgent.push(Urgent::DropAgent);\n        // Also",
            "        // Also",
        ],
    ),
    broken(
        "append-comes-before-what-was-open",
        [
            CONVERSATION,
            "        self.record_closings();\n        let title",
            "        let title",
        ],
    ),
    broken(
        "append-of-nobody",
        [
            CONVERSATION,
            "                cause: Some(cause.id.clone()),\n",
            "",
        ],
    ),
    broken(
        "append-is-only-written",
        [
            CONVERSATION,
            "        self.step.sync = Sync::Synced;\n",
            "        let _ = Sync::Synced;\n",
        ],
    ),
    broken(
        "appended-thought-is-stored",
        [
            CONVERSATION,
            "if frame.event.persistence(self.core.persistence) == Persistence::Never {",
            "if frame.event.persistence(self.core.persistence) == Persistence::Never && frame.item.is_none() {",
        ],
    ),
    broken(
        "appended-is-no-bookmark",
        [
            FOLD,
            "        self.native.clear();\n        self.bookmark = cursor;\n    }\n\n    /// Which",
            "        self.native.clear();\n        let _ = cursor;\n    }\n\n    /// Which",
        ],
    ),
    // Options and modes
    broken(
        "option-takes-anything",
        [
            OFFERS,
            "option.filter(|option| option.takes(&setting.value));",
            "option.filter(|option| option.takes(&setting.value) || option.id == setting.id);",
        ],
    ),
    broken(
        "option-unrecorded",
        [
            SETTINGS,
            "                mode,\n                options,\n",
            "                mode,\n                options: options.filter(|_| false),\n",
        ],
    ),
    broken(
        "fold-forgets-options",
        [
            FOLD,
            "            self.options = options.iter().map(AgentOption::setting).collect();\n",
            "            let _ = options.iter().map(AgentOption::setting);\n",
        ],
    ),
    broken(
        "tighter-mode-keeps-grants",
        [
            SETTINGS,
            "            if before.is_looser_than(after) {\n",
            "            if after.is_looser_than(before) {\n",
        ],
    ),
    broken(
        "agent-loosens-its-mode",
        [
            OFFERS,
            "if is_same || !is_known || after.is_looser_than(before) {",
            "if is_same || !is_known {",
        ],
    ),
    broken(
        "agent-has-any-mode",
        [
            OFFERS,
            "if is_same || !is_known || after.is_looser_than(before) {",
            "if is_same || after.is_looser_than(before) {",
        ],
    ),
    broken(
        "agent-tightens-and-keeps-grants",
        [
            OFFERS,
            "        if before.is_looser_than(after) {\n",
            "        if after.is_looser_than(before) {\n",
        ],
    ),
    broken(
        "word-behind-the-close",
        [
            OFFERS,
            "        if self.core.is_closed() {\n",
            "        if self.core.is_closed() && self.core.turn.is_some() {\n",
        ],
    ),
    // Calls
    broken(
        "any-call-stops",
        [
            OFFERS,
            "        if !stoppable {\n",
            "        if !stoppable && open.is_none() {\n",
        ],
    ),
    broken(
        "stop-of-a-call-unsaid",
        [OFFERS, "        self.push(Effect::StopCall(item));\n", ""],
    ),
    broken(
        "stop-comes-behind-the-answers",
        [
            OFFERS,
            "        self.push(Effect::StopCall(item));\n        self.accept(cause, Accepted::Done {});\n        self.settle_questions_about(item);\n",
            "        self.accept(cause, Accepted::Done {});\n        self.settle_questions_about(item);\n        self.push(Effect::StopCall(item));\n",
        ],
    ),
    broken(
        "stopped-call-leaves-questions",
        [
            OFFERS,
            "        self.settle_questions_about(item);\n",
            "        if item.uuid().is_nil() {\n            self.settle_questions_about(item);\n        }\n",
        ],
    ),
    broken(
        "stopped-call-settles-all",
        [
            ASKS,
            "ask.item == Some(item) && is_question(ask.body.kind());",
            "ask.item <= Some(item) && is_question(ask.body.kind());",
        ],
    ),
    // Title
    broken(
        "agent-renames-what-the-user-named",
        [
            TITLE,
            "Some(Titler::User) => false,",
            "Some(Titler::User) => by == Titler::Agent,",
        ],
    ),
];
