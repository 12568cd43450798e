//! What a resumed run attests and records first, and the rights it goes on with.

use sessiond_protocol::{
    Attestation, Closed, ContextStart, Drift, DriftClass, DriftField, Event, EventFrame, FoundBy,
    IfBusy, Loaded, Marker, Outcome, PermissionKind, ResumePath, Stop, Surroundings,
};

use super::{
    bench::{Bench, CLIENT},
    ops::{clear, configure, permission, start},
};
use crate::{core::Input, drift::Arrival};

pub(super) fn arrive(bench: &mut Bench, drift: Vec<Drift>) {
    let arrival = Box::new(Arrival {
        path: ResumePath::Id,
        found_by: FoundBy::Id,
        surroundings: Surroundings {
            cwd: "/w".into(),
            ..Surroundings::default()
        },
        drift,
    });
    let loaded = Some(Loaded::default());
    assert_eq!(bench.take(Input::Resumed { arrival, loaded }), [""; 0]);
}

fn elsewhere(class: Option<DriftClass>) -> Vec<Drift> {
    vec![Drift {
        field: DriftField::Root,
        class,
        recorded: Some("/w".into()),
        found: Some("/v".into()),
    }]
}

pub(super) fn attested(bench: &Bench) -> Vec<Attestation> {
    let attestation = |frame: &EventFrame| match &frame.event {
        Event::Marker(Marker::Attest { attestation }) => Some(attestation.as_ref().clone()),
        _ => None,
    };
    bench.log().iter().filter_map(attestation).collect()
}

/// A session in which a user has allowed one thing and refused another for good.
fn granted() -> Bench {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    for kind in [PermissionKind::RejectAlways, PermissionKind::AllowAlways] {
        let mut question = permission();
        if let sessiond_protocol::RequestBody::Permission(permission) = &mut question {
            permission.pattern = kind.id().into();
        }
        bench.ask(question);
        let option = kind.id().to_owned();
        bench.answer(CLIENT, Outcome::Selected { option });
    }
    bench.done(Stop::EndTurn);
    assert_eq!(bench.grants(), 2);
    bench
}

/// RESUME-3, RESUME-5
#[test]
fn a_resumed_run_attests_before_it_records_anything_else_and_a_load_records_nothing() {
    let mut dead = Bench::attached();
    dead.submit("s1", start("go", IfBusy::Queue));
    dead.start_call("run");
    dead.submit("s2", start("later", IfBusy::Queue));
    let mut bench = dead.killed();
    let before = bench.log().len();
    arrive(&mut bench, Vec::new());
    // Coming again says no more, and the receipt shows it, so the snapshot does not.
    arrive(&mut bench, elsewhere(None));
    assert_eq!(bench.log().len(), before);
    assert_eq!(
        bench.snapshot(),
        ["item.ended", "turn.ended", "item.ended", "turn.ended"]
    );
    let begun = bench.submit("s3", start("again", IfBusy::Reject));
    let first = "append synced: marker item.ended turn.ended item.ended turn.ended turn.started \
                 item.ended";
    assert_eq!(begun.first().map(String::as_str), Some(first));
    bench.submit("s4", start("more", IfBusy::Queue));
    let attested = attested(&bench);
    assert_eq!(attested.len(), 1);
    let closed = Closed {
        items: 1,
        requests: 0,
        turns: 1,
        waiting: 1,
    };
    assert_eq!(
        (attested[0].closed, attested[0].start),
        (closed, ContextStart::Resumed)
    );
}

/// RESUME-9: a fork says first that it is one.
#[test]
fn a_fork_whose_making_was_cut_off_attests_after_it_has_said_what_it_is() {
    let mut parent = Bench::attached();
    parent.submit("s1", start("go", IfBusy::Reject));
    parent.done(Stop::EndTurn);
    let mut fork = parent.forked();
    arrive(&mut fork, Vec::new());
    fork.take(Input::Settle);
    let newest: Vec<_> = fork.log().iter().rev().take(3).map(|f| &f.event).collect();
    assert!(matches!(
        newest[..],
        [
            Event::SessionChanged(_),
            Event::Marker(Marker::Attest { .. }),
            Event::Marker(Marker::Fork { .. })
        ]
    ));
    assert_eq!(attested(&fork)[0].start, ContextStart::Forked);
}

/// RESUME-1, RESUME-5
#[test]
fn the_context_starts_new_cleared_or_resumed() {
    let new = Bench::attached();
    let mut cleared = granted();
    cleared.submit("s9", clear());
    let cases = [
        (new, ContextStart::New),
        (cleared, ContextStart::Cleared),
        (granted(), ContextStart::Resumed),
    ];
    for (bench, expected) in cases {
        let mut bench = bench.killed();
        arrive(&mut bench, Vec::new());
        bench.submit("s1", start("go", IfBusy::Reject));
        assert_eq!(attested(&bench)[0].start, expected);
    }
}

/// RESUME-8
#[test]
fn a_grant_from_before_a_tightening_does_not_survive_it_and_a_refusal_does() {
    for (modes, left) in [
        (&["careful"][..], 2),
        (&["auto"], 2),
        (&["read-only"], 1),
        (&["auto", "ask"], 1),
    ] {
        let mut bench = granted();
        for (at, mode) in modes.iter().enumerate() {
            bench.submit(&format!("m{at}"), configure(mode));
        }
        assert_eq!(bench.grants(), left, "{modes:?}");
        assert_eq!(
            bench.killed().grants(),
            left,
            "{modes:?}, and every load says the same"
        );
    }
}

/// RESUME-8, CKPT-4: "tools start in the new root only after a fresh grant" (contract.md).
#[test]
fn a_run_elsewhere_begins_without_what_was_allowed_before_and_does_not_run_unasked() {
    for (drift, left, mode) in [
        (Vec::new(), 2, "auto"),
        (elsewhere(None), 1, "auto"),
        (elsewhere(Some(DriftClass::Roots)), 1, "ask"),
    ] {
        let mut bench = granted();
        bench.submit("m", configure("auto"));
        let mut bench = bench.killed();
        arrive(&mut bench, drift);
        // At once, and in every later load once it is recorded.
        assert_eq!((bench.grants(), bench.mode()), (left, Some(mode)));
        bench.submit("s1", start("go", IfBusy::Reject));
        let attested = attested(&bench);
        assert_eq!(
            (attested[0].grants.len(), attested[0].revoked),
            (left, 2 - left as u64)
        );
        let bench = bench.killed();
        assert_eq!((bench.grants(), bench.mode()), (left, Some(mode)));
    }
}

/// RESUME-8: the agent's new version has tightened the mode.
#[test]
fn a_mode_that_was_tightened_by_another_version_revokes_as_well() {
    let mut bench = granted().killed();
    bench.tighten();
    arrive(&mut bench, Vec::new());
    assert_eq!(bench.grants(), 1);
}
