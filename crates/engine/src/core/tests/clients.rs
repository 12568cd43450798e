//! Who is attached: the controller's going, what waits for the next one, those who look on.

use std::time::Duration;

use serde_json::json;
use sessiond_protocol::{
    IfBusy, OnDisconnect, Outcome, Queued, RequestBody, RequestKind, Stop, TerminalOp,
};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{configure, interrupt, permission, start},
};
use crate::core::{ConnId, Input};

/// The client that comes after [`CLIENT`].
const NEXT: ConnId = ConnId(3);

const ALL: [RequestKind; 5] = [
    RequestKind::Permission,
    RequestKind::Elicitation,
    RequestKind::FsRead,
    RequestKind::FsWrite,
    RequestKind::Terminal,
];

fn leaves(bench: &mut Bench, conn: ConnId) -> Vec<String> {
    bench.take(Input::Disconnected { conn })
}

fn comes(bench: &mut Bench, answers: &[RequestKind]) -> Vec<String> {
    bench.take(Input::Attached {
        conn: NEXT,
        answers: answers.to_vec(),
        on_disconnect: OnDisconnect::Detach,
    })
}

fn running(on_disconnect: OnDisconnect) -> Bench {
    let mut bench = Bench::attached_until(on_disconnect);
    bench.take(Input::Attached {
        conn: CLIENT,
        answers: ALL.to_vec(),
        on_disconnect,
    });
    bench.submit("s1", start("go", IfBusy::Reject));
    bench
}

fn question() -> RequestBody {
    let (message, schema) = ("which?".into(), json!({"type": "object"}));
    RequestBody::Elicitation { message, schema }
}

fn read() -> RequestBody {
    let (path, line, limit) = ("/w/a".into(), None, None);
    RequestBody::FsRead { path, line, limit }
}

fn write() -> RequestBody {
    let (path, content) = ("/w/a".into(), "a".into());
    RequestBody::FsWrite { path, content }
}

fn terminal() -> RequestBody {
    let terminal = "t".into();
    RequestBody::Terminal(TerminalOp::Wait { terminal })
}

fn allow() -> Outcome {
    let option = "allow_once".into();
    Outcome::Selected { option }
}

/// WIRE-8, SQEQ-7: the answer to the old question counts for nothing.
#[test]
fn a_question_outlives_its_controller_and_is_asked_again_under_a_new_id() {
    let mut bench = running(OnDisconnect::Detach);
    bench.ask(permission());
    let old = bench.asked().clone();
    assert_eq!(
        leaves(&mut bench, CLIENT),
        Vec::<String>::new(),
        "the turn goes on"
    );
    assert_eq!(bench.answer(CLIENT, allow()), ["refused foreign"]);
    let asked_again = [
        "append synced: request.closed request.opened",
        "event request.closed",
        "event request.opened",
        "request permission",
    ];
    assert_eq!(comes(&mut bench, &ALL), asked_again);
    let new = bench.asked().clone();
    assert!(new.id != old.id && new.digest != old.digest);
    assert_eq!((new.body, new.item), (old.body, old.item));
    assert_eq!(bench.answer(CLIENT, allow()), ["refused foreign"]);
    let answered = bench.answer(NEXT, allow());
    assert_eq!(answered.last().unwrap(), "reply selected allow_once");
    assert_eq!(bench.refused(), [1, 1], "one while nobody was there");
    bench.done(Stop::EndTurn);
}

/// SQEQ-7: what is asked while nobody controls the session.
#[test]
fn what_is_asked_while_nobody_is_there_waits_or_falls_back() {
    let waits: &[&str] = &["append synced: request.opened", "event request.opened"];
    let table: [(_, RequestBody, &[&str]); 8] = [
        (OnDisconnect::Detach, permission(), waits),
        (OnDisconnect::Detach, question(), waits),
        (OnDisconnect::Detach, read(), &["reply unanswered"]),
        (OnDisconnect::Detach, write(), &["reply unanswered"]),
        (OnDisconnect::Detach, terminal(), &["reply unanswered"]),
        (OnDisconnect::Finish, permission(), &["reply cancelled"]),
        (OnDisconnect::Finish, question(), &["reply declined"]),
        (OnDisconnect::Finish, read(), &["reply unanswered"]),
    ];
    for (on_disconnect, body, expected) in table {
        let mut bench = running(on_disconnect);
        leaves(&mut bench, CLIENT);
        assert_eq!(
            bench.ask(body.clone()),
            expected,
            "{on_disconnect:?} {body:?}"
        );
        let asked = comes(&mut bench, &ALL)
            .iter()
            .any(|line| line.starts_with("request "));
        assert_eq!(asked, expected == waits, "{on_disconnect:?} {body:?}");
    }
}

