//! Codex behind a session: our own app-server stands in for it, with the script agent.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{
    Codex, Home, PATIENCE, Part, Permissions, Replay, asked_of_codex, codex_peer, eventually,
    inner, listed_in, notices, serve,
};

fn handed_over(home: &Home, session: &str) -> Vec<Value> {
    let log = home.log(session);
    let records = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let markers = records.map(|mut record| record["data"]["event"].take());
    markers
        .filter(|marker| marker["marker"] == "handed_over")
        .collect()
}

/// A session with two turns, whose server has ended.
fn told(home: &Home, config: &str) -> String {
    let mut server = serve(home, config);
    let session = server.new_session(home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    assert_eq!(server.turn(&session, "beta"), "end_turn");
    server.quit();
    session
}

/// Loads a session in a new process and goes on with it; the notices that came meanwhile.
fn go_on(home: &Home, config: &str, session: &str, prompt: &str) -> Vec<String> {
    let mut server = serve(home, config);
    let replay = server.load(home, session);
    assert_eq!(replay, server.load(home, session));
    assert_eq!(server.turn(session, prompt), "end_turn");
    let notices = notices(&server.frames);
    server.quit();
    notices
}

/// ADAPT-5, ADAPT-6: what Codex says, thinks, plans and runs is seen, and a load shows the same.
#[test]
fn what_codex_does_in_a_turn_is_the_session_s() {
    let home = Home::new();
    let config = codex_peer(&home);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    let prompt = "first words\n/think hm\n/plan a; b\n/run echo one >> ledger; echo out\n/write new.txt text\nlast";
    assert_eq!(server.turn(&session, prompt), "end_turn");
    assert_eq!(
        (home.read("ledger"), home.read("new.txt")),
        ("one\n".to_owned(), "text".to_owned())
    );
    let live = Replay::of(&server.frames);
    server.quit();
    let mut server = serve(&home, &config);
    let replay = server.load(&home, &session);
    assert_eq!(replay.without_user(), live.without_user());
    let said = format!("{replay:?}");
    for word in ["first words", "hm", "out", "last"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    let tools = replay.tools();
    let done = |part: &&&Part| matches!(part, Part::Tool { status, .. } if status == "completed");
    assert_eq!(
        (tools.len(), tools.iter().filter(done).count()),
        (2, 2),
        "{tools:?}"
    );
    server.quit();
    home.run(&["sessions", "verify"]).well();
}

/// WIRE-8: a command that the user rejects does not run, and Codex goes on.
#[test]
fn a_rejected_command_does_not_run() {
    let home = Home::new();
    let config = codex_peer(&home);
    let mut server = serve(&home, &config);
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/run touch ran\nafter");
    let question = server.asked("session/request_permission");
    server.select(&question, "decline");
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    assert!(!home.path("ran").exists());
    let replay = Replay::of(&server.frames);
    assert!(replay.texts().contains(&"after"), "{replay:?}");
    server.quit();
}

/// ADAPT-10: a thread that has all of the log is gone on with, and told nothing twice.
#[test]
fn a_thread_that_is_whole_is_gone_on_with() {
    let home = Home::new();
    let config = codex_peer(&home);
    let session = told(&home, &config);
    for prompt in ["gamma", "delta"] {
        assert_eq!(go_on(&home, &config, &session, prompt), [""; 0]);
    }
    assert_eq!(
        asked_of_codex(&home, "thread/inject_items"),
        [Value::Null; 0]
    );
    assert_eq!(handed_over(&home, &session), [Value::Null; 0]);
    assert_eq!(listed_in(&home, &inner(&home)).len(), 1);
    let log = home.log(&session);
    assert_eq!(log.matches("\"name\":\"thread\"").count(), 1, "{log}");
}

/// RESUME-3: a load changes nothing, although it starts Codex.
#[test]
fn a_load_starts_codex_and_records_nothing() {
    let home = Home::new();
    let config = codex_peer(&home);
    let session = told(&home, &config);
    let before = home.sessions();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    server.quit();
    assert!(home.sessions() == before);
}

/// ADAPT-10, RESUME-5: where the thread is gone a new one gets the conversation as Codex's own items,
/// named in the log; from then on it has it.
#[test]
fn a_lost_thread_is_made_anew_with_the_conversation() {
    let home = Home::new();
    let config = codex_peer(&home);
    let session = told(&home, &config);
    fs::remove_dir_all(inner(&home)).unwrap();
    let notices = go_on(&home, &config, &session, "gamma");
    assert!(
        notices[0].contains("could not take up its own thread"),
        "{notices:?}"
    );
    assert!(notices[1].contains("begins anew"), "{notices:?}");
    let handed = handed_over(&home, &session);
    assert_eq!(
        (handed.len(), &handed[0]["because"]),
        (1, &json!("began_anew")),
        "{handed:?}"
    );
    let injected = asked_of_codex(&home, "thread/inject_items");
    let told = |at: usize| injected[0]["items"][at]["content"][0]["text"].clone();
    let items = injected[0]["items"].as_array().unwrap();
    assert_eq!((injected.len(), items.len()), (1, 4), "{injected:?}");
    assert_eq!(
        [0, 1, 2, 3].map(told),
        ["alpha", "alpha", "beta", "beta"].map(|text| json!(text))
    );
    assert_eq!(go_on(&home, &config, &session, "delta"), [""; 0]);
    assert_eq!(asked_of_codex(&home, "thread/inject_items").len(), 1);
    // What was put into the thread is nothing that the user said here.
    let mut server = serve(&home, &config);
    let replay = server.load(&home, &session);
    assert_eq!(replay.texts(), ["alpha", "beta", "gamma", "delta"]);
    server.quit();
}

/// ADAPT-10: a turn that the log does not know is never merged; Codex begins anew.
#[test]
fn a_thread_with_a_foreign_turn_is_left() {
    let home = Home::new();
    let config = codex_peer(&home);
    let session = told(&home, &config);
    let store = inner(&home);
    let foreign = [
        "exec",
        "--store",
        &store,
        "--agent",
        "script",
        "--last",
        "foreign words",
    ];
    home.run(&foreign).well();
    let notices = go_on(&home, &config, &session, "gamma");
    assert!(notices[0].contains("another conversation"), "{notices:?}");
    assert_eq!(handed_over(&home, &session)[0]["because"], "differs");
    let mut server = serve(&home, &config);
    let replay = format!("{:?}", server.load(&home, &session));
    server.quit();
    assert!(!replay.contains("foreign words"), "{replay}");
    assert_eq!(listed_in(&home, &inner(&home)).len(), 2);
}

/// RESUME-9: a fork has a thread of its own, with what came before the fork.
#[test]
fn a_fork_has_a_thread_of_its_own() {
    let home = Home::new();
    let config = codex_peer(&home);
    let session = told(&home, &config);
    let fork = home.run(&["--config", &config, "sessions", "fork", &session, "--json"]);
    let fork = fork.well();
    let fork: Value = serde_json::from_str(&fork.stdout).unwrap();
    let fork = fork["session"].as_str().unwrap();
    go_on(&home, &config, fork, "forked");
    go_on(&home, &config, &session, "parent");
    let injected = asked_of_codex(&home, "thread/inject_items");
    assert_eq!(injected.len(), 1, "{injected:?}");
    assert_eq!(listed_in(&home, &inner(&home)).len(), 2);
}

/// codex.md R4: what is added while a turn runs reaches the same turn.
#[test]
fn what_is_added_to_a_turn_reaches_codex_in_it() {
    let home = Home::new();
    let config = codex_peer(&home);
    let mut command = home.codex(&["app-server"]);
    command.env("SESSIOND_CONFIG", &config);
    let mut codex = Codex::spawn(command);
    codex.initialize(json!({}));
    let thread = codex.thread(&home);
    let turn = codex.turn(&thread, "/sleep 3\nslept");
    codex.told("turn/started");
    // Its own turn has begun by the time something of it is seen.
    eventually("the turn behind", PATIENCE, || {
        (!asked_of_codex(&home, "turn/start").is_empty()).then_some(())
    });
    let steer = json!({ "threadId": thread, "expectedTurnId": turn,
        "input": [{ "type": "text", "text": "added" }] });
    codex.call("turn/steer", steer);
    let done = codex.told("turn/completed");
    assert_eq!(done["params"]["turn"]["status"], "completed");
    let steered = asked_of_codex(&home, "turn/steer");
    assert_eq!(steered.len(), 1, "{steered:?}");
    assert_eq!(steered[0]["input"][0]["text"], "added");
    codex.close_stdin();
    codex.ended();
    let log = home.log(&thread);
    assert!(
        log.contains("slept") && log.matches("\"kind\":\"turn.ended\"").count() == 1,
        "{log}"
    );
}

/// A turn is told the options in force that Codex does not have in force itself.
#[test]
fn options_are_codex_s_own() {
    let home = Home::new();
    let config = codex_peer(&home);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    let set = |config: &str, value: &str| json!({ "sessionId": session, "configId": config, "value": value });
    let before = server.call(
        "session/set_config_option",
        set("approval_policy", "untrusted"),
    );
    let ids: Vec<_> = before["configOptions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["id"].clone())
        .collect();
    assert!(ids.contains(&json!("sandbox")), "{before}");
    assert_eq!(server.turn(&session, "hello"), "end_turn");
    let begun = asked_of_codex(&home, "turn/start");
    assert_eq!(begun[0]["approvalPolicy"], "untrusted", "{begun:?}");
    assert_eq!(begun[0].get("sandboxPolicy"), None, "{begun:?}");
    server.quit();
}
