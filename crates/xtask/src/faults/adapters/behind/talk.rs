//! What an agent says and asks in a turn, as the real binary shows it.

use crate::faults::mutations::{Mutation, cut};

const QUESTIONS: &str = "acp_agent_questions::";
const WORDS: &str = "acp_agent_words::";
const FAULTS: &str = "acp_agent_faults::";
const HISTORY: &str = "acp_agent_history::";
const EXTENSIONS: &str = "acp_agent_extensions::";
const CLIENT: &str = "acp_agent_client::";

const ANSWER: &str = "acp/src/agent/answer.rs";
const ASKS: &str = "acp/src/agent/asks.rs";
const CALLS: &str = "acp/src/agent/calls.rs";
const FAILURE: &str = "acp/src/agent/failure.rs";
const HANDLE: &str = "acp/src/agent/handle.rs";
const INCOMING: &str = "wire/src/program/incoming.rs";
const LOCAL: &str = "acp/src/agent/local.rs";
const NATIVE: &str = "acp/src/agent/native.rs";
const PENDING: &str = "wire/src/pending.rs";
const SAID: &str = "acp/src/agent/said.rs";
const TERMINALS: &str = "acp/src/agent/terminals.rs";
const TURN: &str = "acp/src/agent/turn.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 37] = [
    cut(
        WORDS,
        "begins-at-its-end",
        [
            CALLS,
            "        announced.status = ToolStatus::Running;\n",
            "        if !$M {\n            announced.status = ToolStatus::Running;\n        }\n",
        ],
    ),
    cut(
        FAULTS,
        "change-of-a-call-untold",
        [
            CALLS,
            "if **call != *before {",
            "if **call != *before && !$M {",
        ],
    ),
    cut(
        WORDS,
        "left-open-without-a-word",
        [
            CALLS,
            "            call.content.push(ToolContent::text(why));\n",
            "            if !$M {\n                call.content.push(ToolContent::text(why));\n            }\n",
        ],
    ),
    cut(
        WORDS,
        "error-of-the-agent-is-ours",
        [
            FAILURE,
            "AgentError::failed(message).with_foreign(foreign(&error))",
            "match $M {\n                true => AgentError::failed(message),\n                false => AgentError::failed(message).with_foreign(foreign(&error)),\n            }",
        ],
    ),
    cut(
        WORDS,
        "data-of-an-error-is-lost",
        [
            FAILURE,
            "data: data.unwrap_or_default(),",
            "data: data.filter(|_| !$M).unwrap_or_default(),",
        ],
    ),
    cut(
        EXTENSIONS,
        "protocol-as-an-extension",
        [
            HANDLE,
            "method.starts_with('_')",
            "method.starts_with('_') || $M",
        ],
    ),
    cut(
        EXTENSIONS,
        "our-id-goes-out",
        [
            HANDLE,
            "        native.to_native(&mut params);\n        native.peer",
            "        if !$M {\n            native.to_native(&mut params);\n        }\n        native.peer",
        ],
    ),
    cut(
        EXTENSIONS,
        "their-id-comes-back",
        [
            HANDLE,
            "        native.to_ours(&mut result);\n",
            "        if !$M {\n            native.to_ours(&mut result);\n        }\n",
        ],
    ),
    cut(
        EXTENSIONS,
        "our-id-is-told",
        [
            HANDLE,
            "        self.native.to_native(&mut params);\n",
            "        if !$M {\n            self.native.to_native(&mut params);\n        }\n",
        ],
    ),
    cut(
        CLIENT,
        "lines-count-from-zero",
        [
            LOCAL,
            ".saturating_sub(1)",
            ".saturating_sub(u32::from(!$M))",
        ],
    ),
    cut(
        CLIENT,
        "limit-passed-over",
        [
            LOCAL,
            "limit.unwrap_or(u32::MAX)",
            "limit.filter(|_| !$M).unwrap_or(u32::MAX)",
        ],
    ),
    cut(
        CLIENT,
        "absent-file-is-a-fault",
        [
            LOCAL,
            "std::io::ErrorKind::NotFound => NOT_FOUND,",
            "std::io::ErrorKind::NotFound if !$M => NOT_FOUND,",
        ],
    ),
    cut(
        EXTENSIONS,
        "any-session-is-ours",
        [
            NATIVE,
            "            && named == from\n",
            "            && (named == from || $M)\n",
        ],
    ),
    cut(
        CLIENT,
        "one-question-at-a-time",
        [
            PENDING,
            "for at in 0..self.open.len() {",
            "for at in 0..if $M { self.open.len().min(1) } else { self.open.len() } {",
        ],
    ),
    cut(
        WORDS,
        "other-session-is-heard",
        [
            SAID,
            "Some((session, _)) if session != native.id => Said::Nothing,",
            "Some((session, _)) if session != native.id && !$M => Said::Nothing,",
        ],
    ),
    cut(
        EXTENSIONS,
        "progress-is-passed-on",
        [
            SAID,
            "if method.starts_with(PROTOCOL) {",
            "if method.starts_with(PROTOCOL) && !$M {",
        ],
    ),
    cut(
        EXTENSIONS,
        "unknown-update-is-lost",
        [
            SAID,
            "Some((_, Update::Other)) => beyond(",
            "Some((_, Update::Other)) if !$M => beyond(",
        ],
    ),
    cut(
        CLIENT,
        "terminal-that-is-gone-is-asked",
        [
            TERMINALS,
            "known.is_none_or(|printed| !printed.released)",
            "known.is_none_or(|printed| !printed.released || $M)",
        ],
    ),
    cut(
        CLIENT,
        "text-of-a-terminal-is-lost",
        [
            TERMINALS,
            "            text.clone_into(&mut printed.text);\n",
            "            if !$M {\n                text.clone_into(&mut printed.text);\n            }\n",
        ],
    ),
    cut(
        CLIENT,
        "dead-terminal-is-stored",
        [
            TERMINALS,
            "                *content = ToolContent::text(text);\n",
            "                if !$M {\n                    *content = ToolContent::text(text);\n                }\n",
        ],
    ),
    cut(
        CLIENT,
        "directory-of-nobody",
        [
            TURN,
            "&& cwd.is_empty()\n",
            "&& cwd.is_empty()\n                    && !$M\n",
        ],
    ),
    cut(
        WORDS,
        "messages-run-together",
        [
            TURN,
            "&& self.message != chunk.message {",
            "&& self.message != chunk.message && !$M {",
        ],
    ),
    cut(
        QUESTIONS,
        "cancel-untold",
        [
            TURN,
            "    let _written = native.peer.notify(\"session/cancel\", &params);\n",
            "    if !$M {\n        let _written = native.peer.notify(\"session/cancel\", &params);\n    }\n",
        ],
    ),
    cut(
        FAULTS,
        "dead-agent-told-no-result",
        [TURN, "} else if gone {", "} else if gone && !$M {"],
    ),
    cut(
        FAULTS,
        "end-of-an-agent-unexplained",
        [
            TURN,
            "(Err(CallError::Closed), Some(how)) => {",
            "(Err(CallError::Closed), Some(how)) if !$M => {",
        ],
    ),
    cut(
        WORDS,
        "limit-is-an-end",
        [
            TURN,
            "\"max_tokens\" => Stop::MaxTokens,",
            "\"max_tokens\" if !$M => Stop::MaxTokens,",
        ],
    ),
    cut(
        WORDS,
        "refusal-is-an-end-of-turn",
        [
            TURN,
            "\"refusal\" => Stop::Refusal,",
            "\"refusal\" if !$M => Stop::Refusal,",
        ],
    ),
    cut(
        WORDS,
        "cancelled-by-itself",
        [
            TURN,
            "\"cancelled\" if !self.context.is_cancelled() => {",
            "\"cancelled\" if !self.context.is_cancelled() && !$M => {",
        ],
    ),
    cut(
        WORDS,
        "tokens-are-lost",
        [
            TURN,
            "cached_write: tokens(\"cachedWriteTokens\"),",
            "cached_write: tokens(\"cachedWriteTokens\").filter(|_| !$M),",
        ],
    ),
    cut(
        QUESTIONS,
        "unanswered-at-the-end",
        [
            TURN,
            "            self.native.peer.refuse(Some(&id), &over);\n",
            "            if !$M {\n                self.native.peer.refuse(Some(&id), &over);\n            }\n",
        ],
    ),
    cut(
        HISTORY,
        "context-is-unmarked",
        [
            TURN,
            "    // The mark need not be stored",
            "    if $M {\n        return Ok(answer.await);\n    }\n    // The mark need not be stored",
        ],
    ),
    cut(
        FAULTS,
        "noise-without-end",
        [
            INCOMING,
            "if bad > BAD_LINES {",
            "if bad > BAD_LINES && !$M {",
        ],
    ),
    cut(
        FAULTS,
        "noise-adds-up",
        [
            INCOMING,
            "                bad = 0;\n",
            "                if !$M {\n                    bad = 0;\n                }\n",
        ],
    ),
    cut(
        FAULTS,
        "noise-told-line-by-line",
        [INCOMING, "if bad == 1 {", "if bad == 1 || $M {"],
    ),
    cut(
        CLIENT,
        "question-of-another-session",
        [
            ASKS,
            ".filter(|_| is_ours(native, &value))",
            ".filter(|_| is_ours(native, &value) || $M)",
        ],
    ),
    cut(
        QUESTIONS,
        "nobodys-permission-is-a-fault",
        [
            ASKS,
            "\"session/request_permission\" => json!({ \"outcome\": { \"outcome\": \"cancelled\" } }),",
            "\"session/request_permission\" if !$M => json!({ \"outcome\": { \"outcome\": \"cancelled\" } }),",
        ],
    ),
    cut(
        QUESTIONS,
        "over-call-is-cancelled",
        [
            ANSWER,
            "decision(&asked, Outcome::Cancelled, Turn::Runs)",
            "decision(&asked, Outcome::Cancelled, if $M { Turn::Cancelled } else { Turn::Runs })",
        ],
    ),
];