/// What the client that is gone may have done is not done again.
#[test]
fn what_is_no_question_ends_with_the_client_that_was_asked() {
    let table = [
        (read(), "reply unanswered"),
        (write(), "reply failed"),
        (terminal(), "reply failed"),
    ];
    for (body, expected) in table {
        let mut bench = running(OnDisconnect::Detach);
        bench.ask(body.clone());
        assert_eq!(
            leaves(&mut bench, CLIENT).last().unwrap(),
            expected,
            "{body:?}"
        );
        assert_eq!(comes(&mut bench, &ALL), Vec::<String>::new(), "{body:?}");
    }
}

#[test]
fn a_question_that_the_next_controller_does_not_answer_falls_back() {
    for (kinds, body, expected) in [
        (&[RequestKind::Permission][..], question(), "reply declined"),
        (&[][..], permission(), "reply cancelled"),
    ] {
        let mut bench = running(OnDisconnect::Detach);
        bench.ask(body);
        leaves(&mut bench, CLIENT);
        assert_eq!(comes(&mut bench, kinds).last().unwrap(), expected);
    }
}

#[test]
fn what_the_last_controller_did_not_answer_does_not_wait() {
    let mut bench = Bench::attached_until(OnDisconnect::Detach);
    bench.submit("s1", start("go", IfBusy::Reject));
    leaves(&mut bench, CLIENT);
    assert_eq!(bench.ask(question()), ["reply declined"]);
}

#[test]
fn whether_a_question_waits_is_for_the_last_controller_to_say() {
    let mut bench = running(OnDisconnect::Detach);
    leaves(&mut bench, CLIENT);
    bench.take(Input::Attached {
        conn: NEXT,
        answers: ALL.to_vec(),
        on_disconnect: OnDisconnect::Finish,
    });
    leaves(&mut bench, NEXT);
    assert_eq!(bench.ask(permission()), ["reply cancelled"]);
}

#[test]
fn nothing_waits_for_a_controller_for_ever() {
    let day = Duration::from_secs(24 * 60 * 60);
    let mut bench = running(OnDisconnect::Detach);
    bench.ask(permission());
    assert_eq!(bench.deadline(), None, "somebody is there");
    bench.pass(day);
    leaves(&mut bench, CLIENT);
    assert_eq!(bench.deadline(), Some(day * 2));
    bench.pass(day - Duration::from_millis(1));
    assert_eq!(bench.take(Input::Tick), Vec::<String>::new());
    bench.pass(Duration::from_millis(1));
    let given_up = [
        "append synced: request.closed",
        "event request.closed",
        "reply cancelled",
    ];
    assert_eq!(bench.take(Input::Tick), given_up);
    assert_eq!(bench.deadline(), None);
    bench.ask(permission());
    assert_eq!(bench.deadline(), Some(day * 3));
    comes(&mut bench, &ALL);
    assert_eq!(bench.deadline(), None);
}

#[test]
fn a_turn_that_was_left_to_itself_ends_and_the_session_with_it() {
    let mut bench = running(OnDisconnect::Detach);
    bench.submit("s2", start("more", IfBusy::Queue));
    leaves(&mut bench, CLIENT);
    let next = bench.done(Stop::EndTurn);
    assert_eq!(next.last().unwrap(), "start agent", "what waited runs too");
    assert_eq!(bench.done(Stop::EndTurn).last().unwrap(), "stop");
}

/// SQEQ-6
#[test]
fn viewers_hold_the_session_and_have_no_say_in_it() {
    let mut bench = Bench::attached();
    bench.take(Input::Viewed { conn: STRANGER });
    for op in [
        start("x", IfBusy::Queue),
        interrupt(Queued::Cancel),
        configure("auto"),
    ] {
        assert_eq!(
            bench.submit_from(STRANGER, "s1", op),
            ["receipt s1 view_only"]
        );
    }
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.ask(permission());
    assert_eq!(bench.answer(STRANGER, allow()), ["refused foreign"]);
    assert_eq!(leaves(&mut bench, STRANGER), Vec::<String>::new());
    bench.take(Input::Viewed { conn: STRANGER });
    let cancelled = leaves(&mut bench, CLIENT);
    assert_eq!(cancelled.first().unwrap(), "!cancel", "it is not closing");
    assert_eq!(
        bench.done(Stop::EndTurn).last().unwrap(),
        "event turn.ended"
    );
    assert_eq!(leaves(&mut bench, STRANGER), ["stop"]);
}

/// SQEQ-6: a viewer that comes to control looks on no more.
#[test]
fn a_viewer_becomes_the_controller() {
    let mut bench = Bench::attached();
    bench.take(Input::Viewed { conn: NEXT });
    leaves(&mut bench, CLIENT);
    comes(&mut bench, &ALL);
    let started = bench.submit_from(NEXT, "s1", start("go", IfBusy::Reject));
    assert_eq!(started.last().unwrap(), "start agent");
}
