//! One session on all faces: its id, its conversation, what it waits for.

use serde_json::{Value, json};

use crate::harness::{
    END, Home, Native, Part, Permissions, Replay, Server, in_shell, listed, request, serve,
};

/// A server of the protocol's version 2.
fn second_version(home: &Home, config: &str) -> Server {
    let mut server = Server::spawn(home.command(&["acp", "--config", config]));
    let info = json!({ "name": "client", "version": "1" });
    server.call("initialize", json!({ "protocolVersion": 2, "info": info }));
    server
}

/// ADAPT-7: whatever face a session was made by, every other one knows it by the same id; the agent's
/// own id of it is shown by none.
#[test]
fn a_session_has_one_id_on_all_faces() {
    let home = Home::new();
    let config = in_shell(&home, "{}", &[END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "hello"), "end_turn");
    assert!(!format!("{:?}", server.frames).contains("\"n1\""));
    server.quit();
    assert_eq!(listed(&home), [&*session]);
    let mut server = second_version(&home, &config);
    let list = server.call("session/list", json!({}));
    assert_eq!(list["sessions"][0]["sessionId"], json!(session));
    server.call(
        "session/resume",
        json!({ "sessionId": session, "cwd": home.work(), "replayFrom": { "type": "start" } }),
    );
    let updates = server
        .frames
        .iter()
        .filter(|frame| frame["method"] == "session/update");
    for update in updates {
        assert_eq!(update["params"]["sessionId"], json!(session));
    }
    server.quit();
    let mut client = Native::greeted(home.command(&["sqeq", "--config", &config]));
    let resume = json!({ "type": "session.resume", "session": session, "replay": "all" });
    assert_eq!(client.accepted(None, &resume)["session"], json!(session));
    client.server.close_stdin();
    client.server.exit(crate::harness::PATIENCE);
    home.run(&["exec", "--config", &config, "--session", &session, "and on"])
        .well();
    assert_eq!(listed(&home).len(), 1);
}

/// RESUME-10: a load replays all of a conversation, by the ids that it had live; a resume replays none
/// of it; two loads in two processes are equal frame by frame.
#[test]
fn a_load_replays_all_by_the_same_ids_and_a_resume_nothing() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    assert_eq!(
        server.turn(&session, "before\n/run echo out\n/think hm\nafter"),
        "end_turn"
    );
    let live = Replay::of(&server.frames);
    server.quit();
    let mut loads = Vec::new();
    for _ in 0..2 {
        let mut server = Server::start(&home);
        let begin = server.frames.len();
        let replay = server.load(&home, &session);
        assert_eq!(replay.without_user(), live.without_user());
        let users = replay
            .0
            .iter()
            .filter(|part| matches!(part, Part::User { .. }));
        assert_eq!(users.count(), 1);
        let updates = server.frames[begin..].iter();
        let updates = updates.filter(|frame| frame["method"] == "session/update");
        loads.push(updates.cloned().collect::<Vec<Value>>());
        server.quit();
    }
    assert_eq!(loads[0], loads[1]);
    let mut server = Server::start(&home);
    let begin = server.frames.len();
    let params = json!({ "sessionId": session, "cwd": home.work(), "mcpServers": [] });
    server.call("session/resume", params);
    let shown = Replay::of(&server.frames[begin..]);
    assert_eq!(shown, Replay::default());
    server.quit();
}

/// ADAPT-9: a client that comes anew to a turn that waits gets what there is of it first, then the
/// question under a new id; what the client before answers to the old one counts for nothing.
#[test]
fn a_question_of_a_turn_that_runs_is_asked_anew_of_the_next_client() {
    let permission = request(
        "p",
        "session/request_permission",
        r#"{"sessionId":"n1","toolCall":{"toolCallId":"c","title":"Do it","kind":"execute"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}"#,
    );
    let said = crate::harness::update(
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so far"}}"#,
    );
    let home = Home::new();
    let config = in_shell(&home, "{}", &[&said, &permission, END]);
    let face = |home: &Home| {
        let mut server = Server::spawn(home.command(&["acp", "--host", "--config", &config]));
        let info = json!({ "name": "client", "version": "1" });
        server.call("initialize", json!({ "protocolVersion": 2, "info": info }));
        server.permissions = Permissions::Hold;
        server
    };
    let mut first = face(&home);
    let made = first.call("session/new", json!({ "cwd": home.work() }));
    let session = made["sessionId"].as_str().unwrap().to_owned();
    first.prompt(&session, "go");
    let question = first.asked("session/request_permission");
    first.kill();
    let mut second = face(&home);
    let resume = second.send(
        "session/resume",
        json!({ "sessionId": session, "cwd": home.work(), "replayFrom": { "type": "start" } }),
    );
    let again = second.asked("session/request_permission");
    let place = |wanted: &dyn Fn(&Value) -> bool| second.frames.iter().position(wanted).unwrap();
    let asked = place(&|frame| frame["method"] == "session/request_permission");
    let text = place(&|frame| frame.to_string().contains("so far"));
    let call = place(&|frame| frame["params"]["update"]["title"] == "Do it");
    let answered = place(&|frame| frame["id"] == resume && frame.get("method").is_none());
    assert!(text < answered && call < answered && answered < asked);
    let subject = |question: &Value| question["params"]["subject"]["toolCall"].clone();
    assert_eq!(again["params"]["options"], question["params"]["options"]);
    assert_eq!(subject(&again), subject(&question));
    second.select(&again, "yes");
    second.until("the end of the turn", |frame| {
        frame["params"]["update"]["state"] == "idle"
    });
    let told = second.frames.iter();
    let told = told
        .filter(|frame| frame.to_string().contains("so far"))
        .count();
    assert_eq!(told, 1, "{:?}", second.frames);
    second.quit();
    assert!(home.read("answers").contains(r#""optionId":"yes""#));
}
