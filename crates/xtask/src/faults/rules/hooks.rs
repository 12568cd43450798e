//! What a client's say changes.

use super::{ASKS, HOOKS, STREAM, TURNS, broken};
use crate::faults::mutations::Mutation;

/// All of them.
pub(super) const MUTATIONS: [Mutation; 20] = [
    // Before a prompt
    broken(
        "prompt-hook-unasked",
        [
            TURNS,
            "        self.raise(None, hook, Waits::Prompt(input));\n",
            "        drop(hook);\n        self.hooked(Waits::Prompt(input), sessiond_protocol::Outcome::Passed);\n",
        ],
    ),
    broken(
        "denied-prompt-runs",
        [
            HOOKS,
            "            Outcome::Denied { reason } => {\n                let error",
            "            Outcome::Denied { reason } if reason.is_empty() => {\n                let error",
        ],
    ),
    broken(
        "changed-prompt-is-lost",
        [
            HOOKS,
            "Outcome::Changed { input: changed } => content(&changed).unwrap_or(input),",
            "Outcome::Changed { .. } => input,",
        ],
    ),
    broken(
        "cancelled-prompt-runs",
        [
            HOOKS,
            "            Waits::Prompt(_) | Waits::Stop(_) if self.is_cancelling() => {}\n",
            "",
        ],
    ),
    // Before a call
    broken(
        "call-runs-before-its-hook",
        [
            STREAM,
            "        self.raise(Some(id), hook, Waits::Call(token, id, call));\n",
            "        drop((hook, call));\n        self.push(super::Effect::Started(token, id));\n",
        ],
    ),
    broken(
        "denied-call-runs",
        [
            HOOKS,
            "            Outcome::Denied { reason } => {\n                self.deny",
            "            Outcome::Denied { reason } if reason.is_empty() => {\n                self.deny",
        ],
    ),
    broken(
        "cancelled-call-runs",
        [
            HOOKS,
            "            Outcome::Cancelled if self.is_cancelling() => {",
            "            Outcome::Cancelled if self.is_cancelling() && call.name.is_empty() => {",
        ],
    ),
    broken(
        "denied-call-stays-open",
        [
            HOOKS,
            "        self.record(self.turn_id(), Some(item), Event::ItemEnded { item: item_ });\n",
            "        let _ = (item, item_);\n",
        ],
    ),
    broken(
        "changed-call-runs-as-it-was",
        [
            HOOKS,
            "self.push(Effect::StartedWith(token, item, input));",
            "self.push(Effect::Started(token, item));",
        ],
    ),
    broken(
        "changed-call-unrecorded",
        [
            HOOKS,
            "                self.record(turn, Some(item), Event::ItemChanged { call });\n",
            "                let _ = turn;\n",
        ],
    ),
    // After a call
    broken(
        "after-hook-unasked",
        [
            STREAM,
            "        self.raise(Some(item), Hook::AfterTool { call }, Waits::AfterCall);\n",
            "        drop((Hook::AfterTool { call }, Waits::AfterCall));\n",
        ],
    ),
    broken(
        "after-hook-is-not-waited-for",
        [
            HOOKS,
            "Some(turn) if after => turn.barriers.push(token),",
            "Some(turn) if after && turn.continued > 99 => turn.barriers.push(token),",
        ],
    ),
    broken(
        "agent-waits-after-calls-for-ever",
        [
            HOOKS,
            "            self.push(Effect::RecordDone(token));\n        }\n    }\n",
            "            let _ = token;\n        }\n    }\n",
        ],
    ),
    broken(
        "word-after-a-call-is-lost",
        [
            HOOKS,
            "            turn.steers.push(vec![Content::text(reason)]);\n",
            "            let _ = (turn, reason);\n",
        ],
    ),
    broken(
        "done-call-is-changed",
        [
            HOOKS,
            "        (Hook::BeforeTool { .. }, Outcome::Changed { .. }) => true,\n        _ => false,",
            "        (Hook::BeforeTool { .. }, Outcome::Changed { .. }) => true,\n        _ => true,",
        ],
    ),
    // Before the end
    broken(
        "stop-hook-unasked",
        [
            HOOKS,
            "        if continued >= limits::CONTINUATIONS\n",
            "        if continued < limits::CONTINUATIONS\n",
        ],
    ),
    broken(
        "stop-hook-for-ever",
        [
            HOOKS,
            "        if continued >= limits::CONTINUATIONS\n",
            "        if continued > limits::CONTINUATIONS\n",
        ],
    ),
    broken(
        "denied-stop-uncounted",
        [HOOKS, "            active.continued += 1;\n", ""],
    ),
    broken(
        "denied-stop-ends",
        [
            HOOKS,
            "            active.steers.insert(0, vec![Content::text(reason)]);\n",
            "            drop(reason);\n",
        ],
    ),
    // Waiting
    broken(
        "hook-waits-for-ever",
        [
            ASKS,
            "let limit = matches!(body, RequestBody::Hook(_)).then_some(HOOK_LIMIT);",
            "let limit = matches!(body, RequestBody::Mcp { .. }).then_some(HOOK_LIMIT);",
        ],
    ),
];
