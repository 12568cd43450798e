//! A prompt as the agent gets it.

use agent_client_protocol_schema::v1::PromptCapabilities;
use serde_json::{Value, json};
use sessiond_engine::handover::Handover;
use sessiond_protocol::Content;

use super::handover;

/// The blocks of a prompt for an agent of these capabilities, and what could not be given to it.
pub(super) fn blocks(
    prompt: &[Content],
    takes: &PromptCapabilities,
) -> (Vec<Value>, Option<&'static str>) {
    let mut left_out = None;
    let blocks = prompt.iter().map(|content| match content {
        Content::Image { .. } if !takes.image => {
            left_out = Some("pictures");
            text("[a picture that you cannot see]")
        }
        Content::Audio { .. } if !takes.audio => {
            left_out = Some("sounds");
            text("[a sound that you cannot hear]")
        }
        Content::Resource { resource, .. } if !takes.embedded_context => flat(resource),
        content => serde_json::to_value(content).unwrap_or_default(),
    });
    (blocks.collect(), left_out)
}

/// Puts what is handed over before the user's words; a slash command stays first, since it is one
/// only there.
pub(super) fn with_handover(blocks: &mut Vec<Value>, given: &Handover, takes: &PromptCapabilities) {
    let handed = if takes.embedded_context {
        handover::resource(given)
    } else {
        handover::text(given)
    };
    insert(blocks, handed);
}

/// Puts a block before the user's words, or behind a slash command.
pub(super) fn insert(blocks: &mut Vec<Value>, block: Value) {
    let first = blocks.first().and_then(|first| first.get("text"));
    let is_command = first
        .and_then(Value::as_str)
        .is_some_and(|text| text.starts_with('/'));
    let at = if is_command { blocks.len() } else { 0 };
    blocks.insert(at, block);
}

fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

/// An embedded resource for an agent that takes none: its text, or a link to it.
fn flat(resource: &Value) -> Value {
    let member = |name| resource.get(name).and_then(Value::as_str);
    let uri = member("uri").unwrap_or_default();
    match member("text") {
        Some(content) => text(format!("{uri}:\n{content}")),
        None => json!({ "type": "resource_link", "uri": uri, "name": uri }),
    }
}

#[cfg(test)]
mod tests;
