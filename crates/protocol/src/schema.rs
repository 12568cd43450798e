//! The published schemas, generated from the types (SQEQ-10): `schemas/waist-v1/`.
//!
//! They say what the types accept as exactly as JSON Schema can, because a server checks each
//! inbound frame against them before it acts (WIRE-3). Two things they cannot say: a submission's
//! id is limited in bytes, not characters, and `1.0` is no integer to us.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Value, json};

use crate::{ClientFrame, Event, EventFrame, ItemId, ServerFrame, SubmissionId, TurnId, VERSION};

/// A schema with the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The file's name in [`folder`].
    pub name: &'static str,
    /// JSON Schema, draft 2020-12, with the protocol's version in its `$id`.
    pub schema: Value,
}

impl Published {
    fn of<T: JsonSchema>(name: &'static str) -> Self {
        let mut schema = SchemaSettings::draft2020_12()
            .with_transform(RecursiveTransform(bound_integers))
            .with_transform(RecursiveTransform(name_the_unknown))
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value();
        schema["$id"] = json!(format!("urn:sessiond:{}:{name}", folder()));
        Self { name, schema }
    }

    /// The schema of a frame with its envelope: `v` is part of every frame on the wire.
    fn frame<T: JsonSchema>(name: &'static str) -> Self {
        let mut frame = Self::of::<T>(name);
        frame.schema["properties"]["v"] = json!({ "const": VERSION });
        frame.schema["required"] = json!(["v"]);
        frame
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// Where the schemas of this version stand below `schemas/`.
pub fn folder() -> String {
    format!("waist-v{VERSION}")
}

/// What a client may send.
pub fn client_frame() -> Published {
    Published::frame::<ClientFrame>("client-frame.json")
}

/// All of them.
pub fn all() -> [Published; 4] {
    [
        client_frame(),
        Published::frame::<ServerFrame>("server-frame.json"),
        Published::of::<EventFrame>("event-frame.json"),
        Published::of::<Record>("record.json"),
    ]
}

/// Says in numbers what `format` says by name: what a type cannot hold is not valid.
fn bound_integers(schema: &mut Schema) {
    let maximum = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => json!(u32::MAX),
        Some("uint64") => json!(u64::MAX),
        _ => return,
    };
    schema.insert("maximum".to_owned(), maximum);
}

/// What is kept though its type is unknown has a type, and not one of those that are known: or
/// else anything at all would pass as unknown.
fn name_the_unknown(schema: &mut Schema) {
    let Some(variants) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return;
    };
    let tag = |variant: &Value| variant.pointer("/properties/type/const").cloned();
    let known: Vec<_> = variants.iter().filter_map(tag).collect();
    let unknown = variants.iter_mut().find(|variant| {
        let members = variant.as_object();
        !known.is_empty() && members.is_some_and(|map| map.keys().all(|key| key == "description"))
    });
    if let Some(unknown) = unknown {
        unknown["type"] = json!("object");
        unknown["properties"] = json!({ "type": { "type": "string", "not": { "enum": known } } });
        unknown["required"] = json!(["type"]);
    }
}

/// A line of a session's log. The first line of each segment is its header: of kind `segment`,
/// without `seq`, and with data of its own.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "the log and the engine write records, this describes them"
)]
struct Record {
    /// Version of the record format.
    v: u32,
    /// Place in the log, from 1, dense: the event's cursor.
    seq: u64,
    /// Epoch of the lease that wrote it.
    epoch: u64,
    /// `crc` of the line before in this segment.
    #[schemars(regex(pattern = "^[0-9a-f]{8}$"))]
    prev: String,
    /// When, RFC 3339.
    at: String,
    /// The event's type.
    kind: String,
    /// The event.
    data: RecordData,
    /// CRC-32C of the line's bytes before `,"crc"`.
    #[schemars(regex(pattern = "^[0-9a-f]{8}$"))]
    crc: String,
}

/// An event frame without what the record says already.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the engine writes it, this describes it")]
struct RecordData {
    /// The turn it belongs to.
    #[serde(default)]
    turn: Option<TurnId>,
    /// The item it is about.
    #[serde(default)]
    item: Option<ItemId>,
    /// The submission that caused it.
    #[serde(default)]
    cause: Option<SubmissionId>,
    /// What happened.
    event: Event,
}
