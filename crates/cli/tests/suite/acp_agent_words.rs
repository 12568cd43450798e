//! What an agent says beyond text and calls, and what it may ask.

use serde_json::{Value, json};

use crate::harness::{END, Home, Replay, answered, in_shell, request, serve, update};

fn updates(frames: &[Value], kind: &str) -> Vec<Value> {
    let updates = frames.iter().map(|frame| frame["params"]["update"].clone());
    updates
        .filter(|update| update["sessionUpdate"] == kind)
        .collect()
}

/// ADAPT-6: what each update becomes for the client.
#[test]
fn each_update_of_an_agent_becomes_what_the_table_says() {
    let said = [
        r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"go"}}"#,
        r#"{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"type":"text","text":"one"}}"#,
        r#"{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"two"}}"#,
        r#"{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"resource_link","uri":"file:///x","name":"x"}}"#,
        r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Look","kind":"read","status":"pending","rawInput":{"path":"/x"}}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"seen"}}]}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"too late"}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c2","title":"Never announced","status":"failed"}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c3","title":"Left open","status":"in_progress"}"#,
        r#"{"sessionUpdate":"plan","entries":[{"content":"A","priority":"high","status":"in_progress"}]}"#,
        r#"{"sessionUpdate":"usage_update","used":7,"size":9}"#,
        r#"{"sessionUpdate":"session_info_update","title":"A name"}"#,
        r#"{"sessionUpdate":"notice","severity":"warning","title":"Careful"}"#,
        r#"{"sessionUpdate":"agent_message_chunk"}"#,
    ];
    let mut lines: Vec<String> = said.iter().map(|said| update(said)).collect();
    let foreign = update(
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"other session"}}"#,
    );
    lines.push(foreign.replace("n1", "n2"));
    lines.push(END.to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    let frames = &server.frames;
    let texts: Vec<String> = Replay::of(frames)
        .0
        .iter()
        .map(|part| format!("{part:?}"))
        .collect();
    let all = texts.join("\n");
    assert!(!all.contains("User") && !all.contains("other session") && !all.contains("too late"));
    assert_eq!(
        texts
            .iter()
            .filter(|text| text.starts_with("Agent"))
            .count(),
        2,
        "{all}"
    );
    assert!(
        all.contains("\"one\"") && all.contains("two[x](file:///x)"),
        "{all}"
    );
    let tools: Vec<&String> = texts
        .iter()
        .filter(|text| text.starts_with("Tool"))
        .collect();
    assert_eq!(tools.len(), 3, "{all}");
    assert!(
        tools[0].contains("completed") && tools[0].contains("seen"),
        "{all}"
    );
    assert!(
        tools[1].contains("Never announced") && tools[1].contains("failed"),
        "{all}"
    );
    assert!(tools[2].contains("told no result"), "{all}");
    let calls = updates(frames, "tool_call");
    let begun = calls.iter().find(|call| call["title"] == "Never announced");
    assert_eq!(
        begun.unwrap()["status"],
        "in_progress",
        "it begins before it ends"
    );
    assert_eq!(updates(frames, "plan")[0]["entries"][0]["content"], "A");
    assert_eq!(updates(frames, "usage_update")[0]["used"], 7);
    assert_eq!(
        updates(frames, "session_info_update").last().unwrap()["title"],
        "A name"
    );
    assert_eq!(updates(frames, "notice")[0]["title"], "Careful");
    let live = Replay::of(frames);
    server.quit();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    let replay = server.load(&home, &session);
    assert_eq!(replay.without_user(), live.without_user());
    server.quit();
}

