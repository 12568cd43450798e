use serde_json::{Value, json};
use sessiond_protocol::ErrorCode;

use super::check;

const SESSION: &str = "0199ab01-1234-7abc-8def-0123456789ab";

fn submission(op: &Value) -> Value {
    json!({"v": 1, "type": "submission", "id": "s", "session": SESSION, "op": op})
}

fn start(content: &Value) -> Value {
    submission(&json!({"type": "turn.start", "input": [{"type": "text", "text": "hi"}, content]}))
}

#[track_caller]
fn refused(frame: &Value) -> (ErrorCode, String, String) {
    let error = check(frame).expect_err(&frame.to_string());
    (error.code, error.pointer.unwrap(), error.message)
}

/// WIRE-3
#[test]
fn the_pointer_leads_to_the_place_in_the_variant_that_was_meant() {
    let hello = json!({"name": "d", "version": "1"});
    let answer = |outcome: Value| json!({"v": 1, "type": "answer", "request": SESSION, "digest": "d", "outcome": outcome});
    let table: Vec<(Value, &str)> = vec![
        (json!({"v": 1}), ""),
        (json!({"v": 1, "type": "hello", "client": hello}), ""),
        (json!({"v": 1, "type": "hello", "versions": [1]}), ""),
        (
            json!({"v": 1, "type": "hello", "versions": [1, -1], "client": hello}),
            "/versions/1",
        ),
        (
            json!({"v": 1, "type": "hello", "versions": [1], "client": {"name": "d"}}),
            "/client",
        ),
        (json!({"v": 1, "type": "submission", "id": "s"}), ""),
        (
            json!({"v": 1, "type": "submission", "id": "", "op": {"type": "session.list"}}),
            "/id",
        ),
        (
            json!({"v": 1, "type": "submission", "id": 7, "op": {"type": "session.list"}}),
            "/id",
        ),
        (
            json!({"v": 1, "type": "submission", "id": "s", "session": "../../etc",
                "op": {"type": "session.close"}}),
            "/session",
        ),
        (
            json!({"v": 1, "type": "submission", "id": "s", "op": "turn.start"}),
            "/op",
        ),
        (submission(&json!({})), "/op"),
        (submission(&json!({"type": "session.new"})), "/op"),
        (
            submission(&json!({"type": "session.new", "cwd": 1})),
            "/op/cwd",
        ),
        (
            submission(
                &json!({"type": "session.new", "cwd": "/w", "answers": ["permission", "x"]}),
            ),
            "/op/answers/1",
        ),
        (
            submission(&json!({"type": "session.new", "cwd": "/w", "on_disconnect": "maybe"})),
            "/op/on_disconnect",
        ),
        (
            submission(&json!({"type": "session.resume", "session": SESSION, "replay": "some"})),
            "/op/replay",
        ),
        (
            submission(
                &json!({"type": "session.resume", "session": SESSION, "replay": {"after": -1}}),
            ),
            "/op/replay/after",
        ),
        (
            submission(&json!({"type": "session.resume", "session": SESSION, "replay": {}})),
            "/op/replay",
        ),
        (
            submission(&json!({"type": "session.read", "limit": 1_u64 << 32})),
            "/op/limit",
        ),
        (start(&json!("hi")), "/op/input/1"),
        (start(&json!({"type": "text"})), "/op/input/1"),
        (
            start(&json!({"type": "text", "text": ["hi"]})),
            "/op/input/1/text",
        ),
        (
            start(&json!({"type": "image", "data": "", "mimeType": 1})),
            "/op/input/1/mimeType",
        ),
        (answer(json!({"type": "selected"})), "/outcome"),
        (
            answer(json!({"type": "selected", "option": 1})),
            "/outcome/option",
        ),
        (answer(json!(null)), "/outcome"),
    ];
    for (frame, pointer) in table {
        let (code, found, _) = refused(&frame);
        assert_eq!(
            (code, found.as_str()),
            (ErrorCode::Invalid, pointer),
            "{frame}"
        );
    }
}

/// WIRE-2
#[test]
fn an_unknown_type_is_named_as_such_where_it_stands() {
    let table = [
        (json!({"v": 1, "type": "no.such"}), "/type"),
        (json!({"v": 1, "type": 5}), "/type"),
        (submission(&json!({"type": "session.levitate"})), "/op/type"),
        (
            start(&json!({"type": "smell", "text": "x"})),
            "/op/input/1/type",
        ),
    ];
    for (frame, pointer) in table {
        let (code, found, _) = refused(&frame);
        assert_eq!(
            (code, found.as_str()),
            (ErrorCode::Unknown, pointer),
            "{frame}"
        );
    }
}

/// WIRE-3
#[test]
fn no_error_repeats_what_was_received() {
    let table = [
        json!({"v": 1, "type": "secret"}),
        json!({"v": 1, "type": "submission", "id": "s", "session": "secret", "op": {"type": "session.close"}}),
        submission(&json!({"type": "secret", "secret": "secret"})),
        submission(&json!({"type": "session.new", "cwd": ["secret"]})),
        submission(&json!({"type": "session.new", "cwd": "/w", "answers": ["secret"]})),
        start(&json!({"type": "text", "text": {"secret": "secret"}})),
    ];
    for frame in table {
        let (_, pointer, message) = refused(&frame);
        assert!(
            !format!("{pointer}{message}").contains("secret"),
            "{frame}: {message}"
        );
        assert!(!message.is_empty());
    }
}

/// WIRE-2
#[test]
fn what_a_later_version_adds_is_let_through() {
    let frame = json!({"v": 1, "type": "submission", "id": "s", "session": SESSION, "later": {},
        "op": {"type": "turn.start", "later": 1, "input": [{"type": "text", "text": "hi", "later": 1}]}});
    assert_eq!(check(&frame), Ok(()));
}
