//! The client goes in the middle of a turn (WIRE-13): the turn is ended and recorded, children are
//! reaped, the process ends well within two seconds.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::{Home, PATIENCE, Server, alive, eventually};

const BOUND: Duration = Duration::from_secs(2);

/// A way to go.
type Way = (&'static str, fn(&mut Server));

/// Every way to go.
const WAYS: [Way; 4] = [
    ("stdin is closed", Server::close_stdin),
    ("stdout is closed", Server::close_stdout),
    ("SIGTERM", |server| signal(server, Signal::TERM)),
    ("SIGINT", |server| signal(server, Signal::INT)),
];

fn signal(server: &mut Server, signal: Signal) {
    kill_process(
        Pid::from_raw(server.pid().try_into().unwrap()).unwrap(),
        signal,
    )
    .unwrap();
}

/// How the turns of the only session ended, by its log.
fn outcomes(home: &Home, session: &str) -> Vec<String> {
    let shown = home.run(&["sessions", "show", "--json", session]).well();
    let events = shown
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ended = events.filter(|frame| frame["event"]["type"] == "turn.ended");
    ended
        .inspect(|frame| {
            assert!(
                frame.get("cursor").is_some(),
                "recorded by the one that ended"
            )
        })
        .map(|frame| frame["event"]["outcome"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn in_the_middle_of_a_tool() {
    for (way, go) in WAYS {
        let home = Home::new();
        let mut server = Server::start(&home);
        let session = server.new_session(&home);
        server.prompt(
            &session,
            "/run echo $$ > pid; while :; do echo more; sleep 0.05; done",
        );
        server.asked("session/request_permission");
        let tool = eventually("the tool", PATIENCE, || {
            home.read("pid").trim().parse().ok()
        });
        go(&mut server);
        assert_eq!(server.exit(BOUND).code(), Some(0), "{way}");
        assert!(!alive(tool), "{way}");
        assert_eq!(outcomes(&home, &session), ["cancelled"], "{way}");
        assert!(server.stderr().lines().count() <= 3, "{way}");
    }
}

#[test]
fn in_the_middle_of_a_text() {
    for (way, go) in WAYS {
        let home = Home::new();
        let mut server = Server::start(&home);
        let session = server.new_session(&home);
        server.prompt(&session, "/stream 100000 100 1");
        server.update("agent_message_chunk");
        go(&mut server);
        assert_eq!(server.exit(BOUND).code(), Some(0), "{way}");
        assert_eq!(outcomes(&home, &session), ["cancelled"], "{way}");
    }
}

#[test]
fn while_it_is_asked_for_permission_and_while_nothing_runs() {
    for (way, go) in [WAYS[0], WAYS[2], WAYS[3]] {
        let home = Home::new();
        let mut server = Server::start(&home);
        server.permissions = crate::harness::Permissions::Hold;
        let session = server.new_session(&home);
        server.turn(&session, "hello");
        server.prompt(&session, "/run echo ran >> ledger");
        server.asked("session/request_permission");
        go(&mut server);
        assert_eq!(server.exit(BOUND).code(), Some(0), "{way}");
        assert_eq!(
            outcomes(&home, &session),
            ["completed", "cancelled"],
            "{way}"
        );
        assert_eq!(home.read("ledger"), "", "{way}");
        let mut idle = Server::start(&home);
        go(&mut idle);
        assert_eq!(idle.exit(BOUND).code(), Some(0), "{way}");
    }
}

#[test]
fn a_client_that_neither_reads_nor_writes_can_still_be_left() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.pause_reading();
    server.prompt(&session, "/stream 300 1000\n/run true");
    // The question comes after more than a pipe holds, so nobody gets to read it: the writer waits.
    let asked = || home.log(&session).contains("request.opened").then_some(());
    eventually("the question", PATIENCE, asked);
    server.close_stdin();
    assert_eq!(server.exit(BOUND).code(), Some(0));
    assert_eq!(outcomes(&home, &session), ["cancelled"]);
}

#[test]
fn a_last_line_without_its_end_still_counts() {
    let home = Home::new();
    let mut server = Server::spawn(home.command(&["acp"]));
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    server.write(line.as_bytes());
    server.close_stdin();
    assert_eq!(server.response(1)["result"]["protocolVersion"], 1);
    assert_eq!(server.exit(BOUND).code(), Some(0));
}
