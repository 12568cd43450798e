//! What Claude's tools are in the terms of the waist.

use serde_json::Value;
use sessiond_protocol::{Location, ToolContent, ToolKind};

/// Longest title of a call, in characters.
const TITLE_CHARS: usize = 120;

/// What a tool of this name does.
#[must_use]
pub fn kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "LS" => ToolKind::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => ToolKind::Edit,
        "Glob" | "Grep" => ToolKind::Search,
        "Bash" | "BashOutput" | "KillShell" => ToolKind::Execute,
        "WebFetch" | "WebSearch" => ToolKind::Fetch,
        "Agent" | "Task" | "TodoWrite" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// One line for people about a call.
#[must_use]
pub fn title(name: &str, input: &Value) -> String {
    let says = |member: &str| input.get(member).and_then(Value::as_str);
    let members = [
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "url",
        "query",
        "description",
    ];
    let about = match name {
        "Bash" => says("command"),
        _ => members.iter().find_map(|member| says(member)),
    };
    let line = about.and_then(|about| about.lines().find(|line| !line.trim().is_empty()));
    let title = match (name, line.map(str::trim)) {
        (_, None) => name.to_owned(),
        ("Bash", Some(command)) => command.to_owned(),
        (name, Some(about)) => format!("{name} {about}"),
    };
    match title.char_indices().nth(TITLE_CHARS) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title,
    }
}

/// The files that a call names.
#[must_use]
pub fn locations(input: &Value) -> Vec<Location> {
    let member = ["file_path", "notebook_path"]
        .iter()
        .find_map(|name| input.get(name));
    let path = member.and_then(Value::as_str).map(str::to_owned);
    path.into_iter()
        .map(|path| Location { path, line: None })
        .collect()
}

/// The change that a call asks for, where its arguments say it.
#[must_use]
pub fn diff(name: &str, input: &Value) -> Option<ToolContent> {
    let text = |member: &str| input.get(member).and_then(Value::as_str).map(str::to_owned);
    let (old_text, new_text) = match name {
        "Edit" => (text("old_string"), text("new_string")?),
        "Write" => (None, text("content")?),
        _ => return None,
    };
    let path = text("file_path")?;
    Some(ToolContent::Diff {
        path,
        old_text,
        new_text,
    })
}

#[cfg(test)]
mod tests;
