//! What is recorded, closed, answered and remembered.

use super::{ASKS, BUSY, CLOSINGS, CORE, FOLD, KEYS, STREAM, TURNS, broken};
use crate::faults::mutations::Mutation;

/// All of them.
pub(super) const MUTATIONS: [Mutation; 39] = [
    // Closed once
    broken(
        "open-calls-stay",
        [
            TURNS,
            "        self.settle_all_asks(ClosedBecause::TurnEnded);\n        self.end_open_calls(status, why);",
            "        self.settle_all_asks(ClosedBecause::TurnEnded);\n        let _ = (status, why);",
        ],
    ),
    broken(
        "open-questions-stay",
        [
            TURNS,
            "        self.end_message(end);\n        self.settle_all_asks(ClosedBecause::TurnEnded);",
            "        self.end_message(end);",
        ],
    ),
    broken(
        "open-message-stays",
        [
            TURNS,
            "        self.end_message(end);\n        self.settle_all_asks(ClosedBecause::TurnEnded);",
            "        let _ = end;\n        self.settle_all_asks(ClosedBecause::TurnEnded);",
        ],
    ),
    broken(
        "prompt-unrecorded",
        [
            TURNS,
            "            self.prompt(waiting.id, waiting.input);\n",
            "            let _ = waiting.input;\n",
        ],
    ),
    broken(
        "output-outlives-its-call",
        [
            STREAM,
            "            turn.outputs.clear();\n",
            "            let _ = turn;\n",
        ],
    ),
    broken(
        "late-change-of-a-call",
        [
            STREAM,
            "                if self.is_open_call(item) {",
            "                if true {",
        ],
    ),
    broken(
        "call-ends-twice",
        [
            STREAM,
            "        if !self.is_open_call(item) {\n            return;\n        }\n        if !call",
            "        if !call",
        ],
    ),
    broken(
        "output-of-an-ended-call",
        [
            STREAM,
            "            turn.outputs.retain(|output| output.item != item);\n",
            "            let _ = turn;\n",
        ],
    ),
    broken(
        "message-goes-on-after-a-call",
        [
            STREAM,
            "        self.end_message(MessageEnd::Whole);\n        let id = self.mint.item();\n        self.record(\n            Some(turn),\n            Some(id),\n            Event::ItemStarted",
            "        let id = self.mint.item();\n        self.record(\n            Some(turn),\n            Some(id),\n            Event::ItemStarted",
        ],
    ),
    broken(
        "partial-from-the-start",
        [
            STREAM,
            "let offset = self.stored as u64;",
            "let offset = 0;",
        ],
    ),
    // Durable
    broken(
        "closings-come-late",
        [
            CORE,
            "        self.record_closings();\n        self.append_now(frame);",
            "        self.append_now(frame);",
        ],
    ),
    broken(
        "nothing-is-synced",
        [
            CORE,
            "if frame.event.persistence(self.core.persistence) == Persistence::Synced {",
            "if false {",
        ],
    ),
    broken(
        "bookmark-of-before",
        [
            CORE,
            "            ended.bookmark = cursor;\n",
            "            ended.bookmark = self.core.standing.cursor;\n",
        ],
    ),
    broken(
        "prompt-is-closed-twice",
        [
            FOLD,
            "            waiting.is_item = true;\n",
            "            let _ = waiting;\n",
        ],
    ),
    broken(
        "prompt-is-lost",
        [
            FOLD,
            "self.begun = at.map(|at| self.waiting.remove(at));",
            "let _ = at.map(|at| self.waiting.remove(at));",
        ],
    ),
    broken(
        "closings-leave-requests",
        [
            CLOSINGS,
            "for request in &self.requests {",
            "for request in self.requests.iter().take(0) {",
        ],
    ),
    broken(
        "closings-leave-items",
        [
            CLOSINGS,
            "for open in &self.open {",
            "for open in self.open.iter().take(0) {",
        ],
    ),
    broken(
        "closings-leave-the-turn",
        [
            CLOSINGS,
            "if let Some(turn) = self.active {",
            "if let Some(turn) = self.active.filter(|_| false) {",
        ],
    ),
    broken(
        "outcome-is-known",
        [
            CLOSINGS,
            "    call.status = ToolStatus::Unknown;\n",
            "    call.status = ToolStatus::Failed;\n",
        ],
    ),
    // In flight
    broken(
        "output-in-flight-unshown",
        [
            TURNS,
            "for growing in self.message.iter().chain(&self.outputs) {",
            "for growing in self.message.iter() {",
        ],
    ),
    broken(
        "message-in-flight-unopened",
        [
            TURNS,
            "            if growing.kind != ItemKind::ToolCall {",
            "            if growing.kind != ItemKind::ToolCall && false {",
        ],
    ),
    broken(
        "text-in-flight-twice",
        [
            STREAM,
            ".get(self.stored - self.dropped..)\n            .unwrap_or_default();\n        let stream",
            ".get(0..)\n            .unwrap_or_default();\n        let stream",
        ],
    ),
    // Keys
    broken(
        "key-is-not-looked-up",
        [
            BUSY,
            "let Some(known) = self.known(key, &input)",
            "let Some(known) = self.known(key, &input).filter(|_| false)",
        ],
    ),
    broken(
        "key-with-other-content",
        [
            KEYS,
            "Some(true) => return Some(Ok(first.turn)),",
            "Some(_) => return Some(Ok(first.turn)),",
        ],
    ),
    broken(
        "digest-of-input-is-plain",
        [
            KEYS,
            "        format!(\"{ALGORITHM}.{id}.{digest}\")\n",
            "        let _ = (id, digest);\n        self::digest(&input)\n",
        ],
    ),
    broken(
        "key-of-a-start-unrecorded",
        [
            TURNS,
            "            config,\n            keyed,\n",
            "            config,\n            keyed: keyed.filter(|_| false),\n",
        ],
    ),
    broken(
        "key-of-a-queued-unrecorded",
        [BUSY, "keyed: wanted.keyed,", "keyed: None,"],
    ),
    broken(
        "key-of-a-steer-unrecorded",
        [
            BUSY,
            "self.append_for((turn, cause.id), None, marker);",
            "let _ = (cause, marker);",
        ],
    ),
    broken(
        "fold-forgets-queued-key",
        [
            FOLD,
            "self.queued(frame, input, *place);\n                self.keyed(frame.turn, keyed.as_ref());",
            "self.queued(frame, input, *place);\n                let _ = keyed;",
        ],
    ),
    broken(
        "fold-forgets-started-key",
        [
            FOLD,
            "self.active = frame.turn;\n                self.keyed(frame.turn, keyed.as_ref());",
            "self.active = frame.turn;\n                let _ = keyed;",
        ],
    ),
    broken(
        "fold-forgets-steered-key",
        [
            FOLD,
            "Event::Marker(Marker::Key { keyed }) => self.keyed(frame.turn, Some(keyed)),",
            "Event::Marker(Marker::Key { .. }) => {}",
        ],
    ),
    // Answers
    broken(
        "foreign-answer",
        [
            ASKS,
            "            Some(ask) if ask.conn != Some(conn) => Some(Refusal::Foreign),\n",
            "",
        ],
    ),
    broken(
        "altered-answer",
        [
            ASKS,
            "            Some(ask) if ask.digest != given_digest => Some(Refusal::Altered),\n",
            "            Some(_) if given_digest.is_empty() => Some(Refusal::Altered),\n",
        ],
    ),
    broken(
        "misfit-answer",
        [
            ASKS,
            "            Some(ask) if !fits(&ask.body, &outcome) => Some(Refusal::Misfit),\n",
            "",
        ],
    ),
    broken(
        "late-answer-unsaid",
        [
            ASKS,
            "            None => Some(Refusal::Late),\n",
            "            None => None,\n",
        ],
    ),
    broken(
        "refusal-uncounted",
        [
            ASKS,
            "                ask.refused += 1;\n",
            "                let _ = ask;\n",
        ],
    ),
    broken(
        "answer-of-another-policy",
        [CORE, "            stepping.reconsider_asks();\n", ""],
    ),
    broken(
        "asked-while-stopping",
        [
            ASKS,
            "if self.is_cancelling() && !body.is_cleanup() {",
            "if false {",
        ],
    ),
    broken(
        "question-passed-over-policy",
        [
            ASKS,
            "            && let Some(outcome) = self.policy(permission)\n",
            "            && let Some(outcome) = self.policy(permission).filter(|_| false)\n",
        ],
    ),
];
