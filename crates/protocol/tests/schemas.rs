//! The published schemas: generated from the types, checked for drift, and true of real frames.

use std::{fs, path::PathBuf};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};
use sessiond_protocol::{ClientFrame, EventFrame, ServerFrame, VERSION};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../schemas/waist-v{VERSION}"))
}

/// The schema of a frame with its envelope: `v` is part of every frame on the wire.
fn schema<T: JsonSchema>(name: &str) -> Value {
    let schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    schema["$id"] = json!(format!("urn:sessiond:waist-v{VERSION}:{name}"));
    if name != "event-frame.json" {
        schema["properties"]["v"] = json!({ "const": VERSION });
        schema["required"] = json!(["v"]);
    }
    schema
}

fn published() -> [(&'static str, Value); 3] {
    [
        (
            "client-frame.json",
            schema::<ClientFrame>("client-frame.json"),
        ),
        (
            "server-frame.json",
            schema::<ServerFrame>("server-frame.json"),
        ),
        ("event-frame.json", schema::<EventFrame>("event-frame.json")),
    ]
}

/// SQEQ-10
#[test]
fn the_published_schemas_are_those_of_the_types() {
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for (name, schema) in published() {
        let path = folder().join(name);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if update {
            fs::create_dir_all(folder()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == text,
            "schemas/waist-v{VERSION}/{name} differs from the types: decide whether the protocol's \
             version changes, then run UPDATE_SCHEMAS=1 cargo test -p sessiond-protocol"
        );
    }
}

/// WIRE-3
#[test]
fn the_schemas_accept_the_frames_of_the_contract_and_refuse_broken_ones() {
    let [(_, client), (_, server), _] = published();
    let client = jsonschema::validator_for(&client).unwrap();
    let server = jsonschema::validator_for(&server).unwrap();
    let session = "0199ab01-1234-7abc-8def-0123456789ab";
    for good in [
        json!({"v": 1, "type": "hello", "versions": [1], "client": {"name": "d", "version": "1"}}),
        json!({"v": 1, "type": "submission", "id": "s1", "op": {
            "type": "session.new", "cwd": "/w", "agent": "script", "answers": ["permission"]}}),
        json!({"v": 1, "type": "submission", "id": "s2", "session": session, "op": {
            "type": "turn.start", "input": [{"type": "text", "text": "hi"}]}}),
        json!({"v": 1, "type": "bye"}),
    ] {
        assert!(client.is_valid(&good), "{good}");
        let mut unversioned = good.clone();
        unversioned.as_object_mut().unwrap().remove("v");
        assert!(!client.is_valid(&unversioned), "{unversioned}");
    }
    for bad in [
        json!({"v": 2, "type": "bye"}),
        json!({"v": 1, "type": "no.such"}),
        json!({"v": 1, "type": "submission", "id": "s1", "op": {"type": "session.new"}}),
        json!({"v": 1, "type": "submission", "op": {"type": "session.list"}}),
    ] {
        assert!(!client.is_valid(&bad), "{bad}");
    }
    let delta = json!({"v": 1, "type": "event", "session": session, "event": {
        "type": "item.delta", "stream": "text", "offset": 0, "text": "hi"}});
    assert!(server.is_valid(&delta));
}
