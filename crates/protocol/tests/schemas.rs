//! The published schemas are those of the types, and true of real frames.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use sessiond_protocol::{VERSION, schema};

/// SQEQ-10
#[test]
fn the_published_schemas_are_those_of_the_types_and_name_the_version() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../schemas")
        .join(schema::folder());
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for published in schema::all() {
        let path = folder.join(published.name);
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, published.text()).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == published.text(),
            "schemas/{}/{} differs from the types: decide whether the protocol's version changes, \
             then run `cargo xtask schemas --update`",
            schema::folder(),
            published.name
        );
        let id = published.schema["$id"].as_str().unwrap();
        assert!(id.contains(&format!("waist-v{VERSION}:")), "{id}");
    }
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
