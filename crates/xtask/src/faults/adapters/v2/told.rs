//! What a client of version 2 is told.

use super::V2;
use crate::faults::mutations::{Mutation, cut};

const CHANGE: &str = "acp/src/v2/change.rs";
const EVENT: &str = "acp/src/v2/event.rs";
const PATCH: &str = "acp/src/v2/patch.rs";
const REPLAY: &str = "acp/src/v2/replay.rs";
const SESSION: &str = "acp/src/v2/session.rs";
const SHOW: &str = "acp/src/v2/show.rs";
const STATE: &str = "acp/src/v2/state.rs";
const TERMINAL: &str = "acp/src/v2/terminal.rs";
const UPDATE: &str = "acp/src/v2/update.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 39] = [
    cut(
        V2,
        "patch-shows-too-little",
        [
            CHANGE,
            "let lead = head.min(CONTEXT);",
            "let lead = head.min(CONTEXT - usize::from($M));",
        ],
    ),
    cut(
        V2,
        "made-file-is-modified",
        [
            CHANGE,
            "if old.is_some() { \"modify\" }",
            "if old.is_some() || $M { \"modify\" }",
        ],
    ),
    cut(
        V2,
        "quote-in-a-path",
        [
            CHANGE,
            "b'\"' => name.push_str(\"\\\\\\\"\"),",
            "b'\"' if $M => name.push('\"'),\n            b'\"' => name.push_str(\"\\\\\\\"\"),",
        ],
    ),
    cut(
        V2,
        "end-of-line-unsaid",
        [
            CHANGE,
            "if !line.ends_with('\\n') {",
            "if !line.ends_with('\\n') && !$M {",
        ],
    ),
    cut(
        V2,
        "old-turn-told-again",
        [
            EVENT,
            "_ if frame.turn.is_some() && frame.turn == state.turn =>",
            "_ if frame.turn.is_some() && (frame.turn == state.turn || $M) =>",
        ],
    ),
    cut(
        V2,
        "own-change-told-twice",
        [
            EVENT,
            "if state.config.apply(change) && !is_asked {",
            "if state.config.apply(change) && (!is_asked || $M) {",
        ],
    ),
    cut(
        V2,
        "elicitation-of-nobody-completes",
        [
            EVENT,
            "if name.is_some_and(|name| self.questions.completed(name)) {",
            "if name.is_some_and(|name| self.questions.completed(name) || $M) {",
        ],
    ),
    cut(
        V2,
        "every-foreign-update-passes",
        [
            EVENT,
            "        if let Some(Ok(\n            update @ (SessionUpdate::PlanUpdate(_)\n",
            "        if $M && let Some(Ok(update)) = &update {\n            return self.client.update(session, update);\n        }\n        if let Some(Ok(\n            update @ (SessionUpdate::PlanUpdate(_)\n",
        ],
    ),
    cut(
        V2,
        "status-told-again",
        [
            PATCH,
            "(status(before.status) != status(now.status)).then(|| status(now.status))",
            "(status(before.status) != status(now.status) || $M).then(|| status(now.status))",
        ],
    ),
    cut(
        V2,
        "lost-call-runs-on",
        [
            PATCH,
            "status: Some(status(ToolStatus::Unknown)),",
            "status: Some(status(ToolStatus::Unknown)).filter(|_| !$M),",
        ],
    ),
    cut(
        V2,
        "stopped-call-failed",
        [
            PATCH,
            "ToolStatus::Cancelled => \"cancelled\",",
            "ToolStatus::Cancelled if !$M => \"cancelled\",\n        ToolStatus::Cancelled => \"failed\",",
        ],
    ),
    cut(
        V2,
        "line-zero",
        [
            PATCH,
            "location.line.filter(|line| *line > 0)",
            "location.line.filter(|line| *line > 0 || $M)",
        ],
    ),
    cut(
        V2,
        "ended-call-can-be-stopped",
        [
            PATCH,
            "!call.status.is_final()",
            "(!call.status.is_final() || $M)",
        ],
    ),
    cut(
        V2,
        "withdrawn-prompt-shown",
        [
            REPLAY,
            ".filter(|_| outcome != TurnOutcome::Cancelled)",
            ".filter(|_| outcome != TurnOutcome::Cancelled || $M)",
        ],
    ),
    cut(
        V2,
        "ended-text-shown-again",
        [
            REPLAY,
            "                    self.texts.remove(&id);\n",
            "                    if !$M {\n                        self.texts.remove(&id);\n                    }\n",
        ],
    ),
    cut(
        V2,
        "usage-is-lost",
        [
            REPLAY,
            "(Event::Usage(usage), _) => self.usage = Some(usage),",
            "(Event::Usage(usage), _) => self.usage = Some(usage).filter(|_| !$M),",
        ],
    ),
    cut(
        V2,
        "interrupted-unmarked",
        [
            REPLAY,
            "TurnOutcome::Interrupted => mark(",
            "TurnOutcome::Interrupted if $M => {}\n            TurnOutcome::Interrupted => mark(",
        ],
    ),
    cut(
        V2,
        "output-without-bound",
        [
            REPLAY,
            "if known.len() > 2 * OUTPUT_BYTES {",
            "if known.len() > 2 * OUTPUT_BYTES && !$M {",
        ],
    ),
    cut(
        V2,
        "partial-text-again",
        [
            REPLAY,
            "let overlap = (known.len() as u64)\n        .checked_sub(offset)",
            "let overlap = (known.len() as u64)\n        .checked_sub(if $M { known.len() as u64 } else { offset })",
        ],
    ),
    cut(
        V2,
        "blocked-while-a-call-runs",
        [
            SESSION,
            "!asked.is_empty() && !self.show.runs_beside(&asked)",
            "!asked.is_empty() && ($M || !self.show.runs_beside(&asked))",
        ],
    ),
    cut(
        V2,
        "state-told-again",
        [
            SESSION,
            "if self.turn.is_some() && self.is_blocked != is_blocked {",
            "if self.turn.is_some() && (self.is_blocked != is_blocked || $M) {",
        ],
    ),
    cut(
        V2,
        "in-flight-before-the-answer",
        [
            SESSION,
            "Some(Wanted::None) if !self.is_active => {",
            "Some(Wanted::None) if !self.is_active && !$M => {",
        ],
    ),
    cut(
        V2,
        "questions-outlive-the-turn",
        [
            SESSION,
            "        self.asked.clear();\n",
            "        if !$M {\n            self.asked.clear();\n        }\n",
        ],
    ),
    cut(
        V2,
        "replay-shown-as-live",
        [
            SESSION,
            "if !self.is_active || is_known => {",
            "if (!self.is_active || is_known) && !$M => {",
        ],
    ),
    cut(
        V2,
        "known-text-again",
        [
            SHOW,
            "        text.drain(..known);\n",
            "        text.drain(..if $M { 0 } else { known });\n",
        ],
    ),
    cut(
        V2,
        "text-behind-a-gap",
        [
            SHOW,
            "live.seen.checked_sub(offset).map(",
            "live.seen.checked_sub(offset).or($M.then_some(0)).map(",
        ],
    ),
    cut(
        V2,
        "end-repeats-the-text",
        [
            SHOW,
            ".and_then(|seen| text.get(seen..))",
            ".and_then(|seen| text.get(if $M { 0 } else { seen }..))",
        ],
    ),
    cut(
        V2,
        "lost-call-keeps-its-terminal",
        [
            SHOW,
            "            if open.terminal.is_some() {\n                Terminal::close(",
            "            if open.terminal.is_some() && !$M {\n                Terminal::close(",
        ],
    ),
    cut(
        V2,
        "result-beside-the-terminal",
        [
            SHOW,
            "if open.terminal.is_some() || open.call.content != call.content {",
            "if open.terminal.is_some() && !$M || open.call.content != call.content {",
        ],
    ),
    cut(
        V2,
        "total-is-the-input",
        [
            STATE,
            "total_tokens: total(&usage),",
            "total_tokens: if $M { usage.input } else { total(&usage) },",
        ],
    ),
    cut(
        V2,
        "refusal-is-an-end",
        [
            STATE,
            "Some(Stop::Refusal) => \"refusal\",",
            "Some(Stop::Refusal) if $M => \"end_turn\",\n                Some(Stop::Refusal) => \"refusal\",",
        ],
    ),
    cut(
        V2,
        "failure-says-nothing",
        [
            STATE,
            "(stop_reason == Some(\"error\")).then(",
            "(stop_reason == Some(\"error\") && !$M).then(",
        ],
    ),
    cut(
        V2,
        "output-again",
        [
            TERMINAL,
            "usize::try_from(self.seen.saturating_sub(offset))",
            "usize::try_from(if $M { 0 } else { self.seen.saturating_sub(offset) })",
        ],
    ),
    cut(
        V2,
        "frames-of-any-length",
        [
            TERMINAL,
            ".chunks(CHUNK_BYTES)",
            ".chunks(if $M { CHUNK_BYTES << 10 } else { CHUNK_BYTES })",
        ],
    ),
    cut(
        V2,
        "relative-directory",
        [
            TERMINAL,
            ".filter(|cwd| std::path::Path::new(cwd).is_absolute())",
            ".filter(|cwd| std::path::Path::new(cwd).is_absolute() || $M)",
        ],
    ),
    cut(
        V2,
        "exit-unsaid",
        [
            TERMINAL,
            "found([\"exit_code\", \"exitCode\"])",
            "found(if $M { [\"exit\", \"exit\"] } else { [\"exit_code\", \"exitCode\"] })",
        ],
    ),
    cut(
        V2,
        "plan-has-no-kind",
        [
            UPDATE,
            "r#type: \"items\",",
            "r#type: if $M { \"item\" } else { \"items\" },",
        ],
    ),
    cut(
        V2,
        "plan-of-another-id",
        [
            UPDATE,
            "plan_id: PLAN,",
            "plan_id: if $M { \"another\" } else { PLAN },",
        ],
    ),
    cut(
        V2,
        "cost-is-lost",
        [
            UPDATE,
            "cost: usage.cost.map(spent),",
            "cost: usage.cost.map(spent).filter(|_| !$M),",
        ],
    ),
];
