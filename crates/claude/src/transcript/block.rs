//! What the waist's content is as blocks of a message, and what of it is not.

use serde_json::{Value, json};
use sessiond_protocol::{Content, Losses, ToolCall, ToolContent};
use sessiond_wire::foreign::{is_name, plain_name};

use super::write::NAME_BYTES;
use crate::likeness::as_known;

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

/// The name of a call's tool, as Claude has it and a model's provider takes it, and its arguments: an
/// object.
pub(super) fn asked_of(call: &ToolCall, losses: &mut Losses) -> (String, Value) {
    let (mut name, input) = as_known(call);
    if name != call.name {
        losses.note(
            "names of tools",
            "written as Claude's own, their arguments too",
        );
    }
    if !is_name(&name, NAME_BYTES) {
        losses.note(
            "names of tools",
            "written with letters, digits, - and _ alone",
        );
        name = plain_name(&name, NAME_BYTES);
    }
    if !matches!(call.input, Value::Object(_) | Value::Null) {
        losses.note(
            "arguments that are no object",
            "written as the member `input` of one",
        );
    }
    (name, input)
}

/// The result of a call.
pub(super) fn result_content(
    call: &ToolCall,
    (name, input): (&str, &Value),
    losses: &mut Losses,
) -> Value {
    let mut blocks = Vec::new();
    for shown in &call.content {
        match shown {
            ToolContent::Content { content } => blocks.push(of(content, losses)),
            // It is what the arguments say.
            ToolContent::Diff { .. } if crate::tool::diff(name, input).is_some() => {}
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
