//! Tools as programs on the SDKs know them: the names and inputs that their rules, hooks and
//! callbacks are written for (`Bash`, `Read`, `mcp__server__tool` …), whatever agent is behind.

use serde_json::{Value, json};
use sessiond_protocol::{ItemId, ToolCall, ToolContent, ToolStatus};

use crate::likeness::as_known;
use crate::message::Failed;

/// A tool call as the program sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    /// Its id, which results and asks repeat.
    pub(super) id: String,
    /// The tool.
    pub(super) name: String,
    /// Its input, an object.
    pub(super) input: Value,
}

/// The call of an item. It keeps the id that its agent gave it, where that is `unique` here.
pub(super) fn shown(item: ItemId, call: &ToolCall, unique: bool) -> Shown {
    let native = call.native.clone().filter(|id| unique && !id.is_empty());
    let id = native.unwrap_or_else(|| call_id(item));
    let (name, input) = as_known(call);
    Shown { id, name, input }
}

/// The id of a call that has none of its own, as in a transcript.
fn call_id(item: ItemId) -> String {
    format!("toolu_{}", item.uuid().simple())
}

/// What a call that has ended came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// What the agent was told, as text.
    pub(super) text: String,
    /// Whether it is an error.
    pub(super) failed: Failed,
    /// The same for programs.
    pub(super) result: Value,
}

/// The result of a call.
pub(super) fn outcome(name: &str, call: &ToolCall) -> Outcome {
    let failed = match call.status {
        ToolStatus::Completed => Failed::No,
        _ => Failed::Yes,
    };
    let mut text = shown_text(&call.content);
    if text.is_empty() {
        text = match (&call.output, call.status) {
            (Value::String(output), _) => output.clone(),
            (Value::Null, ToolStatus::Unknown) => "how it ended is not known".to_owned(),
            (Value::Null, ToolStatus::Cancelled) => "it was interrupted".to_owned(),
            _ => String::new(),
        };
    }
    let result = match name {
        "Bash" => json!({ "stdout": text, "stderr": "", "isImage": false,
            "interrupted": call.status == ToolStatus::Cancelled }),
        _ if call.output.is_null() => Value::from(&*text),
        _ => call.output.clone(),
    };
    Outcome {
        text,
        failed,
        result,
    }
}

fn shown_text(content: &[ToolContent]) -> String {
    let text = |content: &ToolContent| match content {
        ToolContent::Content { content } => content.as_text().map(str::to_owned),
        ToolContent::Diff { path, .. } => Some(format!("changed {path}")),
        ToolContent::Terminal { .. } => None,
    };
    content
        .iter()
        .filter_map(text)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests;
