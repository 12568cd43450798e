//! The session core, driven by tables of inputs.

mod bench;

use std::time::Duration;

use sessiond_protocol::{
    Finish, IfBusy, OnDisconnect, Outcome, Permission, PermissionKind, PermissionOption, Queued,
    RequestBody, Stop, ToolCall, ToolStatus, TurnOutcome, limits,
};

use super::{INTERRUPT_GRACE, Input, PARTIAL_AFTER};
use crate::agent::{AgentError, Emit};
use bench::{Bench, CLIENT, STRANGER, configure, interrupt, permission, start};

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
    assert_eq!(
        bench.take(Input::Tick),
        [
            "!drop",
            "append synced: item.ended turn.ended",
            "event item.ended",
            "event turn.ended",
        ]
    );
    assert_eq!(bench.done(Stop::EndTurn), [""; 0]);
    assert_eq!(bench.outcomes(), [TurnOutcome::Cancelled]);
    assert_eq!(bench.call_status(call), Some(ToolStatus::Cancelled));
}

#[test]
fn text_before_and_after_a_tool_call_are_two_messages() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(
        bench.say("Hel"),
        ["event item.started", "event item.delta 0 Hel"]
    );
    assert_eq!(bench.say("lo"), ["event item.delta 3 lo"]);
    let call = bench.take_call("run");
    assert_eq!(
        call,
        [
            "append synced: item.ended item.started",
            "event item.ended",
            "event item.started",
            "started",
        ]
    );
    bench.end_call(ToolStatus::Completed);
    bench.say("Bye");
    bench.done(Stop::EndTurn);
    assert_eq!(
        bench.said(),
        [("Hello", Finish::Whole), ("Bye", Finish::Whole)]
    );
}

/// LOG-17
#[test]
fn text_that_streams_is_stored_after_the_bound_and_only_what_is_new() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("one ");
    assert_eq!(bench.deadline(), Some(PARTIAL_AFTER));
    bench.pass(PARTIAL_AFTER);
    assert_eq!(
        bench.take(Input::Tick),
        ["append written: item.partial", "event item.partial 0 one "]
    );
    assert_eq!(bench.deadline(), None);
    bench.say("two");
    bench.pass(PARTIAL_AFTER);
    assert_eq!(
        bench.take(Input::Tick),
        ["append written: item.partial", "event item.partial 4 two"]
    );
}

/// LOG-17
#[test]
fn a_question_is_recorded_with_all_that_was_shown_before_it() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("May I?");
    let asked = bench.ask(permission());
    assert_eq!(
        asked,
        [
            "append synced: item.ended request.opened",
            "event item.ended",
            "event request.opened",
            "request permission",
        ]
    );
}

/// WIRE-8
#[test]
fn an_answer_that_does_not_fit_is_refused_and_leaves_the_question_open() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.ask(permission());
    let selected = |option: &str| Outcome::Selected {
        option: option.into(),
    };
    assert_eq!(
        bench.answer(CLIENT, selected("allow_everything")),
        ["refused"]
    );
    assert_eq!(bench.answer(STRANGER, selected("allow_once")), ["refused"]);
    assert_eq!(
        bench.answer_with_digest("0", selected("allow_once")),
        ["refused"]
    );
    assert_eq!(bench.answer(CLIENT, Outcome::Done), ["refused"]);
    assert_eq!(
        bench.answer(CLIENT, selected("allow_once")),
        [
            "append synced: request.closed",
            "event request.closed",
            "request closed",
            "reply selected allow_once",
        ]
    );
    assert_eq!(bench.answer(CLIENT, selected("allow_once")), ["refused"]);
}

