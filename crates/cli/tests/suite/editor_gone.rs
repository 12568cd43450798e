//! The client goes in the middle of a turn (WIRE-13): the turn is ended and recorded, children are
//! reaped, the process ends well within two seconds.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, Permissions, Server, alive, eventually};

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

/// What a turn may be at, and how it is seen that it is.
const MOMENTS: [(&str, &str); 3] = [
    ("/stream 100000 100 1", "session/update"),
    ("/run sleep 60", "session/request_permission"),
    // It asks nobody and says nothing for a while.
    ("/think on\n/sleep 60", "session/update"),
];

/// WIRE-13, TASK-4: a client that is still there when the process is told to end has the answer to
/// each of its prompts before the end.
#[test]
fn a_signal_answers_the_prompts_that_run_and_wait_before_the_end() {
    for (way, go) in [WAYS[2], WAYS[3]] {
        for (text, sign) in MOMENTS {
            let home = Home::new();
            let mut server = Server::start(&home);
            server.permissions = Permissions::Hold;
            let session = server.new_session(&home);
            let running = server.prompt(&session, text);
            server.until(sign, |frame| {
                let update = &frame["params"]["update"]["sessionUpdate"];
                frame["method"] == sign && update != "available_commands_update"
            });
            let waiting = server.prompt(&session, "after that");
            // What is answered was taken up behind the prompt.
            let listed = server.send("session/list", json!({}));
            server.response(listed);
            go(&mut server);
            assert_eq!(server.exit(BOUND).code(), Some(0), "{way}, {text}");
            let frames = server.read_to_end();
            for prompt in [running, waiting] {
                let mut answers = frames
                    .iter()
                    .filter(|frame| frame["id"] == prompt && frame.get("method").is_none());
                let answer = answers.next().unwrap_or(&Value::Null);
                let stop = &answer["result"]["stopReason"];
                assert_eq!(stop, "cancelled", "{way}, {text}: {answer}");
                assert_eq!(answers.next(), None, "{way}, {text}");
            }
            assert_eq!(outcomes(&home, &session), ["cancelled"; 2], "{way}, {text}");
        }
    }
}

/// The same in version 2, where the end of a turn is told by an update.
#[test]
fn a_signal_tells_the_end_of_the_turn_to_a_client_of_version_2() {
    for (way, go) in [WAYS[2], WAYS[3]] {
        let home = Home::new();
        let mut server = Server::spawn(home.command(&["acp", "--acp", "auto"]));
        let info = json!({"name": "client", "version": "1"});
        server.call("initialize", json!({"protocolVersion": 2, "info": info}));
        let made = server.call("session/new", json!({"cwd": home.work()}));
        let session = made["sessionId"].as_str().unwrap().to_owned();
        server.prompt(&session, "/stream 100000 100 1");
        server.update("agent_message_chunk");
        let waiting = server.prompt(&session, "after that");
        let listed = server.send("session/list", json!({}));
        server.response(listed);
        go(&mut server);
        assert_eq!(server.exit(BOUND).code(), Some(0), "{way}");
        let frames = server.read_to_end();
        let mut states = frames.iter().map(|frame| &frame["params"]["update"]);
        let idle = states.rfind(|update| update["state"] == "idle");
        assert_eq!(
            idle.unwrap_or(&Value::Null)["stopReason"],
            "cancelled",
            "{way}"
        );
        let answer = frames.iter().find(|frame| frame["id"] == waiting);
        assert_eq!(
            answer.unwrap_or(&Value::Null)["error"]["code"],
            -32800,
            "{way}"
        );
    }
}

/// A turn that lives in the host goes on; the process that ends says so and stops nothing.
#[test]
fn a_signal_to_a_face_of_the_host_stops_no_turn() {
    let home = Home::new();
    let mut server = Server::start_by(home.command(&["acp", "--host"]));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/stream 40 20 20");
    server.update("agent_message_chunk");
    signal(&mut server, Signal::TERM);
    assert_eq!(server.exit(BOUND).code(), Some(0));
    let frames = server.read_to_end();
    let answer = frames.iter().find(|frame| frame["id"] == prompt);
    assert!(
        answer.is_some_and(|answer| answer["error"]["code"] == -32603),
        "{answer:?}"
    );
    let ended = || (outcomes(&home, &session) == ["completed"]).then_some(());
    eventually("the end of the turn", PATIENCE, ended);
}
