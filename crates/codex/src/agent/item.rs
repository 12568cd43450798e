//! An item of a thread: what it is on the waist.

use serde_json::{Map, Value, json};
use sessiond_protocol::{Location, ToolCall, ToolContent, ToolKind, ToolStatus};

use super::changes;

/// What an item of Codex is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Native {
    /// What the user said, which is known here.
    User,
    /// What the agent says: its text so far.
    Message(String),
    /// What it thinks: its text so far.
    Thought(String),
    /// A tool call, whole.
    Call(Box<ToolCall>),
    /// It sums up its context by itself.
    Compaction,
    /// Nothing of the conversation.
    Other,
}

/// Reads an item: Codex's own id of it, and what it is. None where it is malformed.
pub(super) fn read(item: &Value) -> Option<(&str, Native)> {
    let id = text(item, "id")?;
    let native = match text(item, "type")? {
        "userMessage" => Native::User,
        "agentMessage" | "plan" => Native::Message(text(item, "text")?.to_owned()),
        "reasoning" => Native::Thought(thought(item)),
        "contextCompaction" => Native::Compaction,
        // What hooks and tools of clients told the model, and marks of reviews.
        "hookPrompt" | "functionCallOutput" | "enteredReviewMode" => Native::Other,
        "exitedReviewMode" => Native::Message(text(item, "review").unwrap_or_default().to_owned()),
        kind => Native::Call(Box::new(ToolCall {
            native: Some(id.to_owned()),
            status: status(item),
            ..call(kind, item)
        })),
    };
    Some((id, native))
}

fn call(kind: &str, item: &Value) -> ToolCall {
    match kind {
        "commandExecution" => command(item),
        "fileChange" => {
            let (content, locations) = changes::read(&item["changes"]);
            let paths: Vec<&str> = locations.iter().map(|at| at.path.as_str()).collect();
            ToolCall {
                name: "apply_patch".to_owned(),
                title: paths.join(", "),
                kind: ToolKind::Edit,
                content,
                locations,
                ..ToolCall::default()
            }
        }
        "mcpToolCall" => mcp(item),
        "dynamicToolCall" => {
            let tool = text(item, "tool").unwrap_or(kind);
            ToolCall {
                name: tool.to_owned(),
                title: tool.to_owned(),
                input: item["arguments"].clone(),
                content: texts(&item["contentItems"]),
                ..ToolCall::default()
            }
        }
        "webSearch" => named(item, kind, ("web_search", "query", ToolKind::Fetch)),
        "imageView" => named(item, kind, ("view_image", "path", ToolKind::Read)),
        "collabAgentToolCall" => named(item, kind, ("agent", "tool", ToolKind::Other)),
        "imageGeneration" => named(
            item,
            kind,
            ("image_generation", "revisedPrompt", ToolKind::Other),
        ),
        kind => named(item, kind, (kind, "title", ToolKind::Other)),
    }
}

fn command(item: &Value) -> ToolCall {
    let command = text(item, "command").unwrap_or_default();
    let output = text(item, "aggregatedOutput").filter(|output| !output.is_empty());
    let mut result = Map::new();
    for (ours, theirs) in [("exit_code", "exitCode"), ("duration_ms", "durationMs")] {
        if let Some(value) = item.get(theirs).filter(|value| value.is_number()) {
            result.insert(ours.to_owned(), value.clone());
        }
    }
    ToolCall {
        name: "shell".to_owned(),
        title: command.to_owned(),
        kind: ToolKind::Execute,
        input: json!({ "command": command, "cwd": item["cwd"] }),
        output: match result.is_empty() {
            true => Value::Null,
            false => result.into(),
        },
        content: output.map(ToolContent::text).into_iter().collect(),
        ..ToolCall::default()
    }
}

fn mcp(item: &Value) -> ToolCall {
    let part = |name| text(item, name).unwrap_or_default();
    let (server, tool) = (part("server"), part("tool"));
    let mut content = texts(&item["result"]["content"]);
    if let Some(message) = item["error"]["message"].as_str() {
        content.push(ToolContent::text(message));
    }
    ToolCall {
        name: format!("mcp__{server}__{tool}"),
        title: format!("{server}: {tool}"),
        input: item["arguments"].clone(),
        output: item["result"]["structuredContent"].clone(),
        content,
        ..ToolCall::default()
    }
}

/// A call that is told by one member: what it is called, the member, its kind. Its members are its
/// input.
fn named(item: &Value, fallback: &str, (name, member, kind): (&str, &str, ToolKind)) -> ToolCall {
    let about = text(item, member).filter(|about| !about.is_empty());
    let mut input = item.as_object().cloned().unwrap_or_default();
    for own in ["type", "id", "status", "startedAtMs", "completedAtMs"] {
        input.remove(own);
    }
    input.retain(|_, value| !value.is_null());
    let place = about.filter(|_| member == "path").map(|path| Location {
        path: path.to_owned(),
        line: None,
    });
    ToolCall {
        name: name.to_owned(),
        title: about.unwrap_or(fallback).to_owned(),
        kind,
        input: input.into(),
        locations: place.into_iter().collect(),
        ..ToolCall::default()
    }
}

/// How an item stands. What has no status of its own is done as soon as it is there: an end follows
/// its beginning at once.
fn status(item: &Value) -> ToolStatus {
    match text(item, "status") {
        Some("inProgress" | "in_progress" | "generating") => ToolStatus::Running,
        Some("failed" | "declined") => ToolStatus::Failed,
        Some(_) => ToolStatus::Completed,
        None if item["completedAtMs"].is_null() => ToolStatus::Running,
        None => ToolStatus::Completed,
    }
}

fn thought(item: &Value) -> String {
    let part = |name: &str| {
        let parts = item[name].as_array().into_iter().flatten();
        let parts: Vec<&str> = parts.filter_map(Value::as_str).collect();
        parts.join("\n\n")
    };
    let summary = part("summary");
    if summary.is_empty() {
        return part("content");
    }
    summary
}

fn texts(blocks: &Value) -> Vec<ToolContent> {
    let blocks = blocks.as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| text(block, "text"));
    texts.map(ToolContent::text).collect()
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member)?.as_str()
}

#[cfg(test)]
mod tests;