/// WIRE-8: what the agent asks is asked of the client, with the choices that the agent gives, and
/// what cannot be asked is refused.
#[test]
fn what_an_agent_asks_is_asked_of_the_client_and_what_nobody_can_answer_is_refused() {
    let permission = request(
        "p",
        "session/request_permission",
        r#"{"sessionId":"n1","toolCall":{"toolCallId":"c","title":"Do it","kind":"execute","rawInput":{"command":"x"}},"options":[{"optionId":"sure","name":"Sure","kind":"allow_once"},{"optionId":"nope","name":"No","kind":"reject_once"}]}"#,
    );
    let lines = [
        permission,
        request("f", "fs/read_text_file", r#"{"sessionId":"n1"}"#),
        request(
            "o",
            "fs/read_text_file",
            r#"{"sessionId":"n2","path":"/x"}"#,
        ),
        request(
            "e",
            "elicitation/create",
            r#"{"sessionId":"n1","mode":"form","message":"?","requestedSchema":{}}"#,
        ),
        request("x", "_vendor/ask", r#"{"sessionId":"n1"}"#),
        request("u", "no/such_method", "{}"),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    server.permissions = crate::harness::Permissions::Hold;
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let question = server.asked("session/request_permission");
    let params = &question["params"];
    assert_eq!(params["sessionId"], json!(session));
    assert_eq!(params["toolCall"]["title"], "Do it");
    assert_eq!(params["toolCall"]["rawInput"]["command"], "x");
    let ids: Vec<_> = params["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["optionId"])
        .collect();
    assert_eq!(ids, ["sure", "nope"]);
    server.select(&question, "sure");
    let beyond = server.asked("_vendor/ask");
    assert_eq!(beyond["params"]["sessionId"], json!(session));
    server.say(&json!({ "jsonrpc": "2.0", "id": beyond["id"], "result": { "own": 1 } }));
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    server.quit();
    let answer = |id: &str| answered(&home, id);
    assert_eq!(answer("p")["result"]["outcome"]["optionId"], "sure");
    assert_eq!(answer("f")["error"]["code"], -32602);
    assert_eq!(answer("o")["error"]["code"], -32602);
    assert_eq!(answer("e")["result"]["action"], "decline");
    assert_eq!(answer("x")["result"], json!({ "own": 1 }));
    assert_eq!(answer("u")["error"]["code"], -32601);
}

/// The agent's own error reaches the client, and the session goes on.
#[test]
fn an_agent_that_refuses_a_prompt_fails_the_turn_and_nothing_else() {
    let lines = [
        r#"case "$line" in *good*) "#,
        END,
        r#";; *) echo '{"jsonrpc":"2.0","id":'$prompt',"error":{"code":-32050,"message":"over quota","data":{"retry":5}}}';; esac"#,
    ];
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "bad");
    let error = server.response(prompt)["error"].clone();
    let expected = json!({ "code": -32050, "message": "over quota", "data": { "retry": 5 } });
    assert_eq!(error, expected);
    assert_eq!(server.turn(&session, "good"), "end_turn");
    server.quit();
    assert!(home.log(&session).contains(r#""retry":5"#));
}

/// How an agent ends its turn is how the turn ends; a word of its own that it was cancelled, where it
/// was not, is told; an answer that is none fails the turn and nothing else.
#[test]
fn how_an_agent_ends_its_turn_reaches_the_client() {
    let ends =
        |answer: &str| format!(r#"echo '{{"jsonrpc":"2.0","id":'$prompt',"result":{answer}}}'"#);
    let counted = json!({
        "totalTokens": 42, "inputTokens": 10, "outputTokens": 20, "thoughtTokens": 3,
        "cachedReadTokens": 4, "cachedWriteTokens": 5,
    });
    let usage = format!(r#"{{"stopReason":"end_turn","usage":{counted}}}"#);
    let cases = [
        (r#"{"stopReason":"end_turn"}"#, "end_turn", Value::Null),
        (&usage, "end_turn", counted),
        (
            r#"{"stopReason":"end_turn","usage":{"inputTokens":1}}"#,
            "end_turn",
            Value::Null,
        ),
        (r#"{"stopReason":"max_tokens"}"#, "max_tokens", Value::Null),
        (
            r#"{"stopReason":"max_turn_requests"}"#,
            "max_turn_requests",
            Value::Null,
        ),
        (r#"{"stopReason":"refusal"}"#, "refusal", Value::Null),
        (r#"{"stopReason":"_of_its_own"}"#, "end_turn", Value::Null),
        (r#"{"stopReason":"cancelled"}"#, "end_turn", Value::Null),
    ];
    for (answer, expected, usage) in cases {
        let home = Home::new();
        let mut server = serve(&home, &in_shell(&home, "{}", &[&ends(answer)]));
        let session = server.new_session(&home);
        let prompt = server.prompt(&session, "go");
        let result = server.response(prompt)["result"].clone();
        assert_eq!(result["stopReason"], expected, "{answer}");
        assert_eq!(result["usage"], usage, "{answer}");
        let told = updates(&server.frames, "notice").len();
        assert_eq!(told, usize::from(answer.contains("cancelled")), "{answer}");
        server.quit();
    }
    let home = Home::new();
    let malformed = format!(
        r#"case "$line" in *bad*) {};; *) {END};; esac"#,
        ends(r#"{"stop":"end_turn"}"#)
    );
    let mut server = serve(&home, &in_shell(&home, "{}", &[&malformed]));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "bad");
    let message = server.response(prompt)["error"]["message"].to_string();
    assert!(message.contains("malformed"), "{message}");
    assert_eq!(server.turn(&session, "good"), "end_turn");
    server.quit();
}
