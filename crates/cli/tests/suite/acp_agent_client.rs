//! Files and terminals of the client, used by an agent behind sessiond.

use serde_json::{Value, json};

use crate::harness::{
    END, Home, PATIENCE, Part, Permissions, Replay, Server, answered, eventually, heard, in_shell,
    peer, request, serve, serve_as, update,
};

/// Answers what the server asks until it answers this request; the methods that were asked.
fn until_answered(
    server: &mut Server,
    id: u64,
    mut answer: impl FnMut(&str, &Value) -> Value,
) -> (Vec<String>, Value) {
    let mut asked = Vec::new();
    loop {
        let frame = server.until("a question or the answer", |frame| {
            frame.get("id").is_some()
        });
        let Some(method) = frame["method"].as_str() else {
            assert_eq!(frame["id"], id, "{frame}");
            return (asked, frame);
        };
        if method == "session/request_permission" {
            continue;
        }
        asked.push(method.to_owned());
        let result = answer(method, &frame["params"]);
        server.say(&json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result }));
    }
}

/// ADAPT-5: an agent that uses its client's files uses those of the client upstream.
#[test]
fn an_agent_reads_and_writes_the_files_of_a_client_that_has_any() {
    let home = Home::new();
    home.write("notes", "saved");
    let files = json!({ "fs": { "readTextFile": true, "writeTextFile": true } });
    let mut server = serve_as(&home, &peer(&home), files);
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/read notes\n/write made new text");
    let (asked, answer) = until_answered(&mut server, prompt, |method, params| {
        assert_eq!(params["sessionId"], json!(session));
        match method {
            "fs/read_text_file" => {
                assert_eq!(params["path"], json!(home.path("notes")));
                json!({ "content": "not saved yet" })
            }
            _ => {
                assert_eq!(params["path"], json!(home.path("made")));
                assert_eq!(params["content"], "new text");
                json!({})
            }
        }
    });
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(asked, ["fs/read_text_file", "fs/write_text_file"]);
    let shown = format!("{:?}", Replay::of(&server.frames));
    assert!(shown.contains("not saved yet"), "{shown}");
    assert!(!home.path("made").exists(), "the client keeps it");
    server.quit();
}

/// ADAPT-1: what the client did not offer is not asked of it, and not offered to the agent.
#[test]
fn an_agent_of_a_client_without_files_and_terminals_uses_this_machines() {
    let home = Home::new();
    home.write("notes", "saved");
    let mut server = serve(&home, &peer(&home));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/read notes\n/write made new text\n/run echo ran");
    let (asked, _) = until_answered(&mut server, prompt, |method, _| panic!("{method}"));
    assert!(asked.is_empty());
    let shown = format!("{:?}", Replay::of(&server.frames));
    assert!(shown.contains("saved") && shown.contains("ran"), "{shown}");
    assert_eq!(home.read("made"), "new text");
    server.quit();
}

/// What is offered to the agent is what the client upstream offered, and nothing more.
#[test]
fn an_agent_is_offered_what_its_client_offered() {
    let cases = [
        (json!({}), json!([false, false, false, null])),
        (
            json!({ "fs": { "readTextFile": true } }),
            json!([true, false, false, null]),
        ),
        (
            json!({ "fs": { "writeTextFile": true } }),
            json!([false, true, false, null]),
        ),
        (
            json!({ "terminal": true }),
            json!([false, false, true, null]),
        ),
        (
            json!({ "elicitation": { "form": {} } }),
            json!([false, false, false, { "form": {} }]),
        ),
        (
            json!({ "elicitation": { "url": {} } }),
            json!([false, false, false, { "url": {} }]),
        ),
    ];
    for (offered, expected) in cases {
        let home = Home::new();
        let mut server = serve_as(&home, &in_shell(&home, "{}", &[END]), offered.clone());
        server.new_session(&home);
        let introduced = heard(&home, "initialize");
        let told = &introduced["clientCapabilities"];
        let fs = &told["fs"];
        let told = json!([
            fs["readTextFile"],
            fs["writeTextFile"],
            told["terminal"],
            told["elicitation"],
        ]);
        assert_eq!(told, expected, "{offered}");
        assert_eq!(introduced["protocolVersion"], 1);
        assert_eq!(introduced["clientInfo"]["name"], "sessiond");
        server.quit();
    }
}

