//! Frames of Claude's face.

use serde_json::{Value, json};

use crate::fault::on;
use crate::native::uuid;
use crate::wire::Wire;

/// Most characters of a text in one frame.
const MOST: usize = 300_000;

/// Writes a frame with the session and an id of its own.
pub(super) fn send(wire: &Wire, session: &str, mut frame: Value) {
    let control = frame["type"]
        .as_str()
        .unwrap_or_default()
        .starts_with("control");
    if !control {
        let session = if on("session-other") {
            "another"
        } else {
            session
        };
        frame["session_id"] = json!(session);
        frame["uuid"] = json!(if on("uuids-same") {
            "same".to_owned()
        } else {
            uuid()
        });
    }
    if on("model-missing") && frame["type"] == "assistant" {
        frame["message"]["model"] = Value::Null;
    }
    let mut line = frame.to_string();
    if !on("separators-raw") {
        line = line
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
    }
    line.push('\n');
    if on("empty-lines") {
        line.push('\n');
    }
    if on("bytes-raw") && frame["type"] == "result" {
        wire.raw(b"{\"type\":\"keep_alive\",\"x\":\"\xff\"}\n");
    }
    if on("log-line") && frame["type"] == "result" {
        wire.raw(b"INFO turn over\n");
    }
    wire.raw(line.as_bytes());
}

/// A result that is good.
pub(super) fn success(text: &str) -> Value {
    let text: String = text.chars().take(MOST).collect();
    let mut result = json!({"type": "result", "subtype": "success", "is_error": false,
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "stop_reason": "end_turn",
        "total_cost_usd": 0.0, "usage": {}, "modelUsage": {}, "permission_denials": [],
        "terminal_reason": "completed", "result": text});
    if on("result-empty") {
        result["result"] = json!("");
    }
    if on("duration-missing")
        && let Some(members) = result.as_object_mut()
    {
        members.remove("duration_ms");
    }
    result
}

/// A result that is an error.
pub(super) fn error(subtype: &str, errors: &[String]) -> Value {
    json!({"type": "result", "subtype": subtype, "is_error": true,
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "stop_reason": null,
        "total_cost_usd": 0.0, "usage": {}, "modelUsage": {}, "permission_denials": [],
        "terminal_reason": "model_error", "errors": errors})
}

/// One block of the assistant.
pub(super) fn assistant(block: &Value) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "message": {"id": "msg", "type": "message",
        "role": "assistant", "model": "peer", "content": [block], "stop_reason": null, "usage": {}}})
}

/// A text in as many blocks as it needs.
pub(super) fn blocks(text: &str) -> Vec<Value> {
    let letters: Vec<char> = text.chars().collect();
    let most = if on("lines-long") { usize::MAX } else { MOST };
    let parts = letters.chunks(most.min(letters.len().max(1)));
    parts
        .map(|part| assistant(&json!({"type": "text", "text": part.iter().collect::<String>()})))
        .collect()
}

/// The result of a call.
pub(super) fn tool_result(id: &str, output: &str, good: bool) -> Value {
    json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": !good}]}})
}

/// Part of a message that is not whole.
pub(super) fn event(event: &Value) -> Value {
    json!({"type": "stream_event", "parent_tool_use_id": null, "event": event})
}
