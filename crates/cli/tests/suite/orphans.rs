//! Nothing that a tool started outlives the server (design.md "Tools … run under a guard").

use std::time::Duration;

use crate::harness::{Home, PATIENCE, Server, alive, eventually};

/// A tool with a daemon (setsid), one that forked twice, one that is deaf to signals, and a plain
/// background child. Each writes its process id.
const FAMILY: &str = "/run \
    setsid sh -c 'echo $$ > daemon; exec sleep 600' & \
    (setsid sh -c 'echo $$ > orphan; exec sleep 600' &) ; \
    setsid sh -c 'trap : TERM INT HUP; echo $$ > deaf; while :; do sleep 600; done' 2> /dev/null & \
    sh -c 'echo $$ > background; exec sleep 600' & \
    echo $$ > tool; wait";

const MEMBERS: [&str; 5] = ["daemon", "orphan", "deaf", "background", "tool"];

/// A server whose tool has its whole family running.
fn family(home: &Home) -> (Server, Vec<u32>) {
    let mut server = Server::start(home);
    let session = server.new_session(home);
    server.prompt(&session, FAMILY);
    server.asked("session/request_permission");
    let pid = |name: &&str| {
        eventually(name, PATIENCE, || {
            home.read(name)
                .trim()
                .parse()
                .ok()
                .filter(|pid| alive(*pid))
        })
    };
    let pids = MEMBERS.iter().map(pid).collect();
    (server, pids)
}

#[track_caller]
fn all_gone(pids: &[u32], within: Duration) {
    eventually("the end of the family", within, || {
        pids.iter().all(|pid| !alive(*pid)).then_some(())
    });
}

#[test]
fn they_are_gone_within_a_second_after_the_server_was_killed() {
    let home = Home::new();
    let (mut server, pids) = family(&home);
    server.kill();
    all_gone(&pids, Duration::from_secs(1));
}

#[test]
fn they_are_gone_when_a_server_whose_editor_quit_has_ended() {
    let home = Home::new();
    let (mut server, pids) = family(&home);
    server.quit();
    all_gone(&pids, Duration::ZERO);
}

/// TASK-4
#[test]
fn they_are_gone_when_the_turn_that_was_cancelled_has_ended() {
    let home = Home::new();
    let (mut server, pids) = family(&home);
    let session = home.sessions().first_folder();
    server.notify(
        "session/cancel",
        serde_json::json!({ "sessionId": session }),
    );
    server.until("the end of the turn", |frame| {
        frame["result"]["stopReason"] == "cancelled"
    });
    all_gone(&pids, Duration::ZERO);
}
