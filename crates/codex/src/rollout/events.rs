//! The events that show what was said: flat ones, and items of threads whose lines have ordinals.

use serde_json::{Value, json};
use uuid::Uuid;

/// What a user says.
pub(super) fn user_message(text: &str) -> Value {
    json!({ "type": "user_message", "message": text, "images": [], "local_images": [],
        "text_elements": [] })
}

/// What the model says.
pub(super) fn agent_message(text: &str) -> Value {
    json!({ "type": "agent_message", "message": text })
}

/// What a user says, as an item.
pub(super) fn user_item(id: Uuid, text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text, "text_elements": [] }]);
    json!({ "type": "UserMessage", "id": id, "content": content })
}

/// What the model says, as an item.
pub(super) fn agent_item(id: &str, text: &str) -> Value {
    json!({ "type": "AgentMessage", "id": id, "content": [{ "type": "Text", "text": text }] })
}

/// The end of a call, as an item.
pub(super) fn tool_item(event: &Value) -> Value {
    let (called, result) = (&event["invocation"], &event["result"]);
    let (ok, error) = (result.get("Ok"), result.get("Err"));
    let has_failed = ok.is_none_or(|ok| ok["isError"] == true);
    json!({
        "type": "McpToolCall",
        "id": event["call_id"],
        "server": called["server"],
        "tool": called["tool"],
        "arguments": called["arguments"],
        "status": if has_failed { "failed" } else { "completed" },
        "result": ok,
        "error": error.map(|message| json!({ "message": message })),
        "duration": event["duration"],
    })
}
