//! Bad input gets a clear answer and the connection lives (WIRE-1, WIRE-5, acp.md 1.0, 1.1, 8).

use serde_json::{Value, json};

use crate::harness::{Home, Permissions, Replay, Server};

const UNKNOWN: &str = "0191f0aa-0000-7000-8000-000000000000";

/// Sends raw bytes, then a good request; gives what came before its answer.
#[track_caller]
fn answers(server: &mut Server, bytes: &[u8]) -> Vec<Value> {
    let begin = server.frames.len();
    server.write(bytes);
    let id = server.send("session/list", json!({}));
    let response = server.response(id);
    assert!(
        response["result"]["sessions"].is_array(),
        "the connection lives: {response}"
    );
    let end = server.frames.len() - 1;
    server.frames[begin..end].to_vec()
}

/// A request that is answered at once, in its turn.
fn request(id: &str) -> Vec<u8> {
    let params = r#"{"methodId":"sessiond"}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"authenticate","params":{params}}}"#)
        .into_bytes()
}

fn line(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    [bytes.as_ref(), b"\n"].concat()
}

#[test]
fn lines_that_are_no_message_get_one_error_without_an_id() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"session/list","params":{{"x":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let table: [(&str, Vec<u8>, i32); 14] = [
        ("no JSON", line("this is not json"), -32700),
        (
            "half an object",
            line(r#"{"jsonrpc":"2.0","id":77,"#),
            -32700,
        ),
        (
            "invalid UTF-8",
            line(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"x\"}"),
            -32700,
        ),
        ("200 deep", line(deep), -32700),
        (
            "a batch",
            line(br#"[{"jsonrpc":"2.0","id":1,"method":"session/list"}]"#),
            -32600,
        ),
        ("an empty batch", line("[]"), -32600),
        ("a number", line("5"), -32600),
        ("an object that is no message", line("{}"), -32600),
        (
            "no jsonrpc",
            line(r#"{"id":1,"method":"session/list"}"#),
            -32600,
        ),
        ("id null", line(request("null")), -32600),
        ("id 1.5", line(request("1.5")), -32600),
        (
            "an id beyond 64 bits",
            line(request("18446744073709551615")),
            -32600,
        ),
        ("id true", line(request("true")), -32600),
        ("id {}", line(request("{}")), -32600),
    ];
    let home = Home::new();
    let mut server = Server::start(&home);
    for (what, bytes, code) in table {
        let came = answers(&mut server, &bytes);
        let [error] = &came[..] else {
            panic!("{what}: {came:?}")
        };
        assert_eq!(
            (&error["id"], &error["error"]["code"]),
            (&Value::Null, &code.into()),
            "{what}"
        );
    }
}

/// WIRE-1
#[test]
fn harmless_deviations_are_answered_as_if_they_were_none() {
    let table: [(&str, Vec<u8>, Value); 7] = [
        (
            "CRLF",
            [request("901"), b"\r\n".to_vec()].concat(),
            json!(901),
        ),
        (
            "a BOM",
            line([b"\xef\xbb\xbf".to_vec(), request("902")].concat()),
            json!(902),
        ),
        (
            "blank lines",
            [b"\n\r\n  \n".to_vec(), line(request("903"))].concat(),
            json!(903),
        ),
        ("a text id", line(request("\"1\"")), json!("1")),
        ("a negative id", line(request("-1")), json!(-1)),
        (
            "a large id",
            line(request("9007199254740993")),
            json!(9_007_199_254_740_993_i64),
        ),
        ("an empty id", line(request("\"\"")), json!("")),
    ];
    let home = Home::new();
    let mut server = Server::start(&home);
    for (what, bytes, id) in table {
        let came = answers(&mut server, &bytes);
        let [answer] = &came[..] else {
            panic!("{what}: {came:?}")
        };
        assert!(
            answer["id"] == id && answer["result"].is_object(),
            "{what}: {answer}"
        );
    }
}

#[test]
fn what_needs_no_answer_gets_none() {
    let table = [
        r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":99999,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","method":"_unknown/notification"}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":12345}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nobody's"}}"#,
        "",
    ];
    let home = Home::new();
    let mut server = Server::start(&home);
    for text in table {
        assert_eq!(
            answers(&mut server, &line(text)),
            [Value::Null; 0],
            "{text}"
        );
    }
}

#[test]
fn a_line_of_40_mib_is_taken_and_one_beyond_the_limit_is_refused() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let long = |mebibytes: usize| {
        let filler = "x".repeat(mebibytes << 20);
        let params = json!({ "methodId": "sessiond", "_meta": { "filler": filler } });
        line(
            json!({ "jsonrpc": "2.0", "id": 7, "method": "authenticate", "params": params })
                .to_string(),
        )
    };
    let came = answers(&mut server, &long(40));
    assert!(
        came.len() == 1 && came[0]["id"] == 7 && came[0]["result"].is_object(),
        "{came:?}"
    );
    let came = answers(&mut server, &long(65));
    assert!(
        came.len() == 1 && came[0]["id"].is_null() && came[0]["error"].is_object(),
        "{came:?}"
    );
}

