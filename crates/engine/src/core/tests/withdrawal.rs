//! What is taken back, and what a client hears of why a request is settled.

use std::time::Duration;

use sessiond_protocol::{
    ClosedBecause, IfBusy, OnDisconnect, Outcome, PermissionKind, Queued, RequestBody, RequestKind,
    Stop, TurnOutcome,
};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{configure, interrupt, permission, start},
};
use crate::core::{HOOK_LIMIT, Input, Token};

const WITHDRAWN: [&str; 3] = [
    "append synced: item.ended turn.ended",
    "event item.ended",
    "event turn.ended",
];

/// SQEQ-4: what waits is taken back, as an interrupt of it would; anything else is too late.
#[test]
fn a_withdrawal_ends_the_turn_that_waits_and_nothing_else() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    bench.submit("s2", start("two", IfBusy::Queue));
    bench.submit("s3", start("three", IfBusy::Queue));
    for (what, id) in [("runs", "s1"), ("was never submitted", "s9")] {
        assert_eq!(bench.withdraw_from(CLIENT, id), [""; 0], "{what}");
    }
    assert_eq!(bench.withdraw_from(CLIENT, "s2"), WITHDRAWN);
    assert_eq!(bench.withdraw_from(CLIENT, "s2"), [""; 0], "a second time");
    assert_eq!(bench.outcomes(), [TurnOutcome::Cancelled]);
    bench.done(Stop::EndTurn);
    assert_eq!(bench.prompts(), ["one", "two", "three"]);
    assert_eq!(bench.started().len(), 2, "one and three");
    assert_eq!(bench.withdraw_from(CLIENT, "s3"), [""; 0], "it has begun");
    bench.done(Stop::EndTurn);
    assert_eq!(bench.withdraw_from(CLIENT, "s3"), [""; 0], "it has ended");
}

/// Ids of submissions are unique on a connection only.
#[test]
fn a_withdrawal_is_about_the_submissions_of_its_connection() {
    let mut bench = Bench::attached_until(OnDisconnect::Finish);
    bench.submit("s1", start("one", IfBusy::Reject));
    bench.submit("s2", start("two", IfBusy::Queue));
    assert_eq!(bench.withdraw_from(STRANGER, "s2"), [""; 0]);
    bench.take(Input::Disconnected { conn: CLIENT });
    bench.take(Input::Attached {
        conn: STRANGER,
        answers: Vec::new(),
        on_disconnect: OnDisconnect::Finish,
    });
    bench.submit_from(STRANGER, "s2", start("three", IfBusy::Queue));
    assert_eq!(bench.withdraw_from(STRANGER, "s2"), WITHDRAWN);
    assert_eq!(bench.prompts(), ["one", "three"]);
}

/// What was to replace the active turn can be taken back while that one is being stopped.
#[test]
fn a_turn_that_was_to_replace_another_is_taken_back() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    bench.submit("s2", start("two", IfBusy::Replace));
    assert_eq!(bench.withdraw_from(CLIENT, "s2"), WITHDRAWN);
    bench.done(Stop::EndTurn);
    assert_eq!(bench.started().len(), 1);
    assert_eq!(
        bench.outcomes(),
        [TurnOutcome::Cancelled, TurnOutcome::Cancelled]
    );
}

/// WIRE-7: a client hears why it need not answer any more.
#[test]
fn a_settled_request_says_why() {
    type Settle = fn(&mut Bench);
    let hook = || RequestBody::Hook(sessiond_protocol::Hook::Prompt { input: Vec::new() });
    let settled: [(RequestBody, Settle, ClosedBecause); 7] = [
        (
            permission(),
            |bench| {
                let option = PermissionKind::AllowOnce.id().into();
                bench.answer(CLIENT, Outcome::Selected { option });
            },
            ClosedBecause::Answered,
        ),
        (
            permission(),
            |bench| {
                bench.submit("x", interrupt(Queued::Keep));
            },
            ClosedBecause::TurnCancelled,
        ),
        (
            permission(),
            |bench| {
                bench.fail();
            },
            ClosedBecause::TurnEnded,
        ),
        (
            permission(),
            |bench| {
                bench.submit("x", configure("auto"));
            },
            ClosedBecause::PolicyDecided,
        ),
        (
            permission(),
            |bench| {
                bench.submit("x", configure("careful"));
            },
            ClosedBecause::AskedAnew,
        ),
        (
            permission(),
            |bench| {
                bench.take(Input::Disconnected { conn: CLIENT });
            },
            ClosedBecause::ControllerLeft,
        ),
        (
            hook(),
            |bench| {
                bench.pass(HOOK_LIMIT + Duration::from_secs(1));
                bench.take(Input::Tick);
            },
            ClosedBecause::TimedOut,
        ),
    ];
    for (body, settle, why) in settled {
        let mut bench = Bench::attached_until(OnDisconnect::Finish);
        bench.submit("s1", start("go", IfBusy::Reject));
        let answers = [RequestKind::Permission, RequestKind::Hook];
        bench.answers_until(&answers, OnDisconnect::Finish);
        bench.ask(body);
        settle(&mut bench);
        assert_eq!(bench.closed(), [why]);
    }
}

/// WIRE-7, WIRE-8: an agent takes back what it asked: the client is told, the record is closed, and
/// an answer that comes later is late.
#[test]
fn a_question_that_its_agent_takes_back_is_closed_for_all() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    let [taken_back, stays] = [Token(901), Token(902)];
    for token in [taken_back, stays] {
        bench.take(Input::Asked {
            item: None,
            body: permission(),
            token,
        });
    }
    let other = bench.asked().clone();
    assert_eq!(
        bench.take(Input::TakenBack { token: taken_back }),
        [
            "append synced: request.closed",
            "event request.closed",
            "request closed",
            "reply cancelled",
        ]
    );
    assert_eq!(bench.closed().last(), Some(&ClosedBecause::TakenBack));
    // Twice, or of nothing: it has crossed what settled it.
    for token in [taken_back, Token(999)] {
        assert_eq!(bench.take(Input::TakenBack { token }), [""; 0]);
    }
    let selected = Outcome::Selected {
        option: "allow_once".into(),
    };
    let answered = bench.answer_to(&other, selected.clone());
    assert_eq!(answered.last().unwrap(), "reply selected allow_once");
    assert_eq!(bench.take(Input::TakenBack { token: stays }), [""; 0]);
}
