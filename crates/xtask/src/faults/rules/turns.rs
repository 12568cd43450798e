//! What input, interrupts and clients do to turns.

use super::{BUSY, CLIENTS, CLOSE, CORE, FOLD, SETTINGS, TURNS, broken};
use crate::faults::mutations::Mutation;

/// All of them.
pub(super) const MUTATIONS: [Mutation; 30] = [
    // One active turn
    broken(
        "second-turn",
        [
            BUSY,
            "IfBusy::Queue => self.queue_up(wanted),",
            "IfBusy::Queue => self.start(wanted),",
        ],
    ),
    // Busy
    broken(
        "reject-queues",
        [
            BUSY,
            "                self.reject(&wanted.cause, error);\n            }\n            IfBusy::Queue",
            "                let _ = error;\n                self.queue_up(wanted);\n            }\n            IfBusy::Queue",
        ],
    ),
    // Steer
    broken(
        "steer-what-stops",
        [
            BUSY,
            "IfBusy::Steer if self.is_cancelling() => self.queue_up(wanted),",
            "",
        ],
    ),
    broken(
        "steer-op-what-stops",
        [
            BUSY,
            "self.turn_id().filter(|_| !self.is_cancelling())",
            "self.turn_id()",
        ],
    ),
    broken(
        "steer-any-turn",
        [
            BUSY,
            "(Some(active), Some(turn)) if active != turn => {",
            "(Some(active), Some(turn)) if active != turn && false => {",
        ],
    ),
    broken(
        "steer-is-lost",
        [BUSY, "active.steers.push(input);", "drop(input);"],
    ),
    broken(
        "steer-is-taken-twice",
        [
            BUSY,
            "Some(active) => std::mem::take(&mut active.steers),",
            "Some(active) => active.steers.clone(),",
        ],
    ),
    broken(
        "steer-under-the-turns-cause",
        [
            BUSY,
            "self.append_for((turn, cause.id.clone()), Some(item), said);",
            "self.record(Some(turn), Some(item), said);",
        ],
    ),
    broken(
        "untaken-is-lost",
        [
            TURNS,
            "if self.go_on(usage) || self.may_stop(",
            "if self.may_stop(",
        ],
    ),
    // Replace
    broken(
        "replace-stops-nothing",
        [BUSY, "        self.interrupt(None, Queued::Keep);\n", ""],
    ),
    broken(
        "replace-comes-last",
        [
            BUSY,
            "self.queue(wanted, Place::First);",
            "self.queue(wanted, Place::Last);",
        ],
    ),
    broken(
        "replacement-stays",
        [
            BUSY,
            "self.end_waiting(|waiting| waiting.place == Place::First);",
            "",
        ],
    ),
    // Order
    broken(
        "fold-puts-first-last",
        [
            FOLD,
            "Place::First => 0,",
            "Place::First => self.waiting.len(),",
        ],
    ),
    broken(
        "next-does-not-begin",
        [
            TURNS,
            "        self.begin_next();\n        self.stop_if_done",
            "        self.stop_if_done",
        ],
    ),
    // Interrupt
    broken(
        "interrupt-twice",
        [TURNS, "if active.phase == Phase::Running {", "if true {"],
    ),
    broken(
        "interrupt-unsaid",
        [
            TURNS,
            "            self.step.urgent.push(Urgent::CancelAgent);\n",
            "",
        ],
    ),
    broken(
        "interrupt-leaves-questions",
        [
            TURNS,
            "(Urgent::CancelAgent);\n            self.settle_all_asks(ClosedBecause::TurnCancelled);",
            "(Urgent::CancelAgent);",
        ],
    ),
    broken(
        "cancelled-turn-completes",
        [
            TURNS,
            "            _ if cancelled => (TurnOutcome::Cancelled, None, None, None),\n",
            "            _ if cancelled && false => (TurnOutcome::Cancelled, None, None, None),\n",
        ],
    ),
    broken(
        "doomed-turn-begins",
        [TURNS, "        self.end_doomed();\n", ""],
    ),
    broken(
        "waiting-turn-stays",
        [TURNS, "self.end_waiting(|waiting| waiting.id == id);", ""],
    ),
    // Two phases
    broken(
        "agent-is-not-dropped",
        [
            TURNS,
            "                self.step.urgent.push(Urgent::DropAgent);\n",
            "",
        ],
    ),
    broken(
        "agent-is-not-forgotten",
        [
            TURNS,
            "                self.step.urgent.push(Urgent::ForgetAgent);\n",
            "",
        ],
    ),
    broken(
        "never-given-up",
        [
            TURNS,
            "Phase::Dropped { deadline } if deadline <= now => {",
            "Phase::Dropped { deadline } if deadline <= now && false => {",
        ],
    ),
    // Leaving
    broken(
        "cancel-at-disconnect",
        [
            CLIENTS,
            "                self.interrupt(None, Queued::Cancel);\n",
            "",
        ],
    ),
    broken(
        "questions-at-disconnect",
        [
            CLIENTS,
            "                self.settle_all_asks(ClosedBecause::ControllerLeft);\n            }\n            OnDisconnect::Finish",
            "            }\n            OnDisconnect::Finish",
        ],
    ),
    broken(
        "questions-of-a-turn-that-finishes",
        [
            CLIENTS,
            "OnDisconnect::Finish => self.settle_all_asks(ClosedBecause::ControllerLeft),",
            "OnDisconnect::Finish => {}",
        ],
    ),
    broken(
        "close-waits-for-nothing",
        [
            CLOSE,
            "if self.core.turn.is_some() || !self.core.standing.waiting.is_empty() {",
            "if false {",
        ],
    ),
    broken(
        "life-after-the-close",
        [
            CORE,
            "        if self.core.is_closed() {\n            return self.reject(&cause, closed());\n        }\n",
            "",
        ],
    ),
    broken(
        "checkpoint-behind-the-close",
        [
            CORE,
            "self.touched && is_settled && !self.is_closed()",
            "self.touched && is_settled",
        ],
    ),
    broken(
        "clear-under-a-turn",
        [
            SETTINGS,
            "        if let Some(error) = self.core.occupied() {",
            "        if let Some(error) = self.core.occupied().filter(|_| false) {",
        ],
    ),
];
