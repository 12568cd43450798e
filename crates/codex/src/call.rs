//! A tool call in Codex's words. Codex has three kinds of call that any agent's can be shown as: a
//! command, a change of files, and a tool of a server.

use serde_json::Value;
use sessiond_protocol::{ToolCall, ToolContent, ToolKind};

use crate::change::{Change, changes};

/// Whose tool it is where the agent does not say.
const AGENT: &str = "agent";

/// What a call is shown as. The kind alone decides: it stays the same from the call's beginning to
/// its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A command.
    Command {
        /// As the agent gave it; its title where it did not.
        command: String,
        /// Where it runs, where that is known.
        cwd: Option<String>,
    },
    /// A change of files.
    Change(Vec<Change>),
    /// Anything else.
    Tool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
    },
}

impl Shape {
    /// The shape of a call.
    pub(crate) fn of(call: &ToolCall) -> Self {
        match call.kind {
            ToolKind::Execute => Shape::Command {
                command: command(call),
                cwd: text_member(&call.input, &["cwd", "workdir"]).map(str::to_owned),
            },
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => Shape::Change(changes(call)),
            _ => as_tool(call),
        }
    }
}

/// What a call shows as text: its output so far, or what came of it.
pub(crate) fn shown(call: &ToolCall) -> String {
    let texts = call.content.iter().filter_map(|content| match content {
        ToolContent::Content { content } => content.as_text(),
        ToolContent::Diff { .. } | ToolContent::Terminal { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The exit code of a command; none where the agent did not tell it.
pub(crate) fn exit_code(call: &ToolCall) -> Option<i32> {
    let names = ["exit_code", "exitCode"];
    let code = names
        .iter()
        .find_map(|name| call.output.get(name)?.as_i64());
    code.and_then(|code| i32::try_from(code).ok())
}

fn command(call: &ToolCall) -> String {
    let words = |words: &Vec<Value>| {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    let command = match call.input.get("command") {
        Some(Value::String(command)) => Some(command.clone()),
        Some(Value::Array(list)) => words(list),
        _ => None,
    };
    command.unwrap_or_else(|| call.title.clone())
}

/// The call as that of a tool of a server, whatever it does.
pub(crate) fn as_tool(call: &ToolCall) -> Shape {
    let named = text_member(&call.input, &["server"]).zip(text_member(&call.input, &["tool"]));
    let in_name = || call.name.strip_prefix("mcp__")?.split_once("__");
    let (server, tool) = named.or_else(in_name).unwrap_or((AGENT, &call.name));
    let arguments = match named {
        Some(_) => call.input.get("arguments").cloned().unwrap_or_default(),
        None => call.input.clone(),
    };
    Shape::Tool {
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments,
    }
}

fn text_member<'a>(input: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| input.get(name)?.as_str())
}

#[cfg(test)]
mod tests;
