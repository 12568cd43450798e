//! What a bad frame leads to, from outside: a fatal error and exit 65, or an error and a connection
//! that lives (WIRE-2, WIRE-3, WIRE-5).

use serde_json::{Value, json};

use crate::harness::{Home, Native, hello, submission};

const UNKNOWN: &str = "0191f0aa-0000-7000-8000-000000000000";

fn line(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    [bytes.as_ref(), b"\n"].concat()
}

/// WIRE-2, WIRE-4, WIRE-5
#[test]
fn what_is_not_the_protocol_ends_it_with_one_fatal_error_and_exit_65() {
    let nested = format!(
        r#"{{"v":1,"type":"bye","x":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let table: [(&str, Vec<u8>); 11] = [
        ("no JSON", line("SECRET")),
        ("half an object", line(r#"{"v":1,"type":"SECRET""#)),
        ("two objects", line(r#"{"v":1,"type":"bye"}{"v":1}"#)),
        ("invalid UTF-8", line(b"{\"v\":1,\"type\":\"SECRET\xff\"}")),
        ("a NUL byte", line(b"{\"v\":1,\"type\":\"SECRET\0\"}")),
        ("200 deep", line(nested)),
        ("no object", line("[1]")),
        ("no version", line(r#"{"type":"bye"}"#)),
        ("another version", line(r#"{"v":2,"type":"bye"}"#)),
        (
            "no version in common",
            line(hello().to_string().replace("[1]", "[2,3]")),
        ),
        ("beyond the limit", line("x".repeat((64 << 20) + 1))),
    ];
    for (what, bytes) in table {
        let home = Home::new();
        let mut client = Native::spawn(home.command(&["sqeq"]));
        if what != "no version in common" {
            client.say(&hello());
        }
        client.server.write(&bytes);
        let (code, frames) = client.ended();
        assert_eq!(code, Some(65), "{what}");
        let error = frames.last().unwrap();
        assert_eq!(error["type"], "error", "{what}: {error}");
        assert_eq!(error["code"], "protocol", "{what}: {error}");
        assert_eq!(error["fatal"], true, "{what}: {error}");
        let others = frames.iter().filter(|frame| frame["type"] == "error");
        assert_eq!(others.count(), 1, "{what}");
        let stderr = client.server.stderr();
        assert!(stderr.lines().count() <= 3, "{what}: {stderr}");
        let said = format!("{error}{stderr}");
        assert!(!said.contains("SECRET"), "{what}: {said}");
    }
}

/// WIRE-5: the turn that runs meanwhile ends as its client said, and is recorded.
#[test]
fn a_fatal_frame_ends_the_turn_that_runs() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "/sleep 600");
    client.server.write(b"{\n");
    assert_eq!(client.ended().0, Some(65));
    assert!(home.log(&session).contains(r#""outcome":"cancelled""#));
}

/// WIRE-2, WIRE-3
#[test]
fn what_is_wrong_in_a_frame_is_pointed_at_and_the_connection_lives() {
    let answer = json!({"v": 1, "type": "answer", "request": UNKNOWN, "digest": "d",
        "outcome": {"type": "cancelled"}});
    let op = |op: Value| submission("x", Some(UNKNOWN), &op);
    let table = [
        (json!({"v": 1, "type": "SECRET"}), "unknown", Some("/type")),
        (json!({"v": 1, "type": "answer"}), "invalid", Some("")),
        (answer, "refused", None),
        (op(json!({"type": "SECRET"})), "unknown", Some("/op/type")),
        (op(json!({"type": "turn.start"})), "invalid", Some("/op")),
        (
            op(json!({"type": "turn.start", "input": [{"type": "text", "text": 1}]})),
            "invalid",
            Some("/op/input/0/text"),
        ),
        (op(json!({"type": "session.close"})), "not_found", None),
        (
            submission("x", Some("SECRET"), &json!({"type": "session.close"})),
            "invalid",
            Some("/session"),
        ),
    ];
    let home = Home::new();
    let mut client = Native::start(&home);
    for (number, (mut frame, code, pointer)) in table.into_iter().enumerate() {
        let is_submission = frame["type"] == "submission";
        if is_submission {
            frame["id"] = json!(format!("x{number}"));
        }
        client.say(&frame);
        let told = client.until("an answer", |told| {
            told["type"] == "error" || told["type"] == "receipt"
        });
        let error = if is_submission {
            assert_eq!(told["id"], frame["id"], "{frame}: {told}");
            &told["error"]
        } else {
            assert_eq!(told["fatal"], false, "{frame}: {told}");
            &told
        };
        assert_eq!(error["code"], code, "{frame}: {told}");
        assert_eq!(error["pointer"].as_str(), pointer, "{frame}: {told}");
        assert!(!told.to_string().contains("SECRET"), "{frame}: {told}");
    }
    client.accepted(None, &json!({"type": "session.list"}));
    client.quit();
}

/// WIRE-1, WIRE-2
#[test]
fn harmless_deviations_are_taken() {
    let home = Home::new();
    let mut client = Native::spawn(home.command(&["sqeq"]));
    let greeting = hello().to_string();
    client
        .server
        .write(format!("\u{feff}\r\n\n{greeting}\r\n").as_bytes());
    client.until("welcome", |frame| frame["type"] == "welcome");
    let mut list = submission("s", None, &json!({"type": "session.list", "later": 1}));
    list["later"] = json!({"deep": [1]});
    client.say(&list);
    let receipt = client.until("a receipt", |frame| frame["type"] == "receipt");
    assert!(receipt["accepted"]["sessions"].is_array(), "{receipt}");
    client.quit();
}
