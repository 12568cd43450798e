//! Items of a thread, as the app-server shows them: live and stored ones alike.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use sessiond_protocol::{Content, Item as Said, ItemId, ToolCall, ToolContent, ToolStatus};

use crate::call::{Shape, exit_code, shown};
use crate::change::{Change, ChangeKind};
use crate::prompt;

/// An item with its times, milliseconds of the Unix epoch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    #[serde(flatten)]
    pub(super) detail: Detail,
    pub(super) started_at_ms: Option<i64>,
    pub(super) completed_at_ms: Option<i64>,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum Detail {
    UserMessage {
        id: String,
        client_id: Option<String>,
        content: Vec<Value>,
    },
    AgentMessage {
        id: String,
        text: String,
        phase: Option<String>,
    },
    Reasoning {
        id: String,
        summary: Vec<String>,
        content: Vec<String>,
    },
    CommandExecution {
        id: String,
        command: String,
        cwd: String,
        source: &'static str,
        status: Status,
        command_actions: Vec<Value>,
        aggregated_output: Option<String>,
        exit_code: Option<i32>,
        duration_ms: Option<i64>,
    },
    FileChange {
        id: String,
        changes: Vec<Value>,
        status: Status,
    },
    McpToolCall {
        id: String,
        server: String,
        tool: String,
        status: Status,
        arguments: Value,
        result: Option<Value>,
        error: Option<Value>,
        duration_ms: Option<i64>,
    },
    ContextCompaction {
        id: String,
    },
}

impl Detail {
    /// The item's id.
    pub(super) fn id(&self) -> &str {
        match self {
            Detail::UserMessage { id, .. }
            | Detail::AgentMessage { id, .. }
            | Detail::Reasoning { id, .. }
            | Detail::CommandExecution { id, .. }
            | Detail::FileChange { id, .. }
            | Detail::McpToolCall { id, .. }
            | Detail::ContextCompaction { id } => id,
        }
    }
}

impl Detail {
    /// The text of it that may be long, and the member that it is shown as.
    pub(super) fn long(&mut self) -> Option<(&'static str, &mut String)> {
        match self {
            Detail::AgentMessage { text, .. } => Some(("text", text)),
            Detail::CommandExecution {
                aggregated_output: Some(output),
                ..
            } => Some(("aggregatedOutput", output)),
            _ => None,
        }
    }
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
    /// Somebody said that it may not run.
    Declined,
}

/// What is known of an item beside what was said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) id: ItemId,
    /// The thread's directory.
    pub(super) cwd: &'a str,
    /// Whether it was declined.
    pub(super) verdict: Verdict,
    pub(super) started: Option<i64>,
    pub(super) completed: Option<i64>,
}

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Verdict {
    /// Nothing, or that it may run.
    #[default]
    Open,
    /// That it may not.
    Declined,
}

/// An item; none for a plan, which is told by a notification alone, and for a message that says
/// nothing.
pub(super) fn item(said: &Said, place: Place<'_>) -> Option<Item> {
    let id = place.id.to_string();
    let detail = match said {
        Said::UserMessage { content } if content.iter().all(is_nothing) => return None,
        Said::UserMessage { content } => Detail::UserMessage {
            id,
            client_id: None,
            content: content.iter().filter_map(input).collect(),
        },
        Said::AgentMessage { text, .. } => Detail::AgentMessage {
            id,
            text: text.clone(),
            phase: None,
        },
        Said::Thought { text, .. } => Detail::Reasoning {
            id,
            summary: Some(text.clone())
                .filter(|text| !text.is_empty())
                .into_iter()
                .collect(),
            content: Vec::new(),
        },
        Said::ToolCall(call) => called(call, id, place),
        Said::Compaction(_) => Detail::ContextCompaction { id },
        Said::Plan { .. } => return None,
    };
    Some(Item {
        detail,
        started_at_ms: place.started,
        completed_at_ms: place.completed,
    })
}

