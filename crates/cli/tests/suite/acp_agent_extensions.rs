//! Extension methods, from a client to the agent behind a session and back (ADAPT-6).

use serde_json::{Value, json};

use crate::harness::{
    END, Home, Native, PATIENCE, Server, answered, eventually, heard, in_shell, in_shell_with,
    peer, request, serve, serve_as, update,
};

/// An agent that answers `_x/echo` with its own id of the session, refuses `_x/refuse`, and keeps the
/// rest.
fn echoing(home: &Home) -> String {
    let cases = r#"*'"method":"_x/echo"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"n1","deep":{"sessionId":"n1"},"n":1.50}}';;
*'"method":"_x/other"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"n2"}}';;
*'"method":"_x/refuse"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32077,"message":"not today","data":{"why":["so"]}}}';;"#;
    in_shell_with(home, "{}", cases, &[END])
}

fn extension(server: &mut Server, method: &str, params: Value) -> Value {
    let id = server.send(method, params);
    server.response(id)
}

/// Only the params' own `sessionId` is rewritten; the answer comes back likewise.
#[test]
fn a_request_of_the_client_reaches_the_agent_and_its_answer_comes_back() {
    let home = Home::new();
    let mut server = serve(&home, &echoing(&home));
    let session = server.new_session(&home);
    let params = json!({
        "sessionId": session, "deep": { "sessionId": session }, "text": session, "n": [1, null],
    });
    let answer = extension(&mut server, "_x/echo", params);
    let expected = json!({ "sessionId": session, "deep": { "sessionId": "n1" }, "n": 1.5 });
    assert_eq!(answer["result"], expected);
    let reached = json!({
        "sessionId": "n1", "deep": { "sessionId": session }, "text": session, "n": [1, null],
    });
    assert_eq!(heard(&home, "_x/echo"), reached);
    // Another session of the agent's is none of ours.
    let answer = extension(&mut server, "_x/other", json!({ "sessionId": session }));
    assert_eq!(answer["result"], json!({ "sessionId": "n2" }));
    server.quit();
}

/// The agent's own error comes back whole, and the session goes on.
#[test]
fn a_refusal_of_the_agent_reaches_the_client_as_it_is() {
    let home = Home::new();
    let mut server = serve(&home, &echoing(&home));
    let session = server.new_session(&home);
    let answer = extension(&mut server, "_x/refuse", json!({ "sessionId": session }));
    let expected = json!({ "code": -32077, "message": "not today", "data": { "why": ["so"] } });
    assert_eq!(answer["error"], expected);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
}

/// ADAPT-8: what names no session of this connection reaches no agent; what is no extension is never
/// passed on.
#[test]
fn an_extension_that_names_no_session_here_reaches_no_agent() {
    let home = Home::new();
    let mut server = serve(&home, &echoing(&home));
    let session = server.new_session(&home);
    let other = "00000000-0000-7000-8000-00000000000f";
    let cases = [
        ("_x/echo", json!({})),
        ("_x/echo", json!({ "sessionId": other })),
        ("_x/echo", json!({ "sessionId": 7 })),
        ("x/echo", json!({ "sessionId": session })),
        (
            "session/set_model",
            json!({ "sessionId": session, "modelId": "m" }),
        ),
    ];
    for (method, params) in cases {
        let answer = extension(&mut server, method, params.clone());
        assert_eq!(answer["error"]["code"], -32601, "{method} {params}");
    }
    server.notify("_x/note", json!({ "sessionId": other }));
    server.notify("_x/note", json!({}));
    server.notify("x/note", json!({ "sessionId": session }));
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    let heard = home.read("heard");
    for method in ["x/echo", "x/note", "session/set_model"] {
        assert!(!heard.contains(method), "{heard}");
    }
}

