//! The messages of stream-json: blocks of content, and the frames that hold them.

use serde_json::{Map, Value, json};
use sessiond_protocol::{ItemId, SessionId, Usage};
use uuid::Uuid;

/// The version of the CLI whose protocol is spoken.
pub const SPOKEN: &str = "2.1.332";

/// A frame of a session with a `uuid` of its own.
pub fn frame(session: SessionId, uuid: Uuid, kind: &str, members: Value) -> Value {
    let mut frame = Map::new();
    frame.insert("type".to_owned(), kind.into());
    if let Value::Object(members) = members {
        frame.extend(members);
    }
    frame.insert("session_id".to_owned(), session.to_string().into());
    frame.insert("uuid".to_owned(), uuid.to_string().into());
    Value::Object(frame)
}

/// A `system` frame.
pub fn system(session: SessionId, subtype: &str, mut members: Value) -> Value {
    if let Some(members) = members.as_object_mut() {
        members.shift_insert(0, "subtype".to_owned(), subtype.into());
    }
    frame(session, Uuid::now_v7(), "system", members)
}

/// The block of a text.
pub fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// The block of a thought. Nobody signed it.
pub fn thinking_block(text: &str) -> Value {
    json!({ "type": "thinking", "thinking": text, "signature": "" })
}

/// The block of a tool call.
pub fn tool_use_block(id: &str, name: &str, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

/// The block of a tool's result.
pub fn tool_result_block(id: &str, content: &str, failed: Failed) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": content,
        "is_error": failed == Failed::Yes })
}

/// Whether a tool's result is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// A message of the assistant, as far as it is known while it streams.
pub fn assistant_message(id: &str, model: &str, content: Vec<Value>) -> Value {
    json!({ "id": id, "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": null, "stop_sequence": null, "usage": usage(None) })
}

/// What was used, in the protocol's words.
pub fn usage(usage: Option<&Usage>) -> Value {
    let usage = usage.copied().unwrap_or_default();
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cached_write.unwrap_or(0),
        "cache_read_input_tokens": usage.cached_read.unwrap_or(0),
        "output_tokens": usage.output,
    })
}

/// The `uuid` of the frame that shows an item's result: another one than that of the frame that
/// shows the item, and always the same.
pub fn result_uuid(item: ItemId) -> Uuid {
    // As in a transcript.
    Uuid::from_u128(item.uuid().as_u128() ^ 1 << 95)
}

/// The id of the message that begins with an item.
pub fn message_id(item: ItemId) -> String {
    format!("msg_{}", item.uuid().simple())
}
