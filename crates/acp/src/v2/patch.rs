//! Tool calls: the first patch of an id makes the call, each later one changes it.

use serde::Serialize;
use sessiond_protocol::{ItemId, Location, Stoppable, ToolCall, ToolContent, ToolKind, ToolStatus};

use super::change::Diff;
use crate::update::Block;

/// What becomes of a tool call. Absent members stay as they are, collections are replaced.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallPatch<'a> {
    tool_call_id: ItemId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ToolKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<Shown<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<Place<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_input: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output: Option<&'a serde_json::Value>,
    /// Null where it can be stopped no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Option<Capabilities>>,
}

/// What a client may do to a call, or to its terminal, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Capabilities {
    cancel: Cancel,
}

/// That it may be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Cancel {}

/// Whether a call can be stopped now.
pub(super) fn stops(call: &ToolCall) -> bool {
    call.stoppable == Stoppable::Yes && !call.status.is_final()
}

/// What a client may do to a call as it stands.
pub(super) fn capabilities(call: &ToolCall) -> Option<Capabilities> {
    stops(call).then_some(Capabilities { cancel: Cancel {} })
}

/// A place in a file; lines count from 1.
#[derive(Debug, Serialize)]
struct Place<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> From<&'a Location> for Place<'a> {
    fn from(location: &'a Location) -> Self {
        Self {
            path: &location.path,
            line: location.line.filter(|line| *line > 0),
        }
    }
}

impl<'a> CallPatch<'a> {
    /// What makes the call.
    pub(super) fn whole(id: ItemId, call: &'a ToolCall) -> Self {
        let locations: Vec<_> = call.locations.iter().map(Place::from).collect();
        Self {
            tool_call_id: id,
            name: Some(&*call.name).filter(|name| !name.is_empty()),
            title: Some(&call.title),
            kind: Some(call.kind),
            status: Some(status(call.status)),
            content: Some(shown(&call.content)).filter(|shown| !shown.is_empty()),
            locations: Some(locations).filter(|locations| !locations.is_empty()),
            raw_input: present(&call.input),
            raw_output: present(&call.output),
            capabilities: capabilities(call).map(Some),
        }
    }

    /// What makes `now` of `before`; what is shown is left to the caller, who knows of its terminal.
    pub(super) fn between(id: ItemId, before: &ToolCall, now: &'a ToolCall) -> Self {
        let moved = before.locations != now.locations;
        Self {
            tool_call_id: id,
            name: (before.name != now.name).then_some(&*now.name),
            title: (before.title != now.title).then_some(&*now.title),
            kind: (before.kind != now.kind).then_some(now.kind),
            status: (status(before.status) != status(now.status)).then(|| status(now.status)),
            content: None,
            locations: moved.then(|| now.locations.iter().map(Place::from).collect()),
            raw_input: present(&now.input).filter(|input| **input != before.input),
            raw_output: present(&now.output).filter(|output| **output != before.output),
            capabilities: (stops(before) != stops(now)).then(|| capabilities(now)),
        }
    }

    /// That nobody knows what became of the call.
    pub(super) fn lost(id: ItemId, before: &ToolCall) -> Self {
        Self {
            tool_call_id: id,
            name: None,
            title: None,
            kind: None,
            status: Some(status(ToolStatus::Unknown)),
            content: None,
            locations: None,
            raw_input: None,
            raw_output: None,
            capabilities: stops(before).then_some(None),
        }
    }

    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.title.is_none()
            && self.kind.is_none()
            && self.status.is_none()
            && self.content.is_none()
            && self.locations.is_none()
            && self.raw_input.is_none()
            && self.raw_output.is_none()
            && self.capabilities.is_none()
    }
}

/// Something a tool call shows.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Shown<'a> {
    Content { content: Block<'a> },
    Diff(Diff<'a>),
    Terminal { terminal_id: ItemId },
}

/// What a call shows, but for terminals of the client: this version has none, and one that another
/// client had is gone.
pub(super) fn shown(content: &[ToolContent]) -> Vec<Shown<'_>> {
    content.iter().filter_map(show).collect()
}

fn show(content: &ToolContent) -> Option<Shown<'_>> {
    match content {
        ToolContent::Content { content } => Some(Shown::Content {
            content: Block::Content(content),
        }),
        ToolContent::Diff {
            path,
            old_text,
            new_text,
        } => Some(Shown::Diff(Diff::of(path, old_text.as_deref(), new_text))),
        ToolContent::Terminal { .. } => None,
    }
}

/// A call whose outcome nobody knows has failed, as far as this protocol can say.
fn status(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Pending => "pending",
        ToolStatus::Running => "in_progress",
        ToolStatus::Completed => "completed",
        ToolStatus::Cancelled => "cancelled",
        ToolStatus::Failed | ToolStatus::Unknown => "failed",
    }
}

fn present(value: &serde_json::Value) -> Option<&serde_json::Value> {
    (!value.is_null()).then_some(value)
}
