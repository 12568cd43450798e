//! Tools as programs on the SDKs know them: the names and inputs that their rules, hooks and
//! callbacks are written for (`Bash`, `Read`, `mcp__server__tool` …), whatever agent is behind.

use serde_json::{Map, Value, json};
use sessiond_protocol::{ItemId, ToolCall, ToolContent, ToolKind, ToolStatus};

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

/// What a tool of an agent is here: its name, and how members of its input are called here and there.
type Likeness = (&'static str, &'static [(&'static str, &'static str)]);

const READ: Likeness = ("Read", &[("path", "file_path")]);
const WRITE: Likeness = ("Write", &[("path", "file_path")]);
const EDIT: Likeness = (
    "Edit",
    &[
        ("path", "file_path"),
        ("old", "old_string"),
        ("new", "new_string"),
    ],
);

/// The call of an item. It keeps the id that its agent gave it, where that is `unique` here.
pub(super) fn shown(item: ItemId, call: &ToolCall, unique: bool) -> Shown {
    let native = call.native.clone().filter(|id| unique && !id.is_empty());
    let id = native.unwrap_or_else(|| call_id(item));
    if let Some((name, input)) = of_server(call) {
        return Shown { id, name, input };
    }
    let (name, renames) = likeness(call);
    let input = match &call.input {
        Value::Object(input) => Value::Object(renamed(input, renames.iter().copied())),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    };
    Shown { id, name, input }
}

/// The id of a call that has none of its own, as in a transcript.
fn call_id(item: ItemId) -> String {
    format!("toolu_{}", item.uuid().simple())
}

/// The input that the program wants instead, in the words of the agent's tool.
pub(super) fn back(call: &ToolCall, changed: &Value) -> Value {
    if of_server(call).is_some() {
        let mut input = call.input.clone();
        if let Some(input) = input.as_object_mut() {
            input.insert("arguments".to_owned(), changed.clone());
        }
        return input;
    }
    let (_, renames) = likeness(call);
    let back = renames.iter().map(|(there, here)| (*here, *there));
    match changed {
        Value::Object(changed) => {
            // What the program never saw stays as it was.
            let mut input = call.input.as_object().cloned().unwrap_or_default();
            input.retain(|name, _| changed.contains_key(here(renames, name)));
            input.extend(renamed(changed, back));
            Value::Object(input)
        }
        other => other.clone(),
    }
}

fn here<'a>(renames: &[(&'a str, &'a str)], there: &'a str) -> &'a str {
    let known = renames.iter().find(|(name, _)| *name == there);
    known.map_or(there, |(_, here)| here)
}

/// A call of an MCP server that says so by its input.
fn of_server(call: &ToolCall) -> Option<(String, Value)> {
    let member = |name: &str| call.input.get(name).and_then(Value::as_str);
    let (server, tool) = (member("server")?, member("tool")?);
    if call.name != "mcp" {
        return None;
    }
    let arguments = call.input.get("arguments").filter(|it| it.is_object());
    let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
    Some((format!("mcp__{server}__{tool}"), arguments))
}

/// A name that begins with a capital is one of the protocol's own already.
fn likeness(call: &ToolCall) -> (String, &'static [(&'static str, &'static str)]) {
    let is_native = call
        .name
        .starts_with(|first: char| first.is_ascii_uppercase())
        || call.name.starts_with("mcp__");
    if is_native {
        return (call.name.clone(), &[]);
    }
    let has = |member: &str| call.input.get(member).is_some();
    let (name, renames): Likeness = match call.kind {
        ToolKind::Execute => ("Bash", &[]),
        ToolKind::Read => READ,
        ToolKind::Edit if has("old") || has("old_string") => EDIT,
        ToolKind::Edit => WRITE,
        ToolKind::Search => ("Grep", &[]),
        ToolKind::Fetch => ("WebFetch", &[]),
        ToolKind::Delete | ToolKind::Move | ToolKind::Think | ToolKind::Other => {
            let names = [&call.name, &call.title];
            let name = names.into_iter().find(|name| !name.is_empty());
            return (name.map_or("Tool", |name| name).to_owned(), &[]);
        }
    };
    (name.to_owned(), renames)
}

fn renamed<'a>(
    input: &Map<String, Value>,
    renames: impl Iterator<Item = (&'a str, &'a str)>,
) -> Map<String, Value> {
    let renames: Vec<_> = renames.collect();
    let name = |name: &String| {
        let known = renames.iter().find(|(from, _)| from == name);
        known.map_or_else(|| name.clone(), |(_, to)| (*to).to_owned())
    };
    let member = |(key, value): (&String, &Value)| (name(key), value.clone());
    input.iter().map(member).collect()
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
