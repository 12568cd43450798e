//! `sessiond sqeq`: a program drives a session by the native protocol.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Native, PATIENCE, alive, eventually, hello, submission};

/// A process whose client is gone ends within this (WIRE-13).
const BOUND: Duration = Duration::from_secs(3);

fn of_type<'a>(frames: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let wanted = |frame: &&Value| frame["type"] == kind || frame["event"]["type"] == kind;
    frames.iter().filter(wanted).collect()
}

/// SQEQ-1, SQEQ-3
#[test]
fn a_turn_with_a_question_as_the_contract_shows_it() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({"agent": "script"}));
    let turn = client.turn(&session, "/run echo hi >> ledger");
    let asked = client.asked();
    assert_eq!(asked["kind"], "permission", "{asked}");
    assert_eq!(home.read("ledger"), "");
    client.select(&asked, "allow_once");
    let ended = client.event("turn.ended");
    assert_eq!(ended["event"]["outcome"], "completed", "{ended}");
    assert_eq!(home.read("ledger"), "hi\n");
    // Of the same turn, and the submission that caused it is named.
    let frames = client.quit();
    let events = of_type(&frames, "event");
    for frame in &events[1..] {
        assert_eq!(frame["session"], *session, "{frame}");
        assert_eq!(frame["turn"], *turn, "{frame}");
    }
    assert_eq!(of_type(&frames, "turn.started")[0]["cause"], "s2");
    assert_eq!(of_type(&frames, "turn.ended").len(), 1);
    let cursors: Vec<_> = events
        .iter()
        .filter_map(|frame| frame["cursor"].as_u64())
        .collect();
    assert!(
        cursors.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "dense: {cursors:?}"
    );
}

/// SQEQ-2
#[test]
fn a_second_turn_is_rejected_by_name_unless_it_asks_to_wait() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    let turn = client.turn(&session, "/sleep 600");
    let start = json!({"type": "turn.start", "input": [{"type": "text", "text": "hi"}]});
    let refused = client.receipt(Some(&session), &start);
    assert_eq!(refused["error"]["code"], "turn_active", "{refused}");
    assert_eq!(refused["error"]["turn"], *turn, "{refused}");
    let mut wait = start.clone();
    wait["if_busy"] = json!("queue");
    client.accepted(Some(&session), &wait);
    client.accepted(Some(&session), &json!({"type": "turn.interrupt"}));
    let ends = [client.event("turn.ended"), client.event("turn.ended")];
    let outcomes = ends.map(|frame| frame["event"]["outcome"].clone());
    assert_eq!(outcomes, ["cancelled", "completed"]);
    client.quit();
}

#[test]
fn the_agent_of_new_sessions_can_be_named() {
    let home = Home::new();
    let config = home.write("config.toml", "[agents.mine]\nkind = \"script\"\n");
    let mut command = home.command(&["sqeq", "--agent", "mine"]);
    command.env("SESSIOND_CONFIG", config);
    let mut client = Native::spawn(command);
    client.say(&hello());
    let op = json!({"type": "session.new", "cwd": home.work()});
    let view = client.accepted(None, &op);
    assert_eq!(view["agent"]["id"]["name"], "mine", "{view}");
    client.quit();
    let unknown = home.run(&["sqeq", "--agent", "nobody"]);
    assert_eq!(
        (unknown.code, unknown.stdout.as_str()),
        (Some(2), ""),
        "{}",
        unknown.stderr
    );
}

