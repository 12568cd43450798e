//! Commands in a supervised child: for clients without terminals.

use serde_json::{Value, json};
use sessiond_protocol::{PermissionKind, RequestKind, ToolStatus};

use crate::session::{Seen, Session, Turn, selected};

async fn run(session: &mut Session, command: &str) -> Turn {
    session
        .turn(
            &format!("/run {command}"),
            selected(PermissionKind::AllowOnce),
        )
        .await
}

async fn local() -> Session {
    Session::new(&[RequestKind::Permission]).await
}

fn exit(code: i32) -> Value {
    json!({ "exit_code": code, "truncated": false })
}

#[tokio::test]
async fn the_result_is_the_output_and_how_the_command_ended() {
    let signal = |name: &str| json!({ "signal": name, "truncated": false });
    let table = [
        ("echo hi", "hi\n", exit(0)),
        ("true", "", exit(0)),
        ("printf 'no newline'", "no newline", exit(0)),
        ("exit 3", "exit code 3", exit(3)),
        ("printf out; exit 3", "out\nexit code 3", exit(3)),
        ("echo out; exit 3", "out\nexit code 3", exit(3)),
        ("kill -9 $$", "killed by SIGKILL", signal("SIGKILL")),
        ("kill -USR1 $$", "killed by signal 10", signal("signal 10")),
        (
            "echo 1; echo 2 >&2; echo 3; echo 4 >&2",
            "1\n2\n3\n4\n",
            exit(0),
        ),
        (r"printf '\377\000\303\244'", "\u{fffd}\u{fffd}ä", exit(0)),
        ("cat; echo end", "end\n", exit(0)),
    ];
    for (command, shown, output) in table {
        let turn = run(&mut local().await, command).await;
        assert_eq!(
            (turn.shown().as_str(), &turn.call().output),
            (shown, &output),
            "{command}"
        );
        let good = output == exit(0);
        let status = if good {
            ToolStatus::Completed
        } else {
            ToolStatus::Failed
        };
        assert_eq!(
            turn.statuses(),
            [ToolStatus::Pending, ToolStatus::Running, status]
        );
    }
}

#[tokio::test]
async fn a_command_runs_in_the_directory_of_the_session() {
    let mut session = local().await;
    session.put("here.txt", "x");
    assert_eq!(run(&mut session, "ls").await.shown(), "here.txt\n");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_said() {
    let mut session = local().await;
    std::fs::remove_dir(session.cwd()).expect("an empty folder");
    let turn = run(&mut session, "true").await;
    assert_eq!(
        turn.shown(),
        "Could not start the command: working directory not usable."
    );
    assert_eq!(turn.call().output, json!({ "error": "not_started" }));
}

#[tokio::test]
async fn output_is_shown_while_the_command_runs() {
    let mut session = local().await;
    // The command ends only when the client has seen its first line.
    let seen_file = session.cwd().join("seen");
    let mut allow = selected(PermissionKind::AllowOnce);
    let command = "/run echo first; while [ ! -e seen ]; do sleep 0.01; done; echo last";
    let turn = session.turn(command, |seen| {
        if matches!(seen, Seen::Output(text) if text.contains("first")) {
            std::fs::write(&seen_file, "").expect("a file");
        }
        allow(seen)
    });
    let turn = turn.await;
    let streamed = turn.seen.iter().filter_map(|seen| match seen {
        Seen::Output(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(streamed.collect::<String>(), "first\nlast\n");
    assert_eq!(turn.shown(), "first\nlast\n");
}

/// WIRE-4
#[tokio::test]
async fn of_endless_output_the_newest_part_is_kept() {
    let turn = run(
        &mut local().await,
        "head -c 3000000 /dev/zero | tr '\\0' x; echo end",
    )
    .await;
    let shown = turn.shown();
    assert!(shown.starts_with("[2836164 bytes of earlier output dropped]\nxxx"));
    assert!(shown.ends_with("xxxend\n"));
    assert_eq!(
        turn.call().output,
        json!({ "exit_code": 0, "truncated": true })
    );
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_gone_with_it() {
    let mut session = local().await;
    let turn = run(
        &mut session,
        "sleep 3600 & echo $!; setsid sleep 3600 & echo $!",
    )
    .await;
    assert_eq!(turn.call().status, ToolStatus::Completed);
    let shown = turn.shown();
    assert_eq!(shown.lines().count(), 2);
    for pid in shown.lines() {
        assert!(
            !std::path::Path::new("/proc").join(pid).exists(),
            "{pid} lives"
        );
    }
}

#[tokio::test]
async fn the_script_goes_on_after_a_command_that_failed() {
    let script = "/run exit 1\n/say on";
    let turn = local()
        .await
        .turn(script, selected(PermissionKind::AllowAlways))
        .await;
    assert_eq!(turn.text(), "on");
}

#[tokio::test]
async fn text_before_and_after_a_call_are_two_messages() {
    let script = "/say before\n/run true\n/say after";
    let turn = local()
        .await
        .turn(script, selected(PermissionKind::AllowOnce))
        .await;
    let text = |text: &str| Seen::Text(text.to_owned());
    assert_eq!(
        (turn.seen.first(), turn.seen.last()),
        (Some(&text("before")), Some(&text("after")))
    );
    assert!(turn.seen.iter().all(|seen| *seen != text("\n")));
}
