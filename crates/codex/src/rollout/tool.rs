//! What Codex's tools are in the terms of the waist.

use serde_json::Value;
use sessiond_protocol::{Location, ToolContent, ToolKind};

/// Longest title of a call, in characters.
const TITLE_CHARS: usize = 120;

/// What a tool of this name does.
pub(super) fn kind(name: &str) -> ToolKind {
    match name {
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec"
        | "write_stdin" | "unified_exec" => ToolKind::Execute,
        "apply_patch" => ToolKind::Edit,
        "read_file" | "list_dir" | "view_image" => ToolKind::Read,
        "grep_files" | "tool_search" => ToolKind::Search,
        "web_search" | "image_generation" => ToolKind::Fetch,
        "update_plan" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// One line for people about a call.
pub(super) fn title(name: &str, input: &Value) -> String {
    let says = |member: &str| input.get(member).and_then(Value::as_str).map(str::to_owned);
    let words = |member: &str| {
        let list = input.get(member)?.as_array()?;
        let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
        match words.as_slice() {
            // The shell is no news.
            [_, "-lc" | "-c", script] => Some((*script).to_owned()),
            words => Some(words.join(" ")),
        }
    };
    let about = match kind(name) {
        ToolKind::Execute => says("cmd").or_else(|| says("command")).or(words("command")),
        ToolKind::Edit => patched(input).next().map(|path| format!("{name} {path}")),
        _ => {
            let members = ["path", "file_path", "query", "pattern", "url"];
            let about = members.iter().find_map(|member| says(member));
            about.map(|about| format!("{name} {about}"))
        }
    };
    let about = about.as_deref().unwrap_or_default();
    let line = about.lines().map(str::trim).find(|line| !line.is_empty());
    let title = line.unwrap_or(name);
    match title.char_indices().nth(TITLE_CHARS) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title.to_owned(),
    }
}

/// The files that a call names.
pub(super) fn locations(name: &str, input: &Value) -> Vec<Location> {
    let place = |path: &str| Location {
        path: path.to_owned(),
        line: None,
    };
    match kind(name) {
        ToolKind::Edit => patched(input).map(place).collect(),
        _ => {
            let members = ["path", "file_path"];
            let path = members.iter().find_map(|m| input.get(m)?.as_str());
            path.map(place).into_iter().collect()
        }
    }
}

/// The files of a patch.
fn patched(input: &Value) -> impl Iterator<Item = &str> {
    let text = input.as_str().or_else(|| input.get("input")?.as_str());
    let of = |line: &'_ str| {
        let rest = line.strip_prefix("*** ")?;
        let (what, path) = rest.split_once(" File: ")?;
        matches!(what, "Add" | "Update" | "Delete").then_some(())?;
        let start = line.len() - path.len();
        Some(start)
    };
    let lines = text.unwrap_or_default().lines();
    lines.filter_map(move |line| of(line).and_then(|start| line.get(start..)))
}

/// The changes of files that the program says a call made: of a changed file the lines of the diff.
pub(super) fn diffs(changes: &Value) -> Vec<ToolContent> {
    let changes = changes.as_object().into_iter().flatten();
    changes
        .filter_map(|(path, change)| diff(path, change))
        .collect()
}

fn diff(path: &str, change: &Value) -> Option<ToolContent> {
    let text = |member: &str| {
        change
            .get(member)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let (old_text, new_text) = match change.get("type")?.as_str()? {
        "add" => (None, text("content")?),
        "delete" => (Some(text("content")?), String::new()),
        "update" => {
            let (old, new) = sides(&text("unified_diff")?);
            (Some(old), new)
        }
        _ => return None,
    };
    Some(ToolContent::Diff {
        path: path.to_owned(),
        old_text,
        new_text,
    })
}

/// What the hunks of a diff show of the text before and after.
fn sides(diff: &str) -> (String, String) {
    let (mut old, mut new) = (String::new(), String::new());
    let lines = diff.split_inclusive('\n');
    // What is before the first hunk names the files.
    for line in lines.skip_while(|line| !line.starts_with("@@")) {
        let Some(rest) = line.get(1..) else { continue };
        match line.as_bytes().first() {
            Some(b' ') => {
                old.push_str(rest);
                new.push_str(rest);
            }
            Some(b'-') => old.push_str(rest),
            Some(b'+') => new.push_str(rest),
            _ => {}
        }
    }
    (old, new)
}

/// The exit code that the output of a command tells: in words, or in JSON as older versions did.
pub(super) fn exit_code(output: &str) -> Option<i64> {
    if output.starts_with('{') {
        let output: Value = serde_json::from_str(output).ok()?;
        return output.get("metadata")?.get("exit_code")?.as_i64();
    }
    let mut lines = output.lines().take(8);
    lines.find_map(|line| {
        let code = line
            .strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "));
        code.and_then(|code| code.trim().parse().ok())
    })
}

#[cfg(test)]
mod tests;