#[test]
fn what_was_allowed_or_refused_for_good_is_not_asked_again() {
    for (kind, second) in [
        (PermissionKind::AllowAlways, "reply selected allow_once"),
        (PermissionKind::RejectAlways, "reply selected reject_once"),
    ] {
        let mut bench = Bench::attached();
        bench.submit("s1", start("go", IfBusy::Reject));
        bench.ask(permission());
        let answered = bench.answer(
            CLIENT,
            Outcome::Selected {
                option: kind.id().into(),
            },
        );
        assert_eq!(
            answered.first().map(String::as_str),
            Some("append synced: request.closed marker")
        );
        assert_eq!(bench.ask(permission()), [second]);
        let RequestBody::Permission(other) = permission() else {
            panic!()
        };
        let other = Permission {
            pattern: "another".into(),
            ..other
        };
        assert!(
            bench
                .ask(RequestBody::Permission(other))
                .contains(&"request permission".into())
        );
    }
}

#[test]
fn the_mode_decides_before_anybody_is_asked() {
    for (mode, reply) in [
        ("auto", "reply selected allow_once"),
        ("read-only", "reply selected reject_once"),
    ] {
        let mut bench = Bench::attached();
        assert_eq!(
            bench.submit("s1", configure(mode)),
            [
                "append synced: session.changed",
                "event session.changed",
                "receipt s1 done"
            ]
        );
        bench.submit("s2", start("go", IfBusy::Reject));
        assert_eq!(bench.ask(permission()), [reply]);
    }
    let mut bench = Bench::attached();
    assert_eq!(
        bench.submit("s1", configure("yolo")),
        ["receipt s1 invalid"]
    );
}

#[test]
fn a_question_whose_policy_answer_is_not_offered_is_not_allowed() {
    let mut bench = Bench::attached();
    bench.submit("s1", configure("auto"));
    bench.submit("s2", start("go", IfBusy::Reject));
    let options = vec![PermissionOption {
        id: "no".into(),
        name: "No".into(),
        kind: PermissionKind::RejectOnce,
    }];
    let RequestBody::Permission(asked) = permission() else {
        panic!()
    };
    let asked = RequestBody::Permission(Permission { options, ..asked });
    assert_eq!(bench.ask(asked), ["reply cancelled"]);
}

#[test]
fn a_kind_that_the_client_does_not_answer_falls_back() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    let read = RequestBody::FsRead {
        path: "/a".into(),
        line: None,
        limit: None,
    };
    assert_eq!(bench.ask(read), ["reply unanswered"]);
    let question = RequestBody::Elicitation {
        message: "?".into(),
        schema: "{}".into(),
    };
    assert_eq!(bench.ask(question), ["reply declined"]);
}

/// The agent sees the cancellation before its question is dropped.
#[test]
fn a_cancel_settles_an_open_question() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.ask(permission());
    assert_eq!(
        bench.submit("s2", interrupt(Queued::Cancel)),
        [
            "!cancel",
            "append synced: request.closed",
            "event request.closed",
            "request closed",
            "reply cancelled",
            "receipt s2 done",
        ]
    );
    assert_eq!(bench.ask(permission()), ["reply cancelled"]);
}

#[test]
fn a_failed_turn_closes_what_it_left_open() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("half a ");
    let call = bench.start_call("run");
    bench.say("sentence");
    bench.take(Input::AgentDone(Err(AgentError::failed("it broke"))));
    assert_eq!(
        bench.said(),
        [("half a ", Finish::Whole), ("sentence", Finish::Cut)]
    );
    assert_eq!(bench.call_status(call), Some(ToolStatus::Failed));
    assert_eq!(bench.outcomes(), [TurnOutcome::Failed]);
}

/// RESUME-3, RESUME-6, LOG-17
#[test]
fn what_a_dead_process_left_open_is_shown_at_once_and_recorded_first() {
    let mut dead = Bench::attached();
    dead.submit("s1", start("go", IfBusy::Queue));
    dead.say("so far");
    dead.pass(PARTIAL_AFTER);
    dead.take(Input::Tick);
    dead.start_call("run");
    dead.submit("s2", start("later", IfBusy::Queue));
    let mut bench = dead.killed();
    assert_eq!(
        bench.snapshot(),
        ["item.ended", "turn.ended", "item.ended", "turn.ended"],
        "the call, its turn; the prompt that waited, its turn"
    );
    assert_eq!(bench.snapshot(), bench.snapshot());
    let begun = bench.submit("s1", start("again", IfBusy::Reject));
    assert_eq!(
        begun.first().map(String::as_str),
        Some("append synced: item.ended turn.ended item.ended turn.ended turn.started item.ended")
    );
    assert_eq!(
        bench.outcomes(),
        [TurnOutcome::Interrupted, TurnOutcome::NotRun]
    );
    assert_eq!(bench.snapshot(), [""; 0]);
}

