//! Lines that are no good: each gets its error, and the connection lives (acp.md 1.0, 1.1, 8).

use serde_json::{Value, json};
use sessiond_protocol::{Content, Op};
use sessiond_wire::{BadLine, Line};

use crate::harness::{OTHER, S, Stage};

/// WIRE-1, WIRE-5
#[tokio::test]
async fn each_bad_line_gets_its_one_error_and_the_next_request_its_answer() {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"x\":{}{}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let call = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/list"}}"#);
    let null = Value::Null;
    let cases = [
        ("garbage".into(), Some((-32700, &null))),
        (r#"{"jsonrpc":"2.0","id":77,"#.into(), Some((-32700, &null))),
        (deep, Some((-32700, &null))),
        ("[]".into(), Some((-32600, &null))),
        (
            format!("[{},{}]", call("1"), call("2")),
            Some((-32600, &null)),
        ),
        ("5".into(), Some((-32600, &null))),
        ("\"text\"".into(), Some((-32600, &null))),
        ("null".into(), Some((-32600, &null))),
        ("{}".into(), Some((-32600, &null))),
        (
            r#"{"id":1,"method":"session/list"}"#.into(),
            Some((-32600, &null)),
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"session/list"}"#.into(),
            Some((-32600, &null)),
        ),
        (call("null"), Some((-32600, &null))),
        (call("1.5"), Some((-32600, &null))),
        (call("18446744073709551615"), Some((-32600, &null))),
        (call("true"), Some((-32600, &null))),
        (call("{}"), Some((-32600, &null))),
        (r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#.into(), None),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#.into(),
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#.into(),
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":7,"error":8}"#.into(),
            None,
        ),
        (r#"{"jsonrpc":"2.0","method":"_x/n"}"#.into(), None),
        (
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":7}"#.into(),
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#.into(),
            None,
        ),
        (r#"{"jsonrpc":"2.0","method":"$/unknown"}"#.into(), None),
    ];
    let mut stage = Stage::initialized(json!({})).await;
    for (line, expected) in cases {
        stage.line(line.clone()).await;
        if let Some((code, id)) = expected {
            let told = stage.told().await;
            assert_eq!(
                (&told["error"]["code"], &told["id"]),
                (&json!(code), id),
                "{line:.80}"
            );
            assert!(
                told["error"].get("data").is_none(),
                "nothing is echoed: {line:.80}"
            );
        }
        stage.quiet().await;
    }
}

/// WIRE-4, WIRE-5
#[tokio::test]
async fn a_line_that_cannot_be_read_at_all_gets_a_parse_error() {
    let mut stage = Stage::initialized(json!({})).await;
    for bad in [BadLine::NotUtf8, BadLine::TooLong { bytes: 1 << 30 }] {
        stage
            .lines
            .as_ref()
            .unwrap()
            .send(Line::Bad(bad))
            .await
            .unwrap();
        assert_eq!(stage.error(Value::Null).await, (-32700, Value::Null));
    }
    stage.quiet().await;
}

/// WIRE-14
#[tokio::test]
async fn a_flood_of_garbage_is_answered_at_a_bounded_rate_and_requests_always_are() {
    const LINES: usize = 2_000;
    let mut stage = Stage::initialized(json!({})).await;
    for _ in 0..LINES {
        stage.line("garbage").await;
    }
    stage.request("last", "nonsense", json!({})).await;
    let mut errors = 0;
    loop {
        let told = stage.told().await;
        if told["id"] == "last" {
            break;
        }
        assert_eq!(told["error"]["code"], -32700);
        errors += 1;
    }
    assert!((1..LINES / 2).contains(&errors), "{errors}");
}

/// LOG-13, RESUME-3
#[tokio::test]
async fn requests_that_ask_for_what_is_not_there_get_the_code_that_clients_act_on() {
    let unknown = |id: &str| (-32002, json!({"sessionId": id}));
    let malformed = (-32602, Value::Null);
    let missing = (-32601, Value::Null);
    let prompt = json!([{"type": "text", "text": "hi"}]);
    let image = json!([{"type": "image", "data": "AA==", "mimeType": "image/png"}]);
    let cases = [
        ("nonsense", json!({}), missing.clone()),
        ("_x/y", json!({}), missing.clone()),
        ("$/x", json!({}), missing.clone()),
        (
            "session/resume",
            json!({"sessionId": S, "cwd": "w"}),
            malformed.clone(),
        ),
        (
            "session/resume",
            json!({"sessionId": "x", "cwd": "/w"}),
            unknown("x"),
        ),
        (
            "session/fork",
            json!({"sessionId": S, "cwd": "w"}),
            malformed.clone(),
        ),
        (
            "session/fork",
            json!({"sessionId": S, "cwd": "/w", "cursorId": "c"}),
            malformed.clone(),
        ),
        ("session/archive", json!({"sessionId": "x"}), unknown("x")),
        ("session/unarchive", json!({"sessionId": "x"}), unknown("x")),
        ("session/status", json!({"sessionId": "x"}), unknown("x")),
        ("session/options", json!({"cwd": "w"}), malformed.clone()),
        (
            "session/set_title",
            json!({"sessionId": "x", "title": "t"}),
            unknown("x"),
        ),
        (
            "session/set_title",
            json!({"sessionId": S, "title": " \n "}),
            malformed.clone(),
        ),
        (
            "session/set_title",
            json!({"sessionId": S}),
            malformed.clone(),
        ),
        (
            "session/list",
            json!({"archived": "maybe"}),
            malformed.clone(),
        ),
        ("providers/list", json!({}), missing.clone()),
        ("mcp/message", json!({}), missing.clone()),
        (
            "session/set_model",
            json!({"sessionId": S, "modelId": "m"}),
            missing.clone(),
        ),
        ("logout", json!({}), missing),
        (
            "session/new",
            json!({"cwd": "rel", "mcpServers": []}),
            malformed.clone(),
        ),
        ("session/new", json!({"cwd": "/w"}), malformed.clone()),
        ("session/new", json!(null), malformed.clone()),
        ("session/new", json!([]), malformed.clone()),
        (
            "session/load",
            json!({"sessionId": S, "cwd": "rel", "mcpServers": []}),
            malformed.clone(),
        ),
        (
            "session/load",
            json!({"sessionId": 7, "cwd": "/w", "mcpServers": []}),
            malformed.clone(),
        ),
        (
            "session/load",
            json!({"sessionId": "", "cwd": "/w", "mcpServers": []}),
            malformed.clone(),
        ),
        (
            "session/load",
            json!({"sessionId": "../../x", "cwd": "/w", "mcpServers": []}),
            unknown("../../x"),
        ),
        ("session/list", json!({"cwd": "rel"}), malformed.clone()),
        ("session/list", json!({"cursor": 7}), malformed.clone()),
        (
            "session/prompt",
            json!({"prompt": prompt}),
            malformed.clone(),
        ),
        (
            "session/prompt",
            json!({"sessionId": OTHER, "prompt": prompt}),
            unknown(OTHER),
        ),
        (
            "session/prompt",
            json!({"sessionId": "x", "prompt": prompt}),
            unknown("x"),
        ),
        (
            "session/prompt",
            json!({"sessionId": S, "prompt": []}),
            malformed.clone(),
        ),
        (
            "session/prompt",
            json!({"sessionId": S, "prompt": image}),
            malformed.clone(),
        ),
        (
            "session/prompt",
            json!({"sessionId": OTHER, "prompt": image}),
            malformed.clone(),
        ),
        (
            "session/set_mode",
            json!({"sessionId": OTHER, "modeId": "auto"}),
            unknown(OTHER),
        ),
        (
            "session/set_mode",
            json!({"sessionId": S, "modeId": "none"}),
            malformed.clone(),
        ),
        (
            "session/set_mode",
            json!({"sessionId": S}),
            malformed.clone(),
        ),
        (
            "session/set_config_option",
            json!({"sessionId": OTHER, "configId": "mode", "value": "auto"}),
            unknown(OTHER),
        ),
        (
            "session/set_config_option",
            json!({"sessionId": OTHER, "configId": "none", "value": "auto"}),
            unknown(OTHER),
        ),
        (
            "session/set_config_option",
            json!({"sessionId": S, "configId": "none", "value": "auto"}),
            malformed.clone(),
        ),
        (
            "session/set_config_option",
            json!({"sessionId": S, "configId": "mode", "value": "none"}),
            malformed.clone(),
        ),
        (
            "session/set_config_option",
            json!({"sessionId": S, "configId": "mode", "type": "boolean", "value": true}),
            malformed.clone(),
        ),
        ("session/close", json!({}), malformed),
    ];
    let mut stage = Stage::with_session(json!({})).await;
    for (method, params, expected) in cases {
        let name = format!("{method} {params}");
        stage.request("bad", method, params).await;
        assert_eq!(stage.error("bad").await, expected, "{name}");
    }
    stage.quiet().await;
}

#[tokio::test]
async fn ids_are_repeated_byte_by_byte() {
    let stage = Stage::initialized(json!({})).await;
    for id in [
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "\"\"",
        "\"1\"",
        "1",
    ] {
        stage
            .line(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"nonsense"}}"#
            ))
            .await;
        let frame = stage.out.recv().await.unwrap();
        assert!(
            frame
                .text()
                .starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error""#))
        );
    }
}

