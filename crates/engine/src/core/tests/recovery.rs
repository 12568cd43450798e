//! What a dead process or a client that goes leaves behind.

use sessiond_protocol::{Finish, IfBusy, OnDisconnect, Stop, TurnOutcome};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{close, start},
};
use crate::core::{Input, PARTIAL_AFTER};

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
        bench.submit("s1", close()),
        ["!closing", "receipt s1 done", "stop"]
    );
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(bench.submit("s2", close()), ["!closing", "!cancel"]);
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