impl Item {
    /// The text, if it is a message of the agent.
    pub(super) fn answer(&self) -> Option<&str> {
        match &self.detail {
            Detail::AgentMessage { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The text, if it is a message of the user.
    pub(super) fn said(&self) -> Option<&str> {
        match &self.detail {
            Detail::UserMessage { content, .. } => {
                content.iter().find_map(|block| block.get("text")?.as_str())
            }
            _ => None,
        }
    }
}

fn called(call: &ToolCall, id: String, place: Place<'_>) -> Detail {
    let status = match (call.status, place.verdict) {
        (ToolStatus::Pending | ToolStatus::Running, _) => Status::InProgress,
        (ToolStatus::Completed, _) => Status::Completed,
        (_, Verdict::Declined) => Status::Declined,
        (ToolStatus::Failed | ToolStatus::Cancelled | ToolStatus::Unknown, Verdict::Open) => {
            Status::Failed
        }
    };
    let times = place.started.zip(place.completed);
    let duration_ms = times.map(|(started, completed)| (completed - started).max(0));
    let text = shown(call);
    match Shape::of(call) {
        Shape::Command { command, cwd } => Detail::CommandExecution {
            id,
            command_actions: vec![json!({ "type": "unknown", "command": command })],
            command,
            cwd: cwd.unwrap_or_else(|| place.cwd.to_owned()),
            source: "agent",
            status,
            aggregated_output: Some(text).filter(|text| !text.is_empty()),
            exit_code: exit_code(call),
            duration_ms,
        },
        Shape::Change(changes) => Detail::FileChange {
            id,
            changes: changes.iter().map(changed).collect(),
            status,
        },
        Shape::Tool {
            server,
            tool,
            arguments,
        } => Detail::McpToolCall {
            id,
            server,
            tool,
            // A tool's status has no word for it.
            status: match status {
                Status::Declined => Status::Failed,
                status => status,
            },
            arguments,
            result: (status == Status::Completed).then(|| {
                let structured = Some(&call.output).filter(|output| !output.is_null());
                json!({ "content": blocks(call), "structuredContent": structured })
            }),
            error: matches!(status, Status::Failed | Status::Declined)
                .then(|| json!({ "message": text })),
            duration_ms,
        },
    }
}

fn blocks(call: &ToolCall) -> Vec<&Content> {
    let contents = call.content.iter().filter_map(|content| match content {
        ToolContent::Content { content } => Some(content),
        ToolContent::Diff { .. } | ToolContent::Terminal { .. } => None,
    });
    contents.collect()
}

fn changed(change: &Change) -> Value {
    let kind = match change.kind {
        ChangeKind::Add => json!({ "type": "add" }),
        ChangeKind::Delete => json!({ "type": "delete" }),
        ChangeKind::Update => json!({ "type": "update", "move_path": null }),
    };
    json!({ "path": change.path, "kind": kind, "diff": change.diff })
}

/// Whether a block says nothing: a turn that was begun without a message has one.
fn is_nothing(content: &Content) -> bool {
    content.as_text() == Some("")
}

/// A block of what the user said; none for what this face put there itself.
fn input(content: &Content) -> Option<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text, "text_elements": [] });
    Some(match content {
        Content::Text { text: said, .. } => text(said),
        Content::Image {
            data, mime_type, ..
        } => json!({ "type": "image", "url": format!("data:{mime_type};base64,{data}") }),
        Content::ResourceLink { uri, name, .. } => match uri.strip_prefix("file://") {
            Some(path) => json!({ "type": "mention", "name": name, "path": path }),
            None => text(uri),
        },
        Content::Resource { resource, .. } if prompt::is_schema(resource) => return None,
        Content::Resource { resource, .. } => {
            let uri = resource.get("uri").and_then(Value::as_str);
            text(uri.unwrap_or("[a resource]"))
        }
        Content::Audio { .. } => text("[a sound]"),
    })
}

/// Whether a path is absolute.
pub(super) fn is_absolute(path: &str) -> bool {
    Path::new(path).is_absolute()
}

#[cfg(test)]
mod tests;