/// A notification goes through both ways; what the agent says beyond the protocol is shown and never
/// stored.
#[test]
fn notifications_pass_both_ways_and_are_not_stored() {
    let note = |method: &str, params: &str| {
        format!(r#"echo '{{"jsonrpc":"2.0","method":"{method}","params":{params}}}'"#)
    };
    let lines = [
        note(
            "_x/news",
            r#"{"sessionId":"n1","deep":{"sessionId":"n1"},"word":"unstored"}"#,
        ),
        note("$/progress", r#"{"sessionId":"n1"}"#),
        note("x/news", r#"{"sessionId":"n1"}"#),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    let session = server.new_session(&home);
    server.notify("_x/note", json!({ "sessionId": session, "n": 1 }));
    assert_eq!(server.turn(&session, "go"), "end_turn");
    eventually("the agent heard it", PATIENCE, || {
        home.read("heard").contains("_x/note").then_some(())
    });
    assert_eq!(
        heard(&home, "_x/note"),
        json!({ "sessionId": "n1", "n": 1 })
    );
    let named = |name: &str| {
        let frames = server.frames.iter().filter(|frame| frame["method"] == name);
        frames
            .map(|frame| frame["params"].clone())
            .collect::<Vec<_>>()
    };
    let expected =
        json!({ "sessionId": session, "deep": { "sessionId": "n1" }, "word": "unstored" });
    assert_eq!(named("_x/news"), [expected]);
    assert!(named("$/progress").is_empty() && named("x/news").is_empty());
    server.quit();
    assert!(!home.log(&session).contains("unstored"));
}

/// What the agent asks beyond the protocol is asked of the client; one that does not know it says so,
/// and the agent hears that.
#[test]
fn a_request_of_the_agent_that_the_client_does_not_know_is_refused_as_such() {
    let lines = [
        request("e", "_x/ask", r#"{"sessionId":"n1"}"#),
        request(
            "n",
            "_x/name",
            r#"{"sessionId":"n1","deep":{"sessionId":"n1"}}"#,
        ),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let question = server.asked("_x/ask");
    let error = json!({ "code": -32601, "message": "Method not found" });
    server.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    let question = server.asked("_x/name");
    let expected = json!({ "sessionId": session, "deep": { "sessionId": "n1" } });
    assert_eq!(question["params"], expected);
    server.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": null }));
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    server.quit();
    assert_eq!(answered(&home, "e")["error"]["code"], -32601);
    assert_eq!(answered(&home, "n")["result"], Value::Null);
}

/// An agent that has none of it answers so: nothing of ours comes in between.
#[test]
fn an_agent_that_knows_no_extension_says_so_itself() {
    let home = Home::new();
    let mut server = serve(&home, &peer(&home));
    let session = server.new_session(&home);
    let answer = extension(&mut server, "_x/echo", json!({ "sessionId": session }));
    assert_eq!(answer["error"]["code"], -32601);
    server.quit();
}

/// ADAPT-1: an update that the waist does not know reaches a client that offered to show such, about
/// our session, and no other client.
#[test]
fn an_update_of_a_part_that_the_client_shows_passes_and_of_another_part_does_not() {
    let cases = [
        (
            json!({ "plan": {} }),
            r#"{"sessionUpdate":"plan_removed","planId":"p"}"#,
        ),
        (
            json!({ "session": { "compaction": {} } }),
            r#"{"sessionUpdate":"compaction_update","compactionId":"c","status":"in_progress"}"#,
        ),
        (
            json!({ "subagents": {} }),
            r#"{"sessionUpdate":"subagent_update","sessionId":"child"}"#,
        ),
    ];
    let everything: Vec<String> = cases.iter().map(|(_, said)| update(said)).collect();
    let mut lines: Vec<&str> = everything.iter().map(String::as_str).collect();
    lines.push(END);
    for (offered, passes) in cases {
        let home = Home::new();
        let mut server = serve_as(&home, &in_shell(&home, "{}", &lines), offered.clone());
        let session = server.new_session(&home);
        assert_eq!(server.turn(&session, "go"), "end_turn");
        let foreign = ["plan_removed", "compaction_update", "subagent_update"];
        let shown: Vec<Value> = server
            .frames
            .iter()
            .filter(|frame| {
                let kind = frame["params"]["update"]["sessionUpdate"].as_str();
                kind.is_some_and(|kind| foreign.contains(&kind))
            })
            .map(|frame| frame["params"].clone())
            .collect();
        let passes: Value = serde_json::from_str(passes).unwrap();
        assert_eq!(
            shown,
            [json!({ "sessionId": session, "update": passes })],
            "{offered}"
        );
        server.quit();
    }
}

/// A client of the waist sees what the agent says beyond it as an `extension`, named after our session;
/// what is about the connection is not passed on, and what the protocol names goes no such way.
#[test]
fn a_client_of_the_waist_sees_an_extension_and_can_send_nothing_else_that_way() {
    let note = |method: &str, session: &str| {
        format!(
            r#"echo '{{"jsonrpc":"2.0","method":"{method}","params":{{"sessionId":"{session}"}}}}'"#
        )
    };
    let lines = [
        note("$/progress", "n1"),
        note("_x/other", "n2"),
        note("_x/ours", "n1"),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let config = in_shell(&home, "{}", &lines);
    let mut client = Native::greeted(home.command(&["sqeq", "--config", &config]));
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "go");
    client.event("turn.ended");
    let said: Vec<(Value, Value)> = client
        .server
        .frames
        .iter()
        .filter(|frame| frame["event"]["type"] == "extension")
        .map(|frame| {
            let event = &frame["event"];
            (
                event["method"].clone(),
                event["params"]["sessionId"].clone(),
            )
        })
        .collect();
    let expected = [
        (json!("_x/other"), json!("n2")),
        (json!("_x/ours"), json!(session)),
    ];
    assert_eq!(said, expected);
    let op = json!({
        "type": "extension", "method": "session/cancel", "params": { "sessionId": session },
        "answer": "answer",
    });
    let refused = client.receipt(Some(&session), &op);
    assert_eq!(refused["error"]["code"], "unsupported", "{refused}");
    assert!(!home.read("heard").contains("session/cancel"));
}