#[test]
fn requests_that_cannot_be_served_are_refused_by_their_reason() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.update("available_commands_update");
    let work = home.work();
    let image = json!([{ "type": "image", "data": "", "mimeType": "image/png" }]);
    let text = json!([{ "type": "text", "text": "hi" }]);
    let table = [
        ("no/such", json!({}), -32601),
        ("_vendor/thing", json!({}), -32601),
        (
            "session/resume",
            json!({ "sessionId": UNKNOWN, "cwd": work }),
            -32002,
        ),
        (
            "session/new",
            json!({ "cwd": "relative", "mcpServers": [] }),
            -32602,
        ),
        ("session/new", json!({ "mcpServers": [] }), -32602),
        ("session/new", json!([]), -32602),
        (
            "session/load",
            json!({ "sessionId": session, "cwd": "x", "mcpServers": [] }),
            -32602,
        ),
        (
            "session/load",
            json!({ "sessionId": UNKNOWN, "cwd": work, "mcpServers": [] }),
            -32002,
        ),
        (
            "session/load",
            json!({ "sessionId": 5, "cwd": work, "mcpServers": [] }),
            -32602,
        ),
        (
            "session/load",
            json!({ "sessionId": "", "cwd": work, "mcpServers": [] }),
            -32602,
        ),
        (
            "session/load",
            json!({ "sessionId": "../../x", "cwd": work, "mcpServers": [] }),
            -32002,
        ),
        (
            "session/prompt",
            json!({ "sessionId": UNKNOWN, "prompt": text }),
            -32002,
        ),
        (
            "session/prompt",
            json!({ "sessionId": session, "prompt": image }),
            -32602,
        ),
        (
            "session/prompt",
            json!({ "sessionId": session, "prompt": [] }),
            -32602,
        ),
        (
            "session/set_mode",
            json!({ "sessionId": session, "modeId": "bold" }),
            -32602,
        ),
        ("session/list", json!({ "cursor": "nonsense" }), -32602),
        ("authenticate", json!({ "methodId": "nonsense" }), -32602),
    ];
    let before = home.sessions();
    for (method, params, code) in table {
        let id = server.send(method, params.clone());
        let error = server.response(id)["error"].take();
        assert_eq!(error["code"], code, "{method} {params}: {error}");
        if code == -32002 {
            assert_eq!(error["data"]["sessionId"], params["sessionId"], "{method}");
        }
    }
    assert_eq!(home.sessions(), before, "a refusal changes nothing");
    assert_eq!(server.turn(&session, "still here"), "end_turn");
}

#[test]
fn nothing_is_served_before_initialize_and_a_failed_one_may_be_repeated() {
    let home = Home::new();
    let mut server = Server::spawn(home.command(&["acp"]));
    let id = server.send("session/list", json!({}));
    assert_eq!(server.response(id)["error"]["code"], -32600);
    server.notify("session/cancel", json!({ "sessionId": UNKNOWN }));
    let id = server.send("initialize", json!({ "protocolVersion": "1" }));
    assert_eq!(server.response(id)["error"]["code"], -32602);
    for (asked, got) in [(0, 1), (2, 1), (65535, 1), (1, 1)] {
        let result = server.call("initialize", json!({ "protocolVersion": asked }));
        assert_eq!(result["protocolVersion"], got);
    }
    assert!(server.new_session(&home).len() == 36);
}

#[test]
fn an_answer_with_an_option_that_was_not_offered_is_refused() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let id = server.prompt(&session, "/run echo ran >> ledger");
    let question = server.asked("session/request_permission");
    server.select(&question, "allow_everything");
    let again = server.asked("session/request_permission");
    assert_eq!(home.read("ledger"), "");
    server.select(&again, "allow_once");
    assert_eq!(server.response(id)["result"]["stopReason"], "end_turn");
    assert_eq!(home.read("ledger"), "ran\n");
}

/// WIRE-5
#[test]
fn a_lone_surrogate_becomes_a_replacement_character() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    let prompt = format!(
        r#"{{"jsonrpc":"2.0","id":500,"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"sur\ud83d\u0000end"}}]}}}}"#
    );
    server.write(&line(prompt));
    assert_eq!(server.response(500)["result"]["stopReason"], "end_turn");
    assert_eq!(
        Replay::of(&server.frames).texts(),
        ["sur\u{fffd}\u{fffd}end"]
    );
    assert!(!home.log(&session).to_lowercase().contains("\\ud83d"));
    server.quit();
    let mut server = Server::start(&home);
    assert_eq!(
        server.load(&home, &session).texts(),
        ["sur\u{fffd}\u{fffd}end"]
    );
}

#[test]
fn a_prompt_while_a_turn_runs_waits_and_a_cancel_ends_both() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    let running = server.prompt(&session, "/sleep 600");
    let queued: Vec<u64> = (0..16)
        .map(|n| server.prompt(&session, &format!("queued {n}")))
        .collect();
    let refused = server.prompt(&session, "one too many");
    assert_eq!(server.response(refused)["error"]["code"], 4006);
    server.notify("session/cancel", json!({ "sessionId": session }));
    let mut open: Vec<u64> = [vec![running], queued].concat();
    server.until("all ends", |frame| {
        if frame.get("method").is_none() {
            assert_eq!(frame["result"]["stopReason"], "cancelled", "{frame}");
            open.retain(|id| frame["id"] != *id);
        }
        open.is_empty()
    });
    assert_eq!(server.turn(&session, "and on"), "end_turn");
}
