//! What the Claude CLI behind a session says, asks and has written down, as the real binary shows it.

use crate::faults::mutations::{Mutation, cut};

const TURNS: &str = "claude_agent::";
const FAULTS: &str = "claude_agent_faults::";
const RECORD: &str = "claude_agent_record::";

const ASKS: &str = "claude/src/agent/asks.rs";
const CALLS: &str = "claude/src/agent/calls.rs";
const DOWNSTREAM: &str = "claude/src/agent/downstream.rs";
const INCOMING: &str = "claude/src/agent/incoming.rs";
const PLACE: &str = "claude/src/agent/record.rs";
const SERVERS: &str = "claude/src/agent/servers.rs";
const SETTINGS: &str = "claude/src/agent/settings.rs";
const START: &str = "claude/src/agent/start.rs";
const STREAM: &str = "claude/src/agent/stream.rs";
const TURN: &str = "claude/src/agent/turn.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 16] = [
    cut(
        TURNS,
        "claude-streamed-text-twice",
        [
            STREAM,
            "                    self.text.push_str(more);\n",
            "                    if !$M {\n                        self.text.push_str(more);\n                    }\n",
        ],
    ),
    cut(
        TURNS,
        "claude-no-is-a-yes",
        [
            ASKS,
            "        _ => Decision::Deny(UNDECIDED.to_owned()),\n",
            "        _ if $M => Decision::Allow(input),\n        _ => Decision::Deny(UNDECIDED.to_owned()),\n",
        ],
    ),
    cut(
        TURNS,
        "claude-grant-wider-than-asked",
        [
            ASKS,
            "        pattern: pattern(&call.input),\n",
            "        pattern: if $M { call.name.clone() } else { pattern(&call.input) },\n",
        ],
    ),
    cut(
        TURNS,
        "claude-hook-is-not-told",
        [
            TURN,
            "Standing::Denied(reason) => asks::denied_hook(reason),",
            "Standing::Denied(_) if $M => json!({}),\n                    Standing::Denied(reason) => asks::denied_hook(reason),",
        ],
    ),
    cut(
        TURNS,
        "claude-changed-input-is-the-old-one",
        [
            ASKS,
            "        Outcome::Changed { input } => Decision::Allow(input),\n",
            "        Outcome::Changed { .. } if $M => Decision::Allow(input),\n        Outcome::Changed { input } => Decision::Allow(input),\n",
        ],
    ),
    cut(
        TURNS,
        "claude-own-id-of-a-call-lost",
        [
            CALLS,
            "        native: Some(id.to_owned()),\n",
            "        native: Some(id.to_owned()).filter(|_| !$M),\n",
        ],
    ),
    cut(
        TURNS,
        "claude-cancel-is-not-told",
        [
            TURN,
            "    context.cancelled().await;\n    native",
            "    context.cancelled().await;\n    if $M {\n        return std::future::pending().await;\n    }\n    native",
        ],
    ),
    cut(
        TURNS,
        "claude-mode-is-not-set",
        [
            SETTINGS,
            "    if let Some(mode) = &settings.mode {",
            "    if let Some(mode) = &settings.mode\n        && !$M\n    {",
        ],
    ),
    cut(
        TURNS,
        "claude-servers-are-not-given",
        [
            SERVERS,
            "    (!servers.is_empty()).then(||",
            "    (!servers.is_empty() && !$M).then(||",
        ],
    ),
    cut(
        FAULTS,
        "claude-cut-message-is-noise",
        [
            INCOMING,
            "            Judged::Broken\n",
            "            if $M { Judged::Bad } else { Judged::Broken }\n",
        ],
    ),
    cut(
        FAULTS,
        "claude-says-nothing-of-why",
        [
            START,
            "                said = first.map(str::to_owned)",
            "                said = first.filter(|_| !$M).map(str::to_owned)",
        ],
    ),
    cut(
        RECORD,
        "claude-record-taken-at-its-word",
        [
            PLACE,
            "            return lack(align(session, items, &self.exchanges));\n",
            "            return lack(align(session, items, &self.exchanges)).filter(|_| !$M);\n",
        ],
    ),
    cut(
        RECORD,
        "claude-id-is-not-recorded",
        [
            TURN,
            "    if prompt.binding == Binding::Fresh {",
            "    if prompt.binding == Binding::Fresh && !$M {",
        ],
    ),
    cut(
        RECORD,
        "claude-handed-over-in-silence",
        [
            DOWNSTREAM,
            "        if let Some(marker) = self.marker.take() {",
            "        if let Some(marker) = self.marker.take()\n            && !$M\n        {",
        ],
    ),
    cut(
        RECORD,
        "claude-nothing-instead-of-a-record",
        [
            DOWNSTREAM,
            "        before: handover.as_ref().map(|it| it.text().to_owned()),\n",
            "        before: handover.as_ref().filter(|_| !$M).map(|it| it.text().to_owned()),\n",
        ],
    ),
    cut(
        RECORD,
        "claude-resumed-anew",
        [
            START,
            "    if let Some(id) = opening.native.get(SESSION) {",
            "    if let Some(id) = opening.native.get(SESSION).filter(|_| !$M) {",
        ],
    ),
];
