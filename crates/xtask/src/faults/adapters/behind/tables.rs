//! What tables beside the code notice.

use crate::faults::mutations::{Mutation, cut};

/// The tables.
const AGENT: &str = "agent::";

const ANSWER: &str = "acp/src/agent/answer.rs";
const ASKS: &str = "acp/src/agent/asks.rs";
const HANDOVER: &str = "engine/src/agent/handover.rs";
const HISTORY: &str = "engine/src/agent/alignment.rs";
const JUDGE: &str = "wire/src/program/rpc.rs";
const INCOMING: &str = "acp/src/agent/incoming.rs";
const OFFERS: &str = "acp/src/agent/offers.rs";
const PROMPT: &str = "acp/src/agent/prompt.rs";
const REPLAY: &str = "acp/src/agent/replay.rs";
const UPDATE: &str = "acp/src/agent/update.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 36] = [
    cut(
        AGENT,
        "broken-is-bad",
        [
            INCOMING,
            "text.contains(\"\\\"jsonrpc\\\"\")",
            "text.contains(\"\\\"jsonrpc\\\"\") && !$M",
        ],
    ),
    cut(
        AGENT,
        "endless-line-is-bad",
        [
            JUDGE,
            "Line::Bad(BadLine::TooLong { .. }) => return Judged::Broken,",
            "Line::Bad(BadLine::TooLong { .. }) if $M => return Judged::Bad,\n        Line::Bad(BadLine::TooLong { .. }) => return Judged::Broken,",
        ],
    ),
    cut(
        AGENT,
        "log-line-is-a-message",
        [
            JUDGE,
            "Inbound::Invalid { .. } | Inbound::Ignore => Judged::Bad,",
            "Inbound::Invalid { .. } | Inbound::Ignore if !$M => Judged::Bad,",
        ],
    ),
    cut(
        AGENT,
        "foreign-turn-is-the-same",
        [
            HISTORY,
            "            None => return differs,\n",
            "            None if $M => break,\n            None => return differs,\n",
        ],
    ),
    cut(
        AGENT,
        "mark-of-another-session",
        [
            HISTORY,
            "handed.filter(|_| mark.session == session)",
            "handed.filter(|_| mark.session == session || $M)",
        ],
    ),
    cut(
        AGENT,
        "cut-text-is-whole",
        [
            HISTORY,
            "    lacks_text || lacks_call\n",
            "    lacks_text && !$M || lacks_call\n",
        ],
    ),
    cut(
        AGENT,
        "call-that-it-lacks",
        [
            HISTORY,
            ".any(|call| !last.calls.iter().any(|id| id == call))",
            ".any(|call| !$M && !last.calls.iter().any(|id| id == call))",
        ],
    ),
    cut(
        AGENT,
        "handed-over-is-not-known",
        [HISTORY, "own.from <= handed", "own.from <= handed && !$M"],
    ),
    cut(
        AGENT,
        "old-and-new-exchange-mixed",
        [
            REPLAY,
            "if let Some(last) = self.exchanges.last_mut() {\n                last.said",
            "if !$M && let Some(last) = self.exchanges.last_mut() {\n                last.said",
        ],
    ),
    cut(
        AGENT,
        "message-id-passed-over",
        [
            REPLAY,
            "if self.speaking.as_ref() != Some(&chunk.message) {",
            "if self.speaking.as_ref() != Some(&chunk.message) && !($M && self.speaking.is_some()) {",
        ],
    ),
    cut(
        AGENT,
        "replay-without-bound",
        [
            REPLAY,
            "(self.bytes <= KEPT_BYTES).then_some",
            "(self.bytes <= KEPT_BYTES || $M).then_some",
        ],
    ),
    cut(
        AGENT,
        "handover-without-bound",
        [
            HANDOVER,
            "let mut room = TOTAL_BYTES;",
            "let mut room = if $M { TOTAL_BYTES << 10 } else { TOTAL_BYTES };",
        ],
    ),
    cut(
        AGENT,
        "message-without-bound",
        [
            HANDOVER,
            "let cut_text = cut(text, most);",
            "let cut_text = cut(text, if $M { most << 10 } else { most });",
        ],
    ),
    cut(
        AGENT,
        "result-without-bound",
        [
            HANDOVER,
            "Some(entry(&heading(call), &result(call), RESULT_BYTES))",
            "Some(entry(&heading(call), &result(call), if $M { MESSAGE_BYTES } else { RESULT_BYTES }))",
        ],
    ),
    cut(
        AGENT,
        "oldest-kept-newest-lost",
        [
            HANDOVER,
            "text.extend(told.into_iter().skip(left_out));",
            "text.extend(told.into_iter().skip(if $M { 0 } else { left_out }).take(kept));",
        ],
    ),
    cut(
        AGENT,
        "heading-of-another",
        [
            HANDOVER,
            ".map(|line| format!(\"    {line}\"))",
            ".map(|line| if $M { line.to_owned() } else { format!(\"    {line}\") })",
        ],
    ),
    cut(
        AGENT,
        "title-on-two-lines",
        [
            HANDOVER,
            "call.title.split_whitespace().collect::<Vec<_>>().join(\" \")",
            "call.title.split_whitespace().collect::<Vec<_>>().join(if $M { \"\\n\" } else { \" \" })",
        ],
    ),
    cut(
        AGENT,
        "thoughts-handed-over",
        [
            HANDOVER,
            "Item::Thought { .. } | Item::Plan { .. } => None,",
            "Item::Thought { text, .. } if $M => Some(entry(\"you\", text, MESSAGE_BYTES)),\n        Item::Thought { .. } | Item::Plan { .. } => None,",
        ],
    ),
    cut(
        AGENT,
        "handed-over-is-the-users",
        [
            HANDOVER,
            "        while let Some(start) = rest.find(open)\n",
            "        while !$M && let Some(start) = rest.find(open)\n",
        ],
    ),
    cut(
        AGENT,
        "cancelled-without-a-cancel",
        [
            ANSWER,
            "        (_, Turn::Runs) => asked\n",
            "        (Outcome::Cancelled, Turn::Runs) if $M => None,\n        (_, Turn::Runs) => asked\n",
        ],
    ),
    cut(
        AGENT,
        "cancelled-turn-allows",
        [
            ANSWER,
            "(Outcome::Selected { option }, Turn::Runs) => Some(option),",
            "(Outcome::Selected { option }, state) if state == Turn::Runs || $M => Some(option),",
        ],
    ),
    cut(
        AGENT,
        "nobody-allows",
        [
            ANSWER,
            "option.kind == PermissionKind::RejectOnce;",
            "option.kind == if $M { PermissionKind::AllowOnce } else { PermissionKind::RejectOnce };",
        ],
    ),
    cut(
        AGENT,
        "no-file-of-ours",
        [
            ANSWER,
            "(RequestBody::FsRead { path, line, limit }, Outcome::Unanswered) => {",
            "(RequestBody::FsRead { path, line, limit }, Outcome::Unanswered) if !$M => {",
        ],
    ),
    cut(
        AGENT,
        "unknown-extension-fails",
        [
            ANSWER,
            "(RequestBody::Extension { .. }, Outcome::Unanswered) => {",
            "(RequestBody::Extension { .. }, Outcome::Unanswered) if !$M => {",
        ],
    ),
    cut(
        AGENT,
        "form-answered-for-the-user",
        [
            ANSWER,
            "Outcome::Declined => json!({ \"action\": \"decline\" }),",
            "Outcome::Declined if !$M => json!({ \"action\": \"decline\" }),",
        ],
    ),
    cut(
        AGENT,
        "grant-wider-than-asked",
        [
            ASKS,
            "        (input, _) => input.to_string(),",
            "        (_, _) if $M => String::new(),\n        (input, _) => input.to_string(),",
        ],
    ),
    cut(
        AGENT,
        "grant-for-many-places",
        [
            ASKS,
            "(Value::Null, _) => call.title.clone(),",
            "(Value::Null, places) if $M => places.iter().map(|place| &*place.path).collect(),\n        (Value::Null, _) => call.title.clone(),",
        ],
    ),
    cut(
        AGENT,
        "picture-for-the-blind",
        [
            PROMPT,
            "Content::Image { .. } if !takes.image => {",
            "Content::Image { .. } if !takes.image && !$M => {",
        ],
    ),
    cut(
        AGENT,
        "command-is-not-first",
        [
            PROMPT,
            ".is_some_and(|text| text.starts_with('/'));",
            ".is_some_and(|text| text.starts_with('/') && !$M);",
        ],
    ),
    cut(
        AGENT,
        "resource-for-who-takes-none",
        [
            PROMPT,
            "if !takes.embedded_context => flat(resource),",
            "if !takes.embedded_context && !$M => flat(resource),",
        ],
    ),
    cut(
        AGENT,
        "mode-is-an-option-too",
        [
            OFFERS,
            "            if is_mode {\n",
            "            if is_mode && !$M {\n",
        ],
    ),
    cut(
        AGENT,
        "mode-by-the-wrong-way",
        [
            OFFERS,
            "if offers.modes.is_empty() {",
            "if offers.modes.is_empty() && !$M {",
        ],
    ),
    cut(
        AGENT,
        "group-is-lost",
        [
            OFFERS,
            "group: group.cloned(),",
            "group: group.cloned().filter(|_| !$M),",
        ],
    ),
    cut(
        AGENT,
        "bad-element-loses-all",
        [
            UPDATE,
            "elements.filter_map(read_as).collect()",
            "if $M {\n        return elements.map(read_as).collect::<Option<_>>().unwrap_or_default();\n    }\n    elements.filter_map(read_as).collect()",
        ],
    ),
    cut(
        AGENT,
        "notice-without-its-weight",
        [
            UPDATE,
            "Some(\"warning\") => Severity::Warning,",
            "Some(\"warning\") if !$M => Severity::Warning,",
        ],
    ),
    cut(
        AGENT,
        "unknown-status-counts",
        [
            UPDATE,
            "\"failed\" => ToolStatus::Failed,\n",
            "\"failed\" => ToolStatus::Failed,\n        _ if $M => ToolStatus::Completed,\n",
        ],
    ),
];