/// WIRE-13, SQEQ-1
#[test]
fn a_client_that_closes_its_input_still_gets_what_it_submitted_before() {
    let home = Home::new();
    let op = json!({"type": "session.new", "cwd": home.work()});
    let list = json!({"type": "session.list"});
    let lines = [
        hello(),
        submission("a", None, &op),
        submission("b", None, &list),
        submission("c", None, &json!({})),
    ];
    let input: String = lines.iter().map(|frame| format!("{frame}\n")).collect();
    // WIRE-1: the last line counts without its LF.
    let said = home.run_with(input.trim_end(), &["sqeq"]).well();
    let frames: Vec<Value> = said
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut receipts: Vec<_> = of_type(&frames, "receipt")
        .iter()
        .map(|frame| frame["id"].as_str().unwrap())
        .collect();
    receipts.sort_unstable();
    assert_eq!(receipts, ["a", "b", "c"], "{}", said.stdout);
    assert_eq!(frames.last().unwrap()["type"], "bye");
    assert_eq!(said.stderr, "");
}

/// WIRE-13: what `on_disconnect` says becomes of the turn.
#[test]
fn the_turn_of_a_client_that_goes_is_cancelled_or_finished_as_it_said() {
    for (wish, outcome) in [("cancel", "cancelled"), ("finish", "completed")] {
        for close in [
            crate::harness::Server::close_stdin,
            crate::harness::Server::close_stdout,
        ] {
            let home = Home::new();
            let mut client = Native::start(&home);
            let session = client.new_session(&home, &json!({"on_disconnect": wish}));
            // Longer than a process that only drains would stay.
            client.turn(&session, "/stream 60 10 50\nlast words");
            client.event("item.delta");
            close(&mut client.server);
            let code = client.server.exit(PATIENCE).code();
            assert_eq!(code, Some(0), "{wish}: {}", client.server.stderr());
            let shown = home.run(&["sessions", "show", "--json", &session]).well();
            let events: Vec<Value> = shown
                .stdout
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let ended = of_type(&events, "turn.ended");
            assert_eq!(ended.len(), 1, "{wish}");
            assert_eq!(ended[0]["event"]["outcome"], outcome, "{wish}");
            assert!(
                ended[0]["cursor"].is_u64(),
                "{wish}: recorded by the one that ended"
            );
        }
    }
}

/// WIRE-13
#[test]
fn whatever_runs_for_a_client_that_goes_is_ended_in_bounded_time() {
    for close in [
        crate::harness::Server::close_stdin,
        crate::harness::Server::close_stdout,
    ] {
        let home = Home::new();
        let mut client = Native::start(&home);
        let session = client.new_session(&home, &json!({}));
        client.turn(
            &session,
            "/run echo $$ > pid; while :; do echo more; sleep 0.05; done",
        );
        let asked = client.asked();
        client.select(&asked, "allow_once");
        let tool = eventually("the tool", PATIENCE, || {
            home.read("pid").trim().parse().ok()
        });
        close(&mut client.server);
        assert_eq!(client.server.exit(BOUND).code(), Some(0));
        assert!(!alive(tool));
        assert!(client.server.stderr().lines().count() <= 3);
    }
}

/// WIRE-10
#[test]
fn what_a_tool_writes_to_the_servers_stdout_does_not_reach_the_client() {
    let home = Home::new();
    let mut client = Native::start(&home);
    home.write("server", &client.server.pid().to_string());
    let session = client.new_session(&home, &json!({}));
    let pollute = "echo GARBAGE > /proc/$(cat server)/fd/1; echo GARBAGE > /proc/$PPID/fd/1; true";
    client.turn(&session, &format!("before\n/run {pollute}\nafter"));
    let asked = client.asked();
    client.select(&asked, "allow_once");
    client.event("turn.ended");
    let frames = client.quit();
    assert!(frames.iter().all(|frame| frame["v"] == 1));
    assert!(!client.server.stderr().contains("GARBAGE"));
}

/// The process ends in order: the receipt first, then `bye`.
#[test]
fn a_client_may_ask_the_process_to_end() {
    let home = Home::new();
    let mut native = Native::start(&home);
    native.accepted(None, &json!({"type": "shutdown"}));
    native.until("goodbye", |frame| frame["type"] == "bye");
    assert!(native.server.exit(PATIENCE).success());
}
