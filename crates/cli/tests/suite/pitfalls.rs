//! What clients have found wrong with other agents (acp.md 5), across processes.

use serde_json::json;

use crate::harness::{Home, Replay, Server, listed_in};

/// acp.md 5.7, 5.8, 5.25: a session is there for another process from the answer that names it on, also
/// where it was never prompted and its process was killed, by load and by resume.
#[test]
fn a_session_that_was_never_prompted_is_there_for_another_process() {
    for method in ["session/load", "session/resume"] {
        let home = Home::new();
        let mut server = Server::start(&home);
        let session = server.new_session(&home);
        server.kill();
        let mut server = Server::start(&home);
        let begin = server.frames.len();
        let params = json!({ "sessionId": session, "cwd": home.work(), "mcpServers": [] });
        server.call(method, params);
        assert_eq!(Replay::of(&server.frames[begin..]), Replay::default());
        assert_eq!(server.turn(&session, "hello"), "end_turn", "{method}");
        server.quit();
    }
}

/// acp.md 5.6, 5.24: a client that prompts what it knew before a restart hears that the session is not
/// there, by the code that makes it load or begin anew; the process lives.
#[test]
fn a_stored_session_is_unknown_to_a_connection_until_it_is_loaded() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "hello"), "end_turn");
    server.quit();
    let mut server = Server::start(&home);
    let prompt = json!([{ "type": "text", "text": "hi" }]);
    for (method, more) in [
        ("session/prompt", json!({ "prompt": prompt })),
        ("session/set_mode", json!({ "modeId": "auto" })),
        (
            "session/set_config_option",
            json!({ "configId": "mode", "value": "auto" }),
        ),
    ] {
        let mut params = more;
        params["sessionId"] = json!(session);
        let id = server.send(method, params);
        let error = server.response(id)["error"].clone();
        assert_eq!(error["code"], -32002, "{method}");
        assert_eq!(error["data"], json!({ "sessionId": session }), "{method}");
    }
    server.load(&home, &session);
    assert_eq!(server.turn(&session, "and on"), "end_turn");
    server.quit();
}

/// acp.md 5.20: a session has a title from its first prompt on, told to the client that shows it and to
/// who lists it.
#[test]
fn a_title_is_told_and_listed_from_the_first_prompt_on() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "Mend the lamp"), "end_turn");
    let told = |frame: &serde_json::Value| {
        let update = &frame["params"]["update"];
        update["sessionUpdate"] == "session_info_update" && update["title"] == "Mend the lamp"
    };
    assert!(server.frames.iter().any(told));
    let list = server.call("session/list", json!({ "cwd": home.work() }));
    assert_eq!(list["sessions"][0]["title"], "Mend the lamp");
    assert!(list["sessions"][0]["updatedAt"].is_string());
    server.quit();
    let rows = listed_in(&home, &home.store().display().to_string());
    assert_eq!(rows[0]["title"], "Mend the lamp");
}
