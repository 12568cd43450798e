//! What the waist's content is as blocks of a message, and what of it is not.

use serde_json::{Value, json};
use sessiond_protocol::{Content, Losses, ToolCall, ToolContent};
use sessiond_wire::foreign::{is_name, plain_name};

use super::write::NAME_BYTES;

/// A user's message: its text, or a list of blocks where it is more than that.
pub(super) fn user_content(content: Vec<Content>, losses: &mut Losses) -> Value {
    match content.as_slice() {
        [Content::Text { text, .. }] => Value::String(text.clone()),
        _ => content.iter().map(|block| of(block, losses)).collect(),
    }
}

fn text(text: impl Into<String>) -> Value {
    let text: String = text.into();
    json!({ "type": "text", "text": text })
}

fn of(content: &Content, losses: &mut Losses) -> Value {
    match content {
        Content::Text { text: said, .. } => text(said),
        Content::Image {
            data, mime_type, ..
        } => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime_type, "data": data },
        }),
        Content::ResourceLink { uri, name, .. } => {
            losses.note("links to resources", "written as text");
            text(match name.is_empty() {
                true => uri.clone(),
                false => format!("[{name}]({uri})"),
            })
        }
        Content::Resource { resource, .. } => embedded(resource, losses),
        Content::Audio { mime_type, .. } => {
            losses.note("sounds", "named in the text, their data left out");
            text(format!("[a sound, {mime_type}]"))
        }
    }
}

fn embedded(resource: &Value, losses: &mut Losses) -> Value {
    let says = |member: &str| resource.get(member).and_then(Value::as_str);
    let (uri, mime) = (says("uri").unwrap_or_default(), says("mimeType"));
    match (says("text"), says("blob"), mime) {
        (Some(content), _, _) => json!({
            "type": "document",
            "title": uri.strip_prefix("document:").unwrap_or(uri),
            "source": { "type": "text", "media_type": "text/plain", "data": content },
        }),
        (None, Some(data), Some("application/pdf")) => json!({
            "type": "document",
            "title": uri.strip_prefix("document:").unwrap_or(uri),
            "source": { "type": "base64", "media_type": "application/pdf", "data": data },
        }),
        _ => {
            losses.note("embedded data", "named in the text, its data left out");
            text(format!("[a resource, {uri}]"))
        }
    }
}

/// The name of a tool as a model's provider takes it.
pub(super) fn name_of(name: &str, losses: &mut Losses) -> String {
    if is_name(name, NAME_BYTES) {
        return name.to_owned();
    }
    losses.note(
        "names of tools",
        "written with letters, digits, - and _ alone",
    );
    plain_name(name, NAME_BYTES)
}

/// The arguments of a call: an object.
pub(super) fn input_of(call: &ToolCall, losses: &mut Losses) -> Value {
    match &call.input {
        Value::Object(_) => call.input.clone(),
        Value::Null => json!({}),
        other => {
            losses.note(
                "arguments that are no object",
                "written as the member `value` of one",
            );
            json!({ "value": other })
        }
    }
}

/// The result of a call.
pub(super) fn result_content(call: &ToolCall, losses: &mut Losses) -> Value {
    let mut blocks = Vec::new();
    for shown in &call.content {
        match shown {
            ToolContent::Content { content } => blocks.push(of(content, losses)),
            // It is what the arguments say.
            ToolContent::Diff { .. } if crate::tool::diff(&call.name, &call.input).is_some() => {}
            ToolContent::Diff { path, .. } => {
                losses.note(
                    "changes of files",
                    "named in the result, their text left out",
                );
                blocks.push(text(format!("changed {path}")));
            }
            ToolContent::Terminal { .. } => losses.note("terminals", "left out"),
        }
    }
    if blocks.is_empty() && !call.output.is_null() {
        losses.note("structured results", "written as text");
        blocks.push(text(call.output.to_string()));
    }
    match blocks.as_slice() {
        [] => Value::String(String::new()),
        [block] if block["type"] == "text" => block["text"].clone(),
        _ => Value::Array(blocks),
    }
}
