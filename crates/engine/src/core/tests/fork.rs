//! A fork: the parent's history without the parent's rights.

use sessiond_protocol::{IfBusy, Outcome, PermissionKind, Start, Stop, TurnOutcome};

use super::{
    bench::{Bench, CLIENT},
    ops::{configure, permission, rename, start},
};
use crate::core::Input;

/// RESUME-8, RESUME-9, RESUME-18
#[test]
fn a_fork_says_so_first_and_then_what_becomes_of_what_was_open() {
    let mut parent = Bench::attached();
    parent.submit("s1", start("go", IfBusy::Reject));
    parent.start_call("run");
    let mut fork = parent.forked();
    let first = ["marker", "session.changed", "item.ended", "turn.ended"];
    assert_eq!(fork.snapshot(), first);
    assert_eq!(
        fork.take(Input::Settle),
        [
            "append synced: marker session.changed item.ended turn.ended",
            "event marker",
            "event session.changed",
            "event item.ended",
            "event turn.ended",
        ]
    );
    assert_eq!(fork.take(Input::Settle), [""; 0]);
    assert_eq!(fork.outcomes(), [TurnOutcome::Interrupted]);
    let header = fork.header();
    assert_eq!(header.start, Start::Forked);
    assert_eq!(header.id, Bench::FORK);
    assert!(header.parent.is_some());
}

/// RESUME-8
#[test]
fn neither_grants_nor_the_mode_carry_over_whether_the_fork_is_recorded_or_not() {
    for recorded in [true, false] {
        let mut parent = Bench::attached();
        parent.submit("s1", start("go", IfBusy::Reject));
        parent.ask(permission());
        let option = PermissionKind::AllowAlways.id().to_owned();
        parent.answer(CLIENT, Outcome::Selected { option });
        parent.done(Stop::EndTurn);
        parent.submit("s2", configure("auto"));
        assert_eq!((parent.grants(), parent.mode()), (1, Some("auto")));
        let mut fork = parent.forked();
        if recorded {
            fork.take(Input::Settle);
            fork = fork.killed();
        }
        assert_eq!((fork.grants(), fork.mode()), (0, Some("ask")));
    }
}

/// RESUME-2: sessions are found by their titles, so a fork has one of its own, whoever chose its
/// parent's; nobody has to tell branches of branches apart by their parents.
#[test]
fn a_fork_is_called_after_its_parent_with_fork_behind_it_also_where_the_user_named_that() {
    let long = "x".repeat(80);
    let cut = format!("{} (fork)", "x".repeat(73));
    let table = [
        ("mine", "mine (fork)"),
        ("mine (fork)", "mine (fork 2)"),
        ("mine (fork 9)", "mine (fork 10)"),
        ("mine (forked)", "mine (forked) (fork)"),
        (long.as_str(), cut.as_str()),
    ];
    for (title, expected) in table {
        let mut parent = Bench::attached();
        parent.submit("s1", start("go", IfBusy::Reject));
        parent.done(Stop::EndTurn);
        parent.submit("s2", rename(title));
        let mut fork = parent.forked();
        fork.take(Input::Settle);
        assert_eq!(fork.title(), Some(expected));
        // It stays the user's: no prompt gives it another one.
        let mut fork = fork.killed();
        fork.submit("s3", start("other", IfBusy::Reject));
        assert_eq!(fork.title(), Some(expected));
    }
}
