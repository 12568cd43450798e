//! Cancellation: at every place of a script, one end, nothing more run (SQEQ-3, SQEQ-4).

use std::path::Path;

use sessiond_protocol::{PermissionKind, RequestBody, RequestKind, ToolStatus, TurnOutcome};

use crate::session::{Act, Seen, Session, Turn, selected};

/// A client that allows all that is asked, and interrupts at the first thing that fits.
async fn interrupted(session: &mut Session, script: &str, at: impl Fn(&Seen) -> bool) -> Turn {
    let mut allow = selected(PermissionKind::AllowOnce);
    let script = format!("{script}\n/say never\n/run touch never");
    let turn = session.turn(&script, |seen| {
        if at(seen) {
            Act::Interrupt
        } else {
            allow(seen)
        }
    });
    let turn = turn.await;
    assert_eq!(turn.outcome, TurnOutcome::Cancelled, "{script}");
    assert!(!turn.text().contains("never"), "{script}: {}", turn.text());
    assert_eq!(session.get("never"), None, "{script}");
    turn
}

fn says(text: &'static str) -> impl Fn(&Seen) -> bool {
    move |seen| matches!(seen, Seen::Text(said) if said.contains(text))
}

#[tokio::test]
async fn what_speaks_or_waits_stops_at_once() {
    let table = [
        ("/say a\n/sleep 3600", "a"),
        ("/stream 2 4 3600000", "w0 x"),
        ("/repeat 10000 /stream 100 100", "w0 x"),
        ("/say a\n/repeat 10000 /sleep 3600", "a"),
    ];
    for (script, text) in table {
        let mut session = Session::new(&[RequestKind::Permission]).await;
        interrupted(&mut session, script, says(text)).await;
    }
}

#[tokio::test]
async fn a_stream_says_nothing_after_the_pause_in_which_it_was_cancelled() {
    let mut session = Session::new(&[]).await;
    let turn = interrupted(&mut session, "/stream 2 4 3600000", says("w0 x")).await;
    assert_eq!(turn.text(), "w0 x");
}

#[tokio::test]
async fn a_question_that_is_open_is_answered_with_nothing() {
    let mut session = Session::new(&[RequestKind::Elicitation]).await;
    let asked = |seen: &Seen| matches!(seen, Seen::Asked(RequestBody::Elicitation { .. }));
    let turn = interrupted(&mut session, "/ask which one?", asked).await;
    assert_eq!(turn.text(), "");
}

#[tokio::test]
async fn a_call_that_waits_for_permission_or_a_file_ends_as_cancelled_and_does_nothing() {
    let all = [
        RequestKind::Permission,
        RequestKind::FsRead,
        RequestKind::FsWrite,
    ];
    let table = [
        ("/write out.txt new", RequestKind::Permission),
        ("/edit out.txt x => y", RequestKind::Permission),
        ("/run rm out.txt", RequestKind::Permission),
        ("/write out.txt new", RequestKind::FsWrite),
        ("/edit out.txt x => y", RequestKind::FsRead),
        ("/read out.txt", RequestKind::FsRead),
    ];
    for (script, kind) in table {
        let mut session = Session::new(&all).await;
        session.put("out.txt", "x");
        let asked = |seen: &Seen| matches!(seen, Seen::Asked(body) if body.kind() == kind);
        let turn = interrupted(&mut session, script, asked).await;
        assert_eq!(turn.call().status, ToolStatus::Cancelled, "{script}");
        assert_eq!(turn.shown(), "Not run: the turn was cancelled.");
        assert_eq!(session.get("out.txt").as_deref(), Some("x"), "{script}");
    }
}

/// TASK-4
#[tokio::test]
async fn a_command_that_runs_is_killed_with_its_tree_and_what_it_printed_is_kept() {
    let table = [
        "trap '' TERM; setsid sleep 3600 & echo $$ $!; sleep 3600; echo never",
        "(setsid sh -c \"trap '' TERM; echo \\$\\$; while :; do sleep 1; done\" &); sleep 3600",
        "trap '' TERM HUP INT; echo $$; while :; do sleep 1; done",
        "setsid sh -c \"trap '' TERM; setsid sleep 3600 & echo \\$\\$ \\$!; wait\" & wait",
    ];
    for command in table {
        let mut session = Session::new(&[RequestKind::Permission]).await;
        let output = |seen: &Seen| matches!(seen, Seen::Output(_));
        let turn = interrupted(&mut session, &format!("/run {command}"), output).await;
        assert_eq!(turn.call().status, ToolStatus::Cancelled, "{command}");
        let shown = turn.shown();
        assert_ne!(shown.split_whitespace().count(), 0, "{command}");
        for pid in shown.split_whitespace() {
            assert!(!Path::new("/proc").join(pid).exists(), "{pid} lives");
        }
    }
}

/// TASK-4: one call is stopped, with all that it started, and the turn goes on.
#[tokio::test]
async fn a_command_is_stopped_by_itself_and_the_script_goes_on() {
    let mut session = Session::new(&[RequestKind::Permission]).await;
    let mut allow = selected(PermissionKind::AllowOnce);
    let script = "/run sleep 3600 & echo $!; sleep 3600\n/say on";
    let turn = session.turn(script, |seen| match seen {
        Seen::Output(_) => Act::StopCall,
        seen => allow(seen),
    });
    let turn = turn.await;
    assert_eq!(turn.outcome, TurnOutcome::Completed);
    assert_eq!(turn.text(), "on");
    assert_eq!(turn.call().status, ToolStatus::Cancelled);
    let shown = turn.shown();
    let pid = shown.lines().next().expect("a process");
    assert!(!Path::new("/proc").join(pid).exists(), "{pid} lives");
}

/// WIRE-7: a call that is stopped while it waits for permission never runs.
#[tokio::test]
async fn a_command_that_waits_for_permission_is_stopped_too() {
    let mut session = Session::new(&[RequestKind::Permission]).await;
    let turn = session.turn("/run touch never\n/say on", |seen| match seen {
        Seen::Asked(RequestBody::Permission(_)) => Act::StopCall,
        _ => Act::Watch,
    });
    let turn = turn.await;
    assert_eq!(turn.outcome, TurnOutcome::Completed);
    assert_eq!(
        (turn.text().as_str(), turn.call().status),
        ("on", ToolStatus::Cancelled)
    );
    assert_eq!(session.get("never"), None);
}
