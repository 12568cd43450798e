//! A prompt as the CLI gets it.

use serde_json::{Value, json};
use sessiond_protocol::Content;
use uuid::Uuid;

/// The `user` line of a prompt. A text alone stays a text: only there is a slash command one. The
/// second value names what could not be given.
pub(super) fn line(
    prompt: &[Content],
    (before, uuid): (Option<&str>, Uuid),
) -> (Value, Option<&'static str>) {
    let (mut left_out, mut blocks) = (None, Vec::new());
    for content in prompt {
        blocks.push(match content {
            Content::Image {
                data, mime_type, ..
            } => json!({ "type": "image",
                "source": { "type": "base64", "media_type": mime_type, "data": data } }),
            Content::Audio { .. } => {
                left_out = Some("sounds");
                text("[a sound that you cannot hear]")
            }
            Content::Resource { resource, .. } => embedded(resource, content),
            content => text(&content.in_words()),
        });
    }
    if let Some(before) = before {
        // A slash command stays first, since it is one only there.
        let first = prompt.first().and_then(Content::as_text);
        let is_command = first.is_some_and(|text| text.starts_with('/'));
        let at = if is_command { blocks.len() } else { 0 };
        blocks.insert(at, text(before));
    }
    let content = match (blocks.as_slice(), prompt) {
        ([_], [Content::Text { text, .. }]) => Value::from(text.as_str()),
        _ => Value::from(blocks),
    };
    let line = json!({
        "type": "user",
        "message": { "role": "user", "content": content },
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
    });
    (line, left_out)
}

/// An embedded resource: a PDF as a document, a text under its address.
fn embedded(resource: &Value, content: &Content) -> Value {
    let member = |name: &str| resource.get(name).and_then(Value::as_str);
    match (member("text"), member("blob"), member("mimeType")) {
        (Some(said), ..) => {
            let uri = member("uri").unwrap_or_default();
            text(&format!("{uri}:\n{said}"))
        }
        (None, Some(data), Some("application/pdf")) => json!({ "type": "document",
            "source": { "type": "base64", "media_type": "application/pdf", "data": data } }),
        _ => text(&content.in_words()),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[cfg(test)]
mod tests;
