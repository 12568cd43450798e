//! Turns: begun, queued, interrupted, ended once.

use std::time::Duration;

use sessiond_protocol::{IfBusy, Queued, Stop, ToolStatus, TurnOutcome, limits};

use super::{
    bench::Bench,
    ops::{interrupt, start},
};
use crate::core::{INTERRUPT_GRACE, Input, REAP_LIMIT};

#[test]
fn a_turn_is_recorded_before_the_agent_starts_and_before_its_end_is_said() {
    let mut bench = Bench::attached();
    let begun = bench.submit("s1", start("hello", IfBusy::Reject));
    assert_eq!(
        begun,
        [
            "append synced: turn.started item.ended session.changed",
            "receipt s1 turn",
            "event turn.started",
            "event item.ended",
            "event session.changed",
            "start agent",
        ]
    );
    let ended = bench.done(Stop::EndTurn);
    assert_eq!(ended, ["append synced: turn.ended", "event turn.ended"]);
    assert_eq!(bench.outcomes(), [TurnOutcome::Completed]);
}

/// SQEQ-2
#[test]
fn a_prompt_while_a_turn_runs_is_refused_with_the_turn_that_runs() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    assert_eq!(
        bench.submit("s2", start("two", IfBusy::Reject)),
        ["receipt s2 turn_active of the active turn"]
    );
}

#[test]
fn prompts_queue_in_order_up_to_the_bound_and_then_get_a_typed_error() {
    let mut bench = Bench::attached();
    bench.submit("s0", start("first", IfBusy::Queue));
    for n in 1..=limits::QUEUED_TURNS {
        let queued = bench.submit(&format!("s{n}"), start("next", IfBusy::Queue));
        let receipt = format!("receipt s{n} turn");
        assert_eq!(
            queued,
            ["append written: turn.queued", &receipt, "event turn.queued"]
        );
    }
    assert_eq!(
        bench.submit("s17", start("over", IfBusy::Queue)),
        ["receipt s17 queue_full"]
    );
    let handover = bench.done(Stop::EndTurn);
    assert_eq!(
        handover.first().map(String::as_str),
        Some("append synced: turn.ended turn.started item.ended")
    );
    assert_eq!(handover.last().map(String::as_str), Some("start agent"));
}

/// SQEQ-3, SQEQ-4
#[test]
fn an_interrupt_ends_the_active_turn_and_the_waiting_ones_each_once() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Queue));
    bench.submit("s2", start("two", IfBusy::Queue));
    assert_eq!(
        bench.submit("s3", interrupt(Queued::Cancel)),
        ["!cancel", "receipt s3 done"]
    );
    assert_eq!(
        bench.submit("s4", interrupt(Queued::Cancel)),
        ["receipt s4 done"]
    );
    bench.submit("s5", start("after the cancel", IfBusy::Queue));
    let ended = bench.done(Stop::EndTurn);
    assert_eq!(
        ended,
        [
            "append synced: turn.ended item.ended turn.ended turn.started item.ended",
            "event turn.ended",
            "event item.ended",
            "event turn.ended",
            "event turn.started",
            "event item.ended",
            "start agent",
        ]
    );
    assert_eq!(
        bench.outcomes(),
        [TurnOutcome::Cancelled, TurnOutcome::Cancelled]
    );
    assert_eq!(
        bench.submit("s6", interrupt(Queued::Keep)),
        ["!cancel", "receipt s6 done"]
    );
}

/// SQEQ-4
#[test]
fn an_interrupt_with_nothing_to_stop_changes_nothing() {
    let mut bench = Bench::attached();
    assert_eq!(
        bench.submit("s1", interrupt(Queued::Cancel)),
        ["receipt s1 done"]
    );
    bench.submit("s2", start("one", IfBusy::Reject));
    bench.done(Stop::EndTurn);
    assert_eq!(
        bench.submit("s3", interrupt(Queued::Cancel)),
        ["receipt s3 done"]
    );
    assert_eq!(bench.outcomes(), [TurnOutcome::Completed]);
}

/// SQEQ-3
#[test]
fn an_agent_that_does_not_stop_is_dropped_at_the_deadline_and_the_turn_ends_once() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    let call = bench.start_call("run");
    bench.submit("s2", interrupt(Queued::Keep));
    bench.pass(INTERRUPT_GRACE - Duration::from_millis(1));
    assert_eq!(bench.take(Input::Tick), [""; 0]);
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.take(Input::Tick), ["!drop"]);
    assert_eq!(
        bench.fail(),
        [
            "append synced: item.ended turn.ended",
            "event item.ended",
            "event turn.ended",
        ]
    );
    assert_eq!(bench.done(Stop::EndTurn), [""; 0]);
    assert_eq!(bench.outcomes(), [TurnOutcome::Cancelled]);
    assert_eq!(bench.call_status(call), Some(ToolStatus::Cancelled));
}

/// TASK-4, TASK-5: what cannot be killed is not said to be.
#[test]
fn what_a_dropped_agent_left_and_is_not_gone_in_time_has_an_unknown_outcome() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    let call = bench.start_call("run");
    bench.submit("s2", interrupt(Queued::Keep));
    bench.pass(INTERRUPT_GRACE);
    assert_eq!(bench.take(Input::Tick), ["!drop"]);
    bench.pass(REAP_LIMIT);
    assert_eq!(
        bench.take(Input::Tick),
        [
            "!forget",
            "append synced: item.ended turn.ended",
            "event item.ended",
            "event turn.ended",
        ]
    );
    assert_eq!(bench.outcomes(), [TurnOutcome::Cancelled]);
    assert_eq!(bench.call_status(call), Some(ToolStatus::Unknown));
}