#[tokio::test]
async fn an_id_that_is_in_flight_is_refused_without_answering_the_first_request() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage
        .line(r#"{"jsonrpc":"2.0","id":2,"method":"session/list"}"#)
        .await;
    assert_eq!(stage.error(Value::Null).await.0, -32600);
    stage.end(
        crate::harness::turn(1),
        sessiond_protocol::TurnOutcome::Completed,
    );
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
    // Answered, the id may be used again.
    stage.request(2, "nonsense", json!({})).await;
    assert_eq!(stage.error(2).await.0, -32601);
}

/// WIRE-5
#[tokio::test]
async fn a_lone_surrogate_reaches_the_engine_as_a_replacement_character() {
    let mut stage = Stage::with_session(json!({})).await;
    // Escapes that no value of ours can hold: written by hand.
    let prompt = r#"[{"type":"text","text":"sur \ud83d end \u0000"}]"#;
    let params = format!(r#"{{"sessionId":"{S}","prompt":{prompt}}}"#);
    let method = "session/prompt";
    let line = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":{params}}}"#);
    stage.line(line).await;
    let Op::TurnStart { input, .. } = stage.op().await else {
        panic!("no turn")
    };
    assert_eq!(input, [Content::text("sur \u{fffd} end \u{fffd}")]);
}

/// WIRE-4
#[tokio::test]
async fn a_prompt_of_40_mib_is_taken() {
    let mut stage = Stage::with_session(json!({})).await;
    let text = "x".repeat(40 << 20);
    let prompt = json!([{"type": "text", "text": text}]);
    stage
        .request(
            3,
            "session/prompt",
            json!({"sessionId": S, "prompt": prompt}),
        )
        .await;
    let Op::TurnStart { input, .. } = stage.op().await else {
        panic!("no turn")
    };
    assert!(matches!(&*input, [Content::Text { text, .. }] if text.len() == 40 << 20));
}