/// An agent that asks for files although nobody has any gets those of this machine: as many lines as
/// it asks for, the protocol's error for one that is not there.
#[test]
fn files_that_no_client_has_are_read_and_written_here() {
    let home = Home::new();
    let notes = home
        .write("notes", "one\ntwo\nthree\nfour\n")
        .display()
        .to_string();
    let made = home.path("made").display().to_string();
    let read = |id: &str, more: &str| {
        let params = format!(r#"{{"sessionId":"n1","path":"{notes}"{more}}}"#);
        request(id, "fs/read_text_file", &params)
    };
    let write = |id: &str, path: &str| {
        let params = format!(r#"{{"sessionId":"n1","path":"{path}","content":"text"}}"#);
        request(id, "fs/write_text_file", &params)
    };
    let lines = [
        read("whole", ""),
        read("part", r#","line":2,"limit":2"#),
        read("rest", r#","line":4"#),
        read("head", r#","limit":1"#),
        request(
            "absent",
            "fs/read_text_file",
            &format!(r#"{{"sessionId":"n1","path":"{notes}.old"}}"#),
        ),
        write("made", &made),
        write("nowhere", &format!("{notes}/below")),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    let content = |id: &str| answered(&home, id)["result"]["content"].clone();
    assert_eq!(content("whole"), "one\ntwo\nthree\nfour\n");
    assert_eq!(content("part"), "two\nthree\n");
    assert_eq!(content("rest"), "four\n");
    assert_eq!(content("head"), "one\n");
    assert_eq!(answered(&home, "absent")["error"]["code"], -32002);
    assert_eq!(answered(&home, "made")["result"], json!({}));
    assert_eq!(home.read("made"), "text");
    assert_eq!(answered(&home, "nowhere")["error"]["code"], -32603);
}

/// A command of the agent runs in a terminal of the client, which gets it back.
#[test]
fn an_agent_runs_its_commands_in_terminals_of_the_client() {
    let home = Home::new();
    let mut server = serve_as(&home, &peer(&home), json!({ "terminal": true }));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/run echo never run here > made");
    let (asked, answer) = until_answered(&mut server, prompt, |method, params| {
        assert_eq!(params["sessionId"], json!(session));
        match method {
            "terminal/create" => {
                assert_eq!(params["cwd"], json!(home.work()));
                json!({ "terminalId": "t1" })
            }
            "terminal/wait_for_exit" => json!({ "exitCode": 0 }),
            "terminal/output" => {
                json!({ "output": "of the client", "truncated": false, "exitStatus": { "exitCode": 0 } })
            }
            _ => json!({}),
        }
    });
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(asked.first().unwrap(), "terminal/create");
    assert_eq!(asked.last().unwrap(), "terminal/release");
    for method in ["terminal/wait_for_exit", "terminal/output"] {
        assert!(asked.iter().any(|asked| asked == method), "{asked:?}");
    }
    assert!(!home.path("made").exists());
    server.quit();
    let mut server = serve(&home, &peer(&home));
    let replay = server.load(&home, &session);
    let call = replay.0.iter().find_map(|part| match part {
        Part::Tool { status, text, .. } => Some((status.clone(), text.clone())),
        _ => None,
    });
    let (status, text) = call.unwrap();
    assert_eq!(status, "completed");
    assert!(text.contains("of the client"), "{text}");
    server.quit();
}

/// TASK-4: a cancelled turn kills what runs in the client's terminal and gives the terminal back.
#[test]
fn a_cancelled_command_in_a_terminal_of_the_client_is_killed_and_the_terminal_given_back() {
    let home = Home::new();
    let mut server = serve_as(&home, &peer(&home), json!({ "terminal": true }));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/run sleep 60");
    let mut cancelled = false;
    let mut held = Vec::new();
    let mut methods = Vec::new();
    let answer = loop {
        let frame = server.until("a question or the answer", |frame| {
            frame.get("id").is_some()
        });
        let Some(method) = frame["method"].as_str() else {
            break frame;
        };
        methods.push(method.to_owned());
        let result = match method {
            "session/request_permission" => continue,
            "terminal/create" => json!({ "terminalId": "t1" }),
            // It runs until it is killed.
            "terminal/wait_for_exit" if !cancelled => {
                held.push(frame["id"].clone());
                cancelled = true;
                server.notify("session/cancel", json!({ "sessionId": session }));
                continue;
            }
            "terminal/output" => json!({ "output": "half", "truncated": false }),
            _ => json!({}),
        };
        server.say(&json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result }));
    };
    assert_eq!(
        (&answer["id"], &answer["result"]["stopReason"]),
        (&json!(prompt), &json!("cancelled"))
    );
    let place = |method: &str| methods.iter().position(|asked| asked == method);
    let (killed, released) = (place("terminal/kill"), place("terminal/release"));
    assert!(killed.is_some() && killed < released, "{methods:?}");
    server.quit();
}

/// Each word about a terminal passes as it is, both ways; the stored call has its text, not the
/// terminal that is gone.
#[test]
fn each_word_about_a_terminal_passes_as_it_is() {
    let about =
        |id: &str, method: &str| request(id, method, r#"{"sessionId":"n1","terminalId":"t9"}"#);
    let lines = [
        request(
            "create",
            "terminal/create",
            r#"{"sessionId":"n1","command":"make","args":["all","two words"],"env":[{"name":"K","value":"v"}],"outputByteLimit":77}"#,
        ),
        update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"Make","status":"in_progress","content":[{"type":"terminal","terminalId":"t9"}]}"#,
        ),
        about("output", "terminal/output"),
        about("wait", "terminal/wait_for_exit"),
        about("kill", "terminal/kill"),
        about("last", "terminal/output"),
        about("release", "terminal/release"),
        update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}"#),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let config = in_shell(&home, "{}", &lines);
    let mut server = serve_as(&home, &config, json!({ "terminal": true }));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let mut outputs = 0;
    let (asked, _) = until_answered(&mut server, prompt, |method, params| match method {
        "terminal/create" => {
            let expected = json!({
                "sessionId": session, "command": "make", "args": ["all", "two words"],
                "cwd": home.work(), "env": [{ "name": "K", "value": "v" }], "outputByteLimit": 77,
            });
            assert_eq!(*params, expected);
            json!({ "terminalId": "t9" })
        }
        "terminal/output" => {
            outputs += 1;
            assert_eq!(params["terminalId"], "t9");
            match outputs {
                1 => json!({ "output": "half", "truncated": true }),
                _ => {
                    json!({ "output": "all of it", "truncated": false, "exitStatus": { "signal": "TERM" } })
                }
            }
        }
        "terminal/wait_for_exit" => json!({ "exitCode": null, "signal": "TERM" }),
        _ => json!({}),
    });
    let expected = [
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/output",
        "terminal/release",
    ];
    assert_eq!(
        asked, expected,
        "and nobody asks a terminal that was given back"
    );
    server.quit();
    let result = |id: &str| answered(&home, id)["result"].clone();
    assert_eq!(result("create"), json!({ "terminalId": "t9" }));
    assert_eq!(
        result("output"),
        json!({ "output": "half", "truncated": true })
    );
    assert_eq!(
        result("wait"),
        json!({ "exitCode": null, "signal": "TERM" })
    );
    assert_eq!(result("kill"), json!({}));
    let status = json!({ "exitCode": null, "signal": "TERM" });
    let last = json!({ "output": "all of it", "truncated": false, "exitStatus": status });
    assert_eq!(result("last"), last);
    assert_eq!(result("release"), json!({}));
    let mut server = serve(&home, &config);
    let replay = format!("{:?}", server.load(&home, &session));
    assert!(replay.contains("all of it"), "{replay}");
    let shown = format!("{:?}", server.frames);
    assert!(!shown.contains("t9"), "no dead terminal: {shown}");
    server.quit();
}

/// A terminal that the agent still has when its call ends is read once more, so that the stored call
/// has what was printed last.
#[test]
fn a_terminal_that_a_call_ends_with_is_read_once_more() {
    let lines = [
        request(
            "create",
            "terminal/create",
            r#"{"sessionId":"n1","command":"make"}"#,
        ),
        update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"Make","status":"completed","content":[{"type":"terminal","terminalId":"t9"}]}"#,
        ),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let config = in_shell(&home, "{}", &lines);
    let mut server = serve_as(&home, &config, json!({ "terminal": true }));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let (asked, _) = until_answered(&mut server, prompt, |method, _| match method {
        "terminal/create" => json!({ "terminalId": "t9" }),
        _ => json!({ "output": "the last of it", "truncated": false }),
    });
    assert_eq!(asked, ["terminal/create", "terminal/output"]);
    server.quit();
    let mut server = serve(&home, &config);
    let replay = format!("{:?}", server.load(&home, &session));
    assert!(replay.contains("the last of it"), "{replay}");
    server.quit();
}

/// Where the client has no terminals the agent hears so, and goes on.
#[test]
fn a_terminal_that_nobody_has_is_refused_with_the_reason() {
    let create = request(
        "create",
        "terminal/create",
        r#"{"sessionId":"n1","command":"make"}"#,
    );
    let malformed = request("malformed", "terminal/output", r#"{"sessionId":"n1"}"#);
    let other = request(
        "other",
        "terminal/output",
        r#"{"sessionId":"n2","terminalId":"t"}"#,
    );
    let home = Home::new();
    let config = in_shell(&home, "{}", &[&create, &malformed, &other, END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    let refused = answered(&home, "create")["error"].clone();
    assert_eq!(refused["code"], -32603);
    let why = refused["message"].as_str().unwrap();
    assert!(why.contains("no terminals"), "{why}");
    assert_eq!(answered(&home, "malformed")["error"]["code"], -32602);
    assert_eq!(answered(&home, "other")["error"]["code"], -32602);
}

/// WIRE-7: two questions of an agent are open side by side, and each is answered when its answer comes.
#[test]
fn questions_of_an_agent_are_open_side_by_side() {
    let ask = |id: &str, path: &str| {
        format!(
            r#"echo '{{"jsonrpc":"2.0","id":"{id}","method":"fs/read_text_file","params":{{"sessionId":"n1","path":"{path}"}}}}'"#
        )
    };
    let read = r#"read -r answer; printf '%s\n' "$answer" >> answers"#;
    let home = Home::new();
    let lines = [
        ask("a", "/first"),
        // The same id again, while the first is open.
        ask("a", "/again"),
        read.to_owned(),
        ask("b", "/second"),
        read.to_owned(),
        read.to_owned(),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let files = json!({ "fs": { "readTextFile": true } });
    let mut server = serve_as(&home, &in_shell(&home, "{}", &lines), files);
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let first = server.asked("fs/read_text_file");
    let second = server.asked("fs/read_text_file");
    assert_eq!(
        second["params"]["path"], "/second",
        "an id is used once at a time"
    );
    for (question, text) in [(&second, "2"), (&first, "1")] {
        let result = json!({ "content": text });
        server.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
        eventually("the answer is there", PATIENCE, || {
            home.read("answers")
                .contains(&format!("\"{text}\""))
                .then_some(())
        });
    }
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    server.quit();
    let answers: Vec<Value> = home
        .read("answers")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, ["a", "b", "a"]);
    assert_eq!(answers[0]["error"]["code"], -32600);
}
