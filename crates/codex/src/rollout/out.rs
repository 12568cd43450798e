//! What the waist's content is in a line of a rollout, and what of it is not.

use serde_json::{Value, json};
use sessiond_protocol::{Content, Losses, ToolCall, ToolContent, ToolStatus};
use sessiond_wire::foreign::{is_name, plain_name};

use super::tool;
use crate::call::{Shape, as_tool, shown};

/// Longest name of a tool, and id of a call, that the model's provider takes.
pub(super) const NAME_BYTES: usize = 64;

/// How Codex says that somebody did not let a tool of a server run.
pub(super) const REJECTED: &str = "user rejected MCP tool call";

/// A user's message as blocks.
pub(super) fn blocks(content: &[Content], losses: &mut Losses) -> Vec<Value> {
    content.iter().map(|block| of(block, losses)).collect()
}

/// What of a message is text, for what shows nothing else.
pub(super) fn text_of(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn text(text: impl Into<String>) -> Value {
    let text: String = text.into();
    json!({ "type": "input_text", "text": text })
}

fn of(content: &Content, losses: &mut Losses) -> Value {
    match content {
        Content::Text { text: said, .. } => text(said),
        Content::Image {
            data, mime_type, ..
        } => {
            let url = format!("data:{mime_type};base64,{data}");
            json!({ "type": "input_image", "image_url": url })
        }
        Content::ResourceLink { uri, name, .. } => {
            losses.note("links to resources", "written as text");
            text(match name.is_empty() {
                true => uri.clone(),
                false => format!("[{name}]({uri})"),
            })
        }
        Content::Resource { resource, .. } => {
            let says = |member: &str| resource.get(member).and_then(Value::as_str);
            let uri = says("uri").unwrap_or_default();
            match says("text") {
                Some(content) => {
                    losses.note("embedded texts", "written as text");
                    text(format!("{uri}\n{content}"))
                }
                None => {
                    losses.note("embedded data", "named in the text, its data left out");
                    text(format!("[a resource, {uri}]"))
                }
            }
        }
        Content::Audio { mime_type, .. } => {
            losses.note("sounds", "named in the text, their data left out");
            text(format!("[a sound, {mime_type}]"))
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
        "written with at most 64 letters, digits, - and _",
    );
    plain_name(name, NAME_BYTES)
}

/// The arguments of a call: a text that is an object.
pub(super) fn arguments_of(call: &ToolCall, losses: &mut Losses) -> String {
    match &call.input {
        Value::Object(_) => call.input.to_string(),
        Value::Null => "{}".to_owned(),
        other => {
            losses.note(
                "arguments that are no object",
                "written as the member `value` of one",
            );
            json!({ "value": other }).to_string()
        }
    }
}

/// The result of a call as the model has it: a text, or blocks where it is more than that.
pub(super) fn result_of(call: &ToolCall, losses: &mut Losses) -> Value {
    let mut blocks = Vec::new();
    for shown in &call.content {
        match shown {
            ToolContent::Content { content } => blocks.push(of(content, losses)),
            ToolContent::Diff { .. } if call.name == "apply_patch" => {}
            ToolContent::Diff { path, new_text, .. } => {
                // It is what the arguments say.
                if !says(&call.input, new_text) {
                    losses.note(
                        "changes of files",
                        "named in the result, their text left out",
                    );
                    blocks.push(text(format!("changed {path}")));
                }
            }
            ToolContent::Terminal { .. } => losses.note("terminals", "left out"),
        }
    }
    if !call.output.is_null() {
        let told = tool::exit_code(&shown(call));
        let code = call.output.get("exit_code").and_then(Value::as_i64);
        if blocks.is_empty() {
            losses.note("structured results", "written as text");
            blocks.push(text(call.output.to_string()));
        } else if code.is_none() || code != told {
            losses.note(
                "structured results",
                "left out, beside what is shown of them",
            );
        }
    }
    match blocks.as_slice() {
        [] => Value::String(String::new()),
        [block] if block["type"] == "input_text" => block["text"].clone(),
        _ => Value::Array(blocks),
    }
}

/// Whether a member of the arguments is this text.
fn says(input: &Value, text: &str) -> bool {
    let members = input.as_object().into_iter().flatten();
    members.map(|(_, value)| value).any(|value| value == text)
}

/// The event that shows a call, with how it ended: to Codex it is one of a tool of a server's.
pub(super) fn shown_of(call: &ToolCall, (id, turn): (&str, Option<&str>)) -> Value {
    let Shape::Tool {
        server,
        tool,
        arguments,
    } = as_tool(call)
    else {
        return Value::Null;
    };
    let text = shown(call);
    let content = json!([{ "type": "text", "text": text }]);
    let result = match call.status {
        ToolStatus::Cancelled => json!({ "Err": REJECTED }),
        ToolStatus::Completed => json!({ "Ok": { "content": content, "isError": false } }),
        _ => json!({ "Ok": { "content": content, "isError": true } }),
    };
    json!({
        "type": "mcp_tool_call_end",
        "call_id": id,
        "turn_id": turn,
        "invocation": { "server": server, "tool": tool, "arguments": arguments },
        "duration": { "secs": 0, "nanos": 0 },
        "result": result,
    })
}
