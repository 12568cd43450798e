//! Checkpoints of the fold, and the clear marker.

use sessiond_protocol::{Event, IfBusy, Marker, PermissionKind, Standing, Stop, ToolStatus};

use super::{
    bench::Bench,
    ops::{clear, configure, permission, rename, start},
};
use crate::core::Input;

/// The fold of the events from each checkpoint on, which must be that of all of them.
fn compare(bench: &Bench) -> usize {
    let fold = |from: usize| {
        let mut standing = Standing::default();
        let frames = bench.log().iter().skip(from);
        frames.for_each(|frame| standing.apply(frame));
        standing
    };
    let is_checkpoint = |event: &Event| matches!(event, Event::Marker(Marker::Checkpoint { .. }));
    let checkpoints = bench.log().iter().enumerate();
    let checkpoints = checkpoints.filter(|(_, frame)| is_checkpoint(&frame.event));
    let mut count = 0;
    for (at, _) in checkpoints {
        assert_eq!(fold(at), fold(0), "from event {}", at + 1);
        count += 1;
    }
    count
}

/// LOG-1, LOG-10: whatever is open, asked, waiting, granted or named.
#[test]
fn a_fold_from_a_checkpoint_is_the_fold_from_the_beginning() {
    let mut bench = Bench::attached();
    let steps: [fn(&mut Bench); 11] = [
        |b| drop(b.submit("s1", rename("mine"))),
        |b| drop(b.submit("s2", start("go", IfBusy::Reject))),
        |b| drop(b.submit("s3", start("later", IfBusy::Queue))),
        |b| {
            b.start_call("run");
        },
        |b| drop(b.ask(permission())),
        |b| {
            let option = PermissionKind::AllowAlways.id().to_owned();
            let outcome = sessiond_protocol::Outcome::Selected { option };
            b.answer(super::bench::CLIENT, outcome);
        },
        |b| drop(b.end_call(ToolStatus::Completed)),
        |b| drop(b.done(Stop::EndTurn)),
        |b| drop(b.done(Stop::EndTurn)),
        |b| drop(b.submit("s4", configure("auto"))),
        |b| drop(b.submit("s5", clear())),
    ];
    for step in steps {
        step(&mut bench);
        bench.take(Input::Checkpoint);
    }
    bench.submit("s6", start("again", IfBusy::Reject));
    assert_eq!(compare(&bench), 11);
    assert_eq!(compare(&bench.killed()), 11);
}

/// LOG-10, LOG-11
#[test]
fn a_checkpoint_of_another_kind_of_fold_is_passed_over() {
    let mut bench = Bench::attached();
    bench.take(Input::Checkpoint);
    let mut frame = bench.log().last().unwrap().clone();
    let Event::Marker(Marker::Checkpoint { version, .. }) = &mut frame.event else {
        panic!("{frame:?}");
    };
    let mut known = Standing::default();
    known.apply(bench.log().last().unwrap());
    assert!(known.header.is_some());
    *version += 1;
    let mut unknown = Standing::default();
    unknown.apply(&frame);
    assert!(unknown.header.is_none());
}

/// LOG-10, RESUME-9: the fold is the parent's, the session is not.
#[test]
fn a_fork_takes_up_its_parents_checkpoint_under_its_own_id() {
    let mut bench = Bench::attached();
    bench.take(Input::Checkpoint);
    let mut frame = bench.log().last().unwrap().clone();
    frame.session = Bench::FORK;
    let mut standing = Standing::default();
    standing.apply(&frame);
    assert_eq!(standing.header.unwrap().id, Bench::FORK);
}

/// RESUME-1
#[test]
fn a_clear_is_a_synced_marker_and_waits_for_no_turn() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(bench.submit("s2", clear()), ["receipt s2 busy"]);
    bench.done(Stop::EndTurn);
    assert_eq!(
        bench.submit("s3", clear()),
        [
            "!drop",
            "append synced: marker",
            "event marker",
            "receipt s3 done"
        ]
    );
    let mut standing = Standing::default();
    bench.log().iter().for_each(|frame| standing.apply(frame));
    assert_eq!(
        (standing.base, standing.bookmark),
        (standing.cursor, standing.cursor)
    );
}
