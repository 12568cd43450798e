//! What a prompt is given beside the user's words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sessiond_protocol::Content;

/// Where the agent finds the schema of its answer.
const SCHEMA_URI: &str = "codex://output-schema.json";

/// Longest picture that is given to an agent, in bytes: with its base64 it fits a frame of any
/// protocol behind us, several times over.
pub const PICTURE_BYTES: usize = 16 << 20;

/// The shape that the final answer shall have: a resource beside the prompt, so that the user's
/// words stay the user's. No agent can be made to keep it; Codex's own model is.
pub(crate) fn schema(schema: &Value) -> Content {
    let text = format!(
        "The last message of this turn must be nothing but one JSON value that is valid against \
         this JSON Schema, without any text or code fence around it:\n{schema}"
    );
    Content::Resource {
        resource: json!({ "uri": SCHEMA_URI, "mimeType": "text/plain", "text": text }),
        extra: Map::new(),
    }
}

/// Whether a resource is what [`schema`] makes.
pub(crate) fn is_schema(resource: &Value) -> bool {
    resource.get("uri").and_then(Value::as_str) == Some(SCHEMA_URI)
}

/// The shape that a resource which [`schema`] has made asks for.
pub(crate) fn schema_of(resource: &Value) -> Option<Value> {
    let text = resource.get("text").and_then(Value::as_str)?;
    let (_, schema) = text.split_once('\n')?;
    serde_json::from_str(schema).ok()
}

/// A picture from the bytes of its file; none where it is of no kind that agents see.
#[must_use]
pub fn picture(bytes: &[u8]) -> Option<Content> {
    let mime_type = kind(bytes)?;
    Some(Content::Image {
        data: STANDARD.encode(bytes),
        mime_type: mime_type.to_owned(),
        extra: Map::new(),
    })
}

/// What a picture's first bytes say it is.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
