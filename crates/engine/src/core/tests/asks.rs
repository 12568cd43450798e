//! Questions: policy, binding, fall-backs.

use sessiond_protocol::{
    IfBusy, ItemId, Outcome, Permission, PermissionKind, PermissionOption, Queued, RequestBody,
    RequestKind,
};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{configure, interrupt, permission, start},
};

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
        ["refused misfit"]
    );
    assert_eq!(
        bench.answer(STRANGER, selected("allow_once")),
        ["refused foreign"]
    );
    assert_eq!(
        bench.answer_with_digest("0", selected("allow_once")),
        ["refused altered"]
    );
    assert_eq!(bench.answer(CLIENT, Outcome::Done), ["refused misfit"]);
    assert_eq!(
        bench.answer(CLIENT, selected("allow_once")),
        [
            "append synced: request.closed",
            "event request.closed",
            "request closed",
            "reply selected allow_once",
        ]
    );
    assert_eq!(
        bench.answer(CLIENT, selected("allow_once")),
        ["refused late"]
    );
    assert_eq!(bench.refused(), [4]);
}

/// A no with its reason and a yes with another input settle this question alone: neither is a grant.
#[test]
fn an_answer_in_words_decides_once() {
    for (outcome, reply) in [
        (
            Outcome::Denied {
                reason: "no".into(),
            },
            "reply denied",
        ),
        (
            Outcome::Changed {
                input: serde_json::json!({"command": "true"}),
            },
            "reply changed",
        ),
    ] {
        let mut bench = Bench::attached();
        bench.submit("s1", start("go", IfBusy::Reject));
        bench.ask(permission());
        let answered = bench.answer(CLIENT, outcome);
        assert_eq!(
            answered.first().map(String::as_str),
            Some("append synced: request.closed")
        );
        assert!(
            answered.last().is_some_and(|last| last.starts_with(reply)),
            "{answered:?}"
        );
        let again = bench.ask(permission());
        assert!(
            again.iter().any(|effect| effect.starts_with("request")),
            "{again:?}"
        );
    }
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
                "settings",
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

/// WIRE-8: what was asked under another policy is settled by the new one or asked under it.
#[test]
fn a_change_of_policy_settles_an_open_question_or_asks_it_anew() {
    for (mode, after) in [
        (
            "auto",
            &[
                "append synced: session.changed request.closed",
                "event session.changed",
                "settings",
                "receipt s2 done",
                "event request.closed",
                "request closed",
                "reply selected allow_once",
            ][..],
        ),
        (
            "careful",
            &[
                "append synced: session.changed request.closed request.opened",
                "event session.changed",
                "settings",
                "receipt s2 done",
                "event request.closed",
                "request closed",
                "event request.opened",
                "request permission",
            ],
        ),
    ] {
        let mut bench = Bench::attached();
        bench.submit("s1", start("go", IfBusy::Reject));
        bench.ask(permission());
        let before = bench.asked().clone();
        assert_eq!(bench.submit("s2", configure(mode)), after);
        let outcome = Outcome::Selected {
            option: "allow_once".into(),
        };
        assert_eq!(
            bench.answer_to(&before, outcome.clone()),
            ["refused late"],
            "{mode}"
        );
        if mode == "careful" {
            let answered = bench.answer(CLIENT, outcome);
            assert_eq!(
                answered.last().map(String::as_str),
                Some("reply selected allow_once")
            );
        }
    }
}

/// WIRE-8: a grant is a change of policy too; what is no authorisation is left alone.
#[test]
fn a_grant_settles_the_like_question_and_leaves_other_kinds_open() {
    let mut bench = Bench::attached();
    let write = RequestBody::FsWrite {
        path: "/a".into(),
        content: "x".into(),
    };
    bench.answers(&[RequestKind::Permission, RequestKind::FsWrite]);
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.ask(write);
    let writing = bench.asked().clone();
    bench.ask(permission());
    bench.ask(permission());
    let always = Outcome::Selected {
        option: "allow_always".into(),
    };
    assert_eq!(
        bench.answer(CLIENT, always),
        [
            "append synced: request.closed marker request.closed",
            "event request.closed",
            "request closed",
            "event marker",
            "reply selected allow_always",
            "event request.closed",
            "request closed",
            "reply selected allow_once",
        ]
    );
    let written = bench.answer_to(&writing, Outcome::Done);
    assert_eq!(written.last().map(String::as_str), Some("reply done"));
}

/// WIRE-8: two questions that look alike are two, so are those of two runs.
#[test]
fn the_digest_binds_request_call_run_and_policy() {
    let mut digests = std::collections::BTreeSet::new();
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    for item in [None, Some(ItemId::new(uuid::Uuid::from_u128(7)))] {
        bench.ask_about(item, permission());
        digests.insert(bench.asked().digest.clone());
    }
    bench.submit("s2", configure("careful"));
    digests.insert(bench.asked().digest.clone());
    let mut bench = bench.killed();
    bench.submit("s3", start("go", IfBusy::Reject));
    bench.ask(permission());
    digests.insert(bench.asked().digest.clone());
    assert_eq!(digests.len(), 4);
}
