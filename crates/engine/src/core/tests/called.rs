//! Servers of the client, asked by a program that the agent started.

use serde_json::json;
use sessiond_protocol::{
    ClosedBecause, IfBusy, OnDisconnect, Outcome, Queued, RequestBody, RequestKind, Stop,
};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{interrupt, start},
};
use crate::core::{Cause, Input, called::OPEN_CALLS};

fn body() -> RequestBody {
    RequestBody::Mcp {
        server: "files".into(),
        method: "tools/call".into(),
        params: json!({ "name": "read" }),
    }
}

fn call(bench: &mut Bench, id: &str) -> Vec<String> {
    let id = id.to_owned().try_into().unwrap();
    let cause = Cause { conn: STRANGER, id };
    let body = body();
    bench.take(Input::Called { cause, body })
}

/// A turn whose client answers for its servers.
fn in_a_turn(on_disconnect: OnDisconnect) -> Bench {
    let mut bench = Bench::attached();
    bench.answers_until(&[RequestKind::Mcp], on_disconnect);
    bench.submit("s1", start("go", IfBusy::Reject));
    bench
}

fn receipts(lines: &[String]) -> Vec<&str> {
    let of_calls = |line: &&String| line.starts_with("receipt c");
    lines.iter().filter(of_calls).map(String::as_str).collect()
}

/// LOG-5, WIRE-8: it is on stable storage before the client is asked, and the receipt comes behind
/// the record of its answer.
#[test]
fn a_call_is_recorded_asked_and_answered_by_its_receipt() {
    let mut bench = in_a_turn(OnDisconnect::Cancel);
    let asked = call(&mut bench, "c1");
    assert_eq!(
        asked,
        [
            "append synced: request.opened",
            "event request.opened",
            "request mcp",
        ]
    );
    let outcome = Outcome::Result {
        result: json!({ "content": [] }),
    };
    assert_eq!(bench.answer(STRANGER, outcome.clone()), ["refused foreign"]);
    assert_eq!(
        bench.answer(CLIENT, outcome),
        [
            "append synced: request.closed",
            "event request.closed",
            "request closed",
            "receipt c1 done",
        ]
    );
}

/// Each call gets its one receipt, whatever becomes of it.
#[test]
fn what_is_not_answered_gets_an_error() {
    type Then = fn(&mut Bench) -> Vec<String>;
    let table: [(&str, OnDisconnect, Then); 7] = [
        ("receipt c1 agent_failed", OnDisconnect::Cancel, |bench| {
            let message = "broke".into();
            bench.answer(CLIENT, Outcome::Failed { message })
        }),
        ("receipt c1 not_found", OnDisconnect::Cancel, |bench| {
            bench.answer(CLIENT, Outcome::Declined)
        }),
        (
            "receipt c1 turn_not_active",
            OnDisconnect::Cancel,
            |bench| bench.submit("s2", interrupt(Queued::Keep)),
        ),
        (
            "receipt c1 turn_not_active",
            OnDisconnect::Cancel,
            |bench| bench.done(Stop::EndTurn),
        ),
        (
            "receipt c1 turn_not_active",
            OnDisconnect::Cancel,
            |bench| bench.take(Input::Disconnected { conn: CLIENT }),
        ),
        // It may be done already, and nobody can say so.
        ("receipt c1 agent_failed", OnDisconnect::Detach, |bench| {
            bench.take(Input::Disconnected { conn: CLIENT })
        }),
        (
            "receipt c1 turn_not_active",
            OnDisconnect::Cancel,
            |bench| bench.withdraw_from(STRANGER, "c1"),
        ),
    ];
    for (expected, on_disconnect, then) in table {
        let mut bench = in_a_turn(on_disconnect);
        call(&mut bench, "c1");
        let came = then(&mut bench);
        assert_eq!(receipts(&came), [expected], "{came:?}");
    }
}

/// Whoever called is gone: the client is told that nobody waits, and the turn goes on.
#[test]
fn calls_end_with_the_connection_that_made_them() {
    let mut bench = in_a_turn(OnDisconnect::Cancel);
    call(&mut bench, "c1");
    bench.take(Input::Disconnected { conn: STRANGER });
    assert_eq!(bench.closed(), [ClosedBecause::TakenBack]);
    assert!(bench.active().is_some());
}

#[test]
fn a_call_that_nobody_can_answer_is_refused_at_once() {
    let mut idle = Bench::attached();
    idle.answers(&[RequestKind::Mcp]);
    assert_eq!(call(&mut idle, "c1"), ["receipt c1 turn_not_active"]);
    let mut deaf = Bench::attached();
    deaf.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(call(&mut deaf, "c1"), ["receipt c1 not_found"]);
    let mut alone = in_a_turn(OnDisconnect::Finish);
    alone.take(Input::Disconnected { conn: CLIENT });
    assert_eq!(call(&mut alone, "c1"), ["receipt c1 not_found"]);
    let mut stopping = in_a_turn(OnDisconnect::Cancel);
    stopping.submit("s2", interrupt(Queued::Keep));
    assert_eq!(call(&mut stopping, "c1"), ["receipt c1 turn_not_active"]);
}

#[test]
fn so_many_calls_may_wait_and_no_more() {
    let mut bench = in_a_turn(OnDisconnect::Cancel);
    for number in 0..OPEN_CALLS {
        let asked = call(&mut bench, &format!("c{number}"));
        assert_eq!(asked.last().map(String::as_str), Some("request mcp"));
    }
    assert_eq!(call(&mut bench, "c-more"), ["receipt c-more queue_full"]);
    bench.answer(CLIENT, Outcome::Declined);
    assert_eq!(
        call(&mut bench, "c-again").last().map(String::as_str),
        Some("request mcp")
    );
}
