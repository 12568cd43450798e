//! The schemas are true of real frames, and refuse what is none.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests only in functions marked so; all of this is tests"
)]

use std::collections::HashSet;

use serde_json::{Value, json};
use sessiond_protocol::{VERSION, schema};

/// SQEQ-10: that they are published as they are is checked by `cargo xtask schemas`.
#[test]
fn every_schema_names_the_version_and_no_two_are_called_alike() {
    let ids = schema::all().map(|one| one.schema["$id"].as_str().unwrap().to_owned());
    let version = format!("urn:sessiond:waist-v{VERSION}:");
    assert!(ids.iter().all(|id| id.starts_with(&version)), "{ids:?}");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

fn valid(schema: &Value, frame: &Value) -> bool {
    jsonschema::validator_for(schema).unwrap().is_valid(frame)
}

/// WIRE-3
#[test]
fn the_schemas_accept_the_frames_of_the_contract_and_refuse_broken_ones() {
    let client = schema::client_frame().schema;
    let session = "0199ab01-1234-7abc-8def-0123456789ab";
    for good in [
        json!({"v": 1, "type": "hello", "versions": [1], "client": {"name": "d", "version": "1"}}),
        json!({"v": 1, "type": "submission", "id": "s1", "op": {
            "type": "session.new", "cwd": "/w", "agent": "script", "answers": ["permission"]}}),
        json!({"v": 1, "type": "submission", "id": "s2", "session": session, "op": {
            "type": "turn.start", "input": [{"type": "text", "text": "hi"}]}}),
        json!({"v": 1, "type": "bye"}),
    ] {
        assert!(valid(&client, &good), "{good}");
        let mut unversioned = good.clone();
        unversioned.as_object_mut().unwrap().remove("v");
        assert!(!valid(&client, &unversioned), "{unversioned}");
    }
    for bad in [
        json!({"v": 2, "type": "bye"}),
        json!({"v": 1, "type": "no.such"}),
        json!({"v": 1, "type": "submission", "id": "s1", "op": {"type": "session.new"}}),
        json!({"v": 1, "type": "submission", "op": {"type": "session.list"}}),
        json!({"v": 1, "type": "submission", "id": "", "op": {"type": "session.list"}}),
        json!({"v": 1, "type": "submission", "id": "s".repeat(256), "op": {"type": "session.list"}}),
        json!({"v": 1, "type": "submission", "id": "s", "session": session.to_uppercase(),
            "op": {"type": "session.close"}}),
        json!({"v": 1, "type": "submission", "id": "s", "session": session,
            "op": {"type": "session.read", "limit": 1_u64 << 32}}),
    ] {
        assert!(!valid(&client, &bad), "{bad}");
    }
}

#[test]
fn the_schemas_are_true_of_what_the_server_sends() {
    let [_, server, _, _] = schema::all();
    let session = "0199ab01-1234-7abc-8def-0123456789ab";
    for frame in [
        json!({"v": 1, "type": "event", "session": session, "event": {
            "type": "item.delta", "stream": "text", "offset": 0, "text": "hi"}}),
        json!({"v": 1, "type": "error", "code": "protocol", "message": "m", "fatal": true}),
        json!({"v": 1, "type": "error", "code": "invalid", "message": "m", "pointer": "/op",
            "fatal": false}),
        json!({"v": 1, "type": "event", "session": session, "event": {"type": "of.later"}}),
    ] {
        assert!(valid(&server.schema, &frame), "{frame}");
    }
    for event in [
        json!(null),
        json!({}),
        json!({"type": "turn.ended"}),
        json!({"type": 1}),
    ] {
        let frame = json!({"v": 1, "type": "event", "session": session, "event": event});
        assert!(!valid(&server.schema, &frame), "{frame}");
    }
}
