//! An editor meets `sessiond acp`.

use serde_json::{Value, json};

use crate::harness::{Home, Part, Replay, Server};

#[test]
fn initialize_tells_who_is_there_and_that_sessions_are_kept() {
    let home = Home::new();
    let mut server = Server::spawn(home.command(&["acp"]));
    let result = server.initialize();
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(result["agentInfo"]["name"], "sessiond");
    assert_eq!(result["agentCapabilities"]["loadSession"], true);
    assert_eq!(result["authMethods"].as_array().unwrap().len(), 1);
    // LOG-16
    assert_eq!(result["_meta"]["sessiond"]["persistence"], "on");
    server.quit();
    assert_eq!(server.stderr(), "");
}

#[test]
fn commands_are_advertised_once_right_after_the_answer_to_new() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.new_session(&home);
    server.update("available_commands_update");
    server.quit();
    server.read_to_end();
    let kinds: Vec<&str> = server.frames.iter().map(kind).collect();
    assert_eq!(kinds, ["response", "response", "available_commands_update"]);
}

#[test]
fn a_turn_streams_its_text_and_then_ends() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.update("available_commands_update");
    let begin = server.frames.len();
    assert_eq!(server.turn(&session, "hello brave new world"), "end_turn");
    let frames = &server.frames[begin..];
    assert_eq!(kind(frames.last().unwrap()), "response");
    assert_eq!(Replay::of(frames).texts(), ["hello brave new world"]);
    assert!(
        frames
            .iter()
            .any(|frame| kind(frame) == "session_info_update"),
        "a title comes"
    );
}

#[test]
fn a_tool_runs_only_after_it_was_allowed() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    assert_eq!(
        server.turn(&session, "/run echo ran >> ledger; echo shown"),
        "end_turn"
    );
    assert_eq!(home.read("ledger"), "ran\n");
    let replay = Replay::of(&server.frames);
    let [Part::Tool { status, text, .. }] = replay.tools()[..] else {
        panic!("{replay:?}")
    };
    assert_eq!((status.as_str(), text.trim()), ("completed", "shown"));
}

#[test]
fn a_rejected_tool_does_not_run() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.permissions = crate::harness::Permissions::Hold;
    let session = server.new_session(&home);
    let id = server.prompt(&session, "/run echo ran >> ledger");
    let question = server.asked("session/request_permission");
    server.select(&question, "reject_once");
    assert_eq!(server.response(id)["result"]["stopReason"], "end_turn");
    assert_eq!(home.read("ledger"), "");
}

#[test]
fn a_session_can_be_listed_and_loaded_by_another_process() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "remember me");
    let live = Replay::of(&server.frames);
    server.quit();
    let mut server = Server::start(&home);
    let list = server.call("session/list", json!({ "cwd": home.work() }));
    assert_eq!(list["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(list["sessions"][0]["title"], "remember me");
    let loaded = server.load(&home, &session);
    // RESUME-10: the same messages under the same ids.
    assert_eq!(loaded.without_user(), live.without_user());
    assert!(matches!(&loaded.0[0], Part::User { text, .. } if text == "remember me"));
}

/// What a frame is, in one word.
fn kind(frame: &Value) -> &str {
    let update = frame["params"]["update"]["sessionUpdate"].as_str();
    update.or(frame["method"].as_str()).unwrap_or("response")
}
