use serde_json::{Value, json};

use super::{Message, NoMessage, Refused, failure, read, success};

#[test]
fn lines_are_read_as_what_they_are() {
    let object = |value: Value| value.as_object().unwrap().clone();
    let table = [
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}"#,
            Ok(Message::Request {
                id: "r".to_owned(),
                request: object(json!({"subtype": "interrupt"})),
            }),
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{"x":1}}}"#,
            Ok(Message::Response {
                id: "a".to_owned(),
                answer: Ok(json!({"x": 1})),
            }),
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"a"}}"#,
            Ok(Message::Response {
                id: "a".to_owned(),
                answer: Ok(Value::Null),
            }),
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"a","error":"no"}}"#,
            Ok(Message::Response {
                id: "a".to_owned(),
                answer: Err("no".to_owned()),
            }),
        ),
        (
            r#"{"type":"control_cancel_request","request_id":"r"}"#,
            Ok(Message::Cancel { id: "r".to_owned() }),
        ),
        (
            r#"{"type":"keep_alive"}"#,
            Ok(Message::Frame {
                kind: "keep_alive".to_owned(),
                frame: object(json!({"type": "keep_alive"})),
            }),
        ),
        (r#"{"no_type":1}"#, Ok(Message::Ignored)),
        ("[1,2]", Ok(Message::Ignored)),
        (r#""text""#, Ok(Message::Ignored)),
        ("this is not json", Err(NoMessage::NotJson)),
        (r#"{"type":"user","#, Err(NoMessage::NotJson)),
        (
            r#"{"type":"control_request","request_id":"r"}"#,
            Err(NoMessage::NoRequest),
        ),
        (
            r#"{"type":"control_request","request":{}}"#,
            Err(NoMessage::NoRequest),
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"success"}}"#,
            Ok(Message::Ignored),
        ),
    ];
    for (line, expected) in table {
        assert_eq!(read(line), expected, "{line}");
    }
    assert_eq!(read(&"[".repeat(200)), Err(NoMessage::TooDeep));
}

/// WIRE-5: half a surrogate pair, which both SDKs may send, is read.
#[test]
fn a_lone_surrogate_is_replaced() {
    let Ok(Message::Frame { frame, .. }) = read(r#"{"type":"user","a":"\ud83d x"}"#) else {
        panic!("not read")
    };
    assert_eq!(frame["a"], "\u{fffd} x");
}

#[test]
fn answers_have_the_protocols_form() {
    assert_eq!(
        success("r", None),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r"}})
    );
    assert_eq!(
        failure("r", &Refused::unsupported("martian")),
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r",
            "error": "Unsupported control request subtype: martian",
            "error_code": "unsupported_request"}})
    );
}