#[test]
fn a_session_with_unrecorded_closings_is_let_go_with_its_client() {
    let mut dead = Bench::attached();
    dead.submit("s1", start("go", IfBusy::Queue));
    dead.submit("s2", start("later", IfBusy::Queue));
    let mut bench = dead.killed();
    assert_eq!(
        bench.take(Input::Disconnected { conn: CLIENT }),
        ["!closing", "stop"]
    );
}

#[test]
fn text_that_was_shown_is_closed_as_interrupted() {
    let mut dead = Bench::attached();
    dead.submit("s1", start("go", IfBusy::Reject));
    dead.say("so far");
    dead.pass(PARTIAL_AFTER);
    dead.take(Input::Tick);
    dead.say(" and not stored");
    let mut bench = dead.killed();
    bench.submit("s1", start("again", IfBusy::Reject));
    assert_eq!(bench.said(), [("so far", Finish::Interrupted)]);
}

#[test]
fn a_client_that_goes_ends_its_turn_as_it_said() {
    for (on_disconnect, then) in [
        (OnDisconnect::Cancel, TurnOutcome::Cancelled),
        (OnDisconnect::Finish, TurnOutcome::Completed),
    ] {
        let mut bench = Bench::attached_until(on_disconnect);
        bench.submit("s1", start("go", IfBusy::Reject));
        bench.take(Input::Disconnected { conn: CLIENT });
        let ended = bench.done(Stop::EndTurn);
        assert_eq!(ended.last().map(String::as_str), Some("stop"));
        assert_eq!(bench.outcomes(), [then]);
    }
}

#[test]
fn another_connections_going_changes_nothing() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(bench.take(Input::Disconnected { conn: STRANGER }), [""; 0]);
}

/// RESUME-3
#[test]
fn a_session_that_was_only_looked_at_is_closed_without_a_record() {
    let mut bench = Bench::attached();
    assert_eq!(
        bench.submit("s1", bench::close()),
        ["!closing", "receipt s1 done", "stop"]
    );
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(bench.submit("s2", bench::close()), ["!closing", "!cancel"]);
    assert_eq!(
        bench.done(Stop::EndTurn),
        [
            "append synced: turn.ended session.closed",
            "event turn.ended",
            "event session.closed",
            "receipt s2 done",
            "stop",
        ]
    );
}

#[test]
fn titles_come_from_the_first_prompt_and_give_way_to_better_ones() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("\n  Fix the parser\nplease", IfBusy::Reject));
    assert_eq!(bench.title(), Some("Fix the parser"));
    bench.take(Input::Emitted(Emit::Title("Parser".into())));
    bench.done(Stop::EndTurn);
    bench.submit("s2", start("Something else", IfBusy::Reject));
    assert_eq!(bench.title(), Some("Parser"));
}

#[test]
fn a_call_that_ended_is_not_changed_by_what_comes_late() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    let call = bench.start_call("run");
    bench.end_call(ToolStatus::Completed);
    let late = Box::<ToolCall>::default();
    assert_eq!(
        bench.take(Input::Emitted(Emit::CallChanged(call, late.clone()))),
        [""; 0]
    );
    assert_eq!(
        bench.take(Input::Emitted(Emit::CallOutput(call, "x".into()))),
        [""; 0]
    );
    assert_eq!(
        bench.take(Input::Emitted(Emit::CallEnded(call, late))),
        [""; 0]
    );
}
