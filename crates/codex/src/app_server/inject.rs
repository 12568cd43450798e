//! Items of the Responses API, added to a conversation without a turn.

use std::collections::HashMap;

use serde_json::{Value, json};
use sessiond_protocol::{Content, Finish, Item, Op, ToolCall, ToolContent, ToolKind, ToolStatus};
use sessiond_wire::rpc::{ErrorObject, RawId};

use super::face::{Begun, Face};
use super::params::{self, ThreadInjectItemsParams};
use super::refuse::{invalid, refused};

impl Face {
    pub(super) fn inject_items(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadInjectItemsParams = params::read(params)?;
        let session = self.loaded(&params.thread_id)?;
        let items = items(&params.items)?;
        let id = id.clone();
        if items.is_empty() {
            self.client.answer(&id, &json!({}));
            return Ok(());
        }
        let op = Op::SessionAppend { items };
        self.submit(Some(session), op, move |face, done| match done {
            Ok(_) => face.client.answer(&id, &json!({})),
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }
}

/// The items, each call with its output.
///
/// # Errors
/// What is refused: an item that no other agent could be told.
fn items(given: &[Value]) -> Result<Vec<Item>, ErrorObject> {
    let mut outputs: HashMap<&str, &Value> = HashMap::new();
    for item in given {
        if kind(item).ends_with("_call_output")
            && let (Some(id), Some(output)) = (text(item, "call_id"), item.get("output"))
        {
            outputs.insert(id, output);
        }
    }
    let items = given
        .iter()
        .filter(|item| !kind(item).ends_with("_call_output"));
    items.map(|given| item(given, &outputs)).collect()
}

fn item(given: &Value, outputs: &HashMap<&str, &Value>) -> Result<Item, ErrorObject> {
    let finish = Finish::Whole;
    match (kind(given), text(given, "role")) {
        ("message", Some("user")) => Ok(Item::UserMessage {
            content: vec![Content::text(said(given.get("content")))],
        }),
        ("message", Some("assistant")) => Ok(Item::AgentMessage {
            text: said(given.get("content")),
            finish,
        }),
        ("reasoning", _) => Ok(Item::Thought {
            text: said(given.get("summary")),
            finish,
        }),
        ("function_call" | "custom_tool_call", _) => {
            let output = text(given, "call_id").and_then(|id| outputs.get(id));
            Ok(Item::ToolCall(Box::new(call(given, output.copied()))))
        }
        (other, role) => {
            let role = role
                .map(|role| format!(" of role {role}"))
                .unwrap_or_default();
            Err(invalid(format!(
                "items of type {other}{role} cannot be injected"
            )))
        }
    }
}

/// A call that ran elsewhere; without an output nobody knows how it ended (RESUME-6).
fn call(given: &Value, output: Option<&Value>) -> ToolCall {
    let name = text(given, "name").unwrap_or("tool");
    let arguments = text(given, "arguments").or_else(|| text(given, "input"));
    let arguments = arguments.unwrap_or_default();
    let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
    let content = output.map(|output| ToolContent::text(said(Some(output))));
    ToolCall {
        name: name.to_owned(),
        title: name.to_owned(),
        kind: ToolKind::Other,
        status: match output {
            Some(_) => ToolStatus::Completed,
            None => ToolStatus::Unknown,
        },
        input,
        content: content.into_iter().collect(),
        native: text(given, "call_id").map(str::to_owned),
        ..ToolCall::default()
    }
}

fn kind(item: &Value) -> &str {
    text(item, "type").unwrap_or("message")
}

fn text<'a>(item: &'a Value, member: &str) -> Option<&'a str> {
    item.get(member)?.as_str()
}

/// The text of a string, or of a list of blocks with texts.
fn said(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| text(block, "text"));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
