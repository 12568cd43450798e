//! A call of any agent as a tool of Claude's own: the names and inputs that programs' rules, hooks and
//! callbacks are written for, and that its transcripts have (`Bash`, `Read`, `mcp__server__tool` …).

use serde_json::{Map, Value, json};
use sessiond_protocol::{ToolCall, ToolKind};

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

/// The name and the input of a call, an object.
pub(crate) fn as_known(call: &ToolCall) -> (String, Value) {
    if let Some(known) = of_server(call) {
        return known;
    }
    let (name, renames) = likeness(call);
    let input = match &call.input {
        Value::Object(input) => Value::Object(renamed(input, renames.iter().copied())),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    };
    (name, input)
}

/// The input that the program wants instead, in the words of the agent's tool.
pub(crate) fn back(call: &ToolCall, changed: &Value) -> Value {
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

#[cfg(test)]
mod tests;
