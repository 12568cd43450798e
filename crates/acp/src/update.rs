//! `session/update` as it is written: borrowed shapes, no copies of what they carry.
//!
//! Built by hand rather than from the schema crate: these are the frames that come by the thousand
//! (acp.md 4.6), and content blocks keep members that the schema does not name. The tests read all
//! of them back through the schema.

use serde::Serialize;
use sessiond_protocol::{
    Content, Currency, ItemId, Location, PlanEntry, Severity, ToolCall, ToolContent, ToolKind,
    ToolStatus, Usage,
};

use crate::compaction::CompactionPatch;

/// One update of a session.
#[expect(clippy::enum_variant_names, reason = "the names are the protocol's")]
#[derive(Debug, Serialize)]
#[serde(
    tag = "sessionUpdate",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Update<'a> {
    UserMessageChunk(Chunk<'a>),
    AgentMessageChunk(Chunk<'a>),
    AgentThoughtChunk(Chunk<'a>),
    ToolCall(Call<'a>),
    ToolCallUpdate(CallChange<'a>),
    Plan {
        entries: &'a [PlanEntry],
    },
    SessionInfoUpdate {
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_at: Option<&'a str>,
    },
    CurrentModeUpdate {
        current_mode_id: &'a str,
    },
    UsageUpdate {
        used: u64,
        size: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<Price>,
    },
    Notice {
        severity: Severity,
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
    },
    CompactionUpdate(CompactionPatch<'a>),
}

impl Update<'_> {
    pub(crate) fn usage(usage: &Usage) -> Self {
        Update::UsageUpdate {
            used: usage.used,
            size: usage.size,
            cost: usage.cost.map(|cost| Price {
                amount: cost.amount(),
                currency: cost.currency,
            }),
        }
    }
}

/// What a session has cost so far.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Price {
    amount: f64,
    currency: Currency,
}

/// A piece of a message. The content comes last, so that a frame's text is followed by nothing but
/// brackets (see [`crate::client`]).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message_id: Option<ItemId>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub(crate) meta: Option<Meta>,
    pub(crate) content: Block<'a>,
}

/// A block of content.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Block<'a> {
    Text { r#type: &'static str, text: &'a str },
    Content(&'a Content),
}

impl<'a> Block<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Block::Text {
            r#type: "text",
            text,
        }
    }
}

/// What we say beyond the protocol, under our own key.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Meta {
    pub(crate) sessiond: Remark,
}

/// Why a chunk is not plain conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Remark {
    /// How the text of the message ended.
    Finish(&'static str),
    /// The chunk is no message of anyone: it marks a place.
    Marker(&'static str),
}

impl From<Remark> for Meta {
    fn from(sessiond: Remark) -> Self {
        Self { sessiond }
    }
}

/// A tool call, whole.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call<'a> {
    tool_call_id: ItemId,
    title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    kind: ToolKind,
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    content: Vec<Shown<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    locations: &'a [Location],
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_input: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output: Option<&'a serde_json::Value>,
}

impl<'a> Call<'a> {
    pub(crate) fn whole(id: ItemId, call: &'a ToolCall) -> Self {
        Self {
            tool_call_id: id,
            title: &call.title,
            name: &call.name,
            kind: call.kind,
            status: status(call.status),
            content: call.content.iter().map(Shown::from).collect(),
            locations: &call.locations,
            raw_input: present(&call.input),
            raw_output: present(&call.output),
        }
    }
}

/// What changed about a tool call; absent members did not, collections are replaced.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallChange<'a> {
    pub(crate) tool_call_id: ItemId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<ToolKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Vec<Shown<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) locations: Option<&'a [Location]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw_input: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw_output: Option<&'a serde_json::Value>,
}

impl<'a> CallChange<'a> {
    /// No change yet.
    pub(crate) fn of(tool_call_id: ItemId) -> Self {
        Self {
            tool_call_id,
            title: None,
            kind: None,
            status: None,
            content: None,
            locations: None,
            raw_input: None,
            raw_output: None,
        }
    }

    /// What makes `now` of `before`.
    pub(crate) fn between(id: ItemId, before: &ToolCall, now: &'a ToolCall) -> Self {
        let shown = || now.content.iter().map(Shown::from).collect();
        Self {
            tool_call_id: id,
            title: (before.title != now.title).then_some(now.title.as_str()),
            kind: (before.kind != now.kind).then_some(now.kind),
            status: (before.status != now.status).then_some(status(now.status)),
            content: (before.content != now.content).then(shown),
            locations: (before.locations != now.locations).then_some(now.locations.as_slice()),
            raw_input: present(&now.input).filter(|input| **input != before.input),
            raw_output: present(&now.output).filter(|output| **output != before.output),
        }
    }

    /// Whether nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.title.is_none()
            && self.kind.is_none()
            && self.status.is_none()
            && self.content.is_none()
            && self.locations.is_none()
            && self.raw_input.is_none()
            && self.raw_output.is_none()
    }
}

/// Something a tool call shows.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Shown<'a> {
    Content {
        content: Block<'a>,
    },
    Diff {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        old_text: Option<&'a str>,
        new_text: &'a str,
    },
    Terminal {
        terminal_id: &'a str,
    },
}

impl<'a> Shown<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Shown::Content {
            content: Block::text(text),
        }
    }
}

impl<'a> From<&'a ToolContent> for Shown<'a> {
    fn from(content: &'a ToolContent) -> Self {
        match content {
            ToolContent::Content { content } => Shown::Content {
                content: Block::Content(content),
            },
            ToolContent::Diff {
                path,
                old_text,
                new_text,
            } => Shown::Diff {
                path,
                old_text: old_text.as_deref(),
                new_text,
            },
            ToolContent::Terminal { terminal } => Shown::Terminal {
                terminal_id: terminal,
            },
        }
    }
}

/// ACP v1 knows four states; a call that was cancelled, or whose outcome nobody knows, failed.
pub(crate) fn status(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Pending => "pending",
        ToolStatus::Running => "in_progress",
        ToolStatus::Completed => "completed",
        ToolStatus::Failed | ToolStatus::Cancelled | ToolStatus::Unknown => "failed",
    }
}

fn present(value: &serde_json::Value) -> Option<&serde_json::Value> {
    (!value.is_null()).then_some(value)
}
