//! How a call ended.

use serde_json::json;
use sessiond_protocol::{Content, ToolCall, ToolContent, ToolStatus};

use super::line::{Outcome, Payload, Shown};
use super::out::REJECTED;
use super::tool;

/// How the last line of an output says that somebody did not let a call run, or run to its end.
const REFUSED: [&str; 5] = [
    "aborted",
    "aborted by user",
    "exec command rejected by user",
    "patch rejected by user",
    "approval request failed",
];

/// How an output begins that says that a call could not be made.
const FAILED: [&str; 2] = ["exec_command failed: ", "unsupported call: "];

/// How a refusal is said inside of such an output.
const UNMADE: &str = "CreateProcess { message: \"Rejected(";

/// How a call ended.
#[derive(Debug, Default)]
pub(super) struct How {
    status: Option<ToolStatus>,
    exit_code: Option<i64>,
    diffs: Vec<ToolContent>,
}

/// How an item says that a call ended.
pub(super) fn of_item(item: &Shown<'_>) -> How {
    let why = item
        .error
        .0
        .as_ref()
        .and_then(|error| error.message.as_str());
    let status = match why.is_some_and(|why| why.starts_with(REJECTED)) {
        true => Some(ToolStatus::Cancelled),
        false => status_of(item.status.as_str()),
    };
    How {
        status,
        exit_code: item.exit_code.0,
        diffs: tool::diffs(&item.changes),
    }
}

/// How the older events say that a call ended.
pub(super) fn of_event(payload: &Payload<'_>) -> How {
    let by_result = match payload.result {
        Outcome::Bad => Some(ToolStatus::Failed),
        Outcome::Rejected => Some(ToolStatus::Cancelled),
        Outcome::Good => Some(ToolStatus::Completed),
        Outcome::Nothing | Outcome::Text(_) => None,
    };
    let by_success = payload.success.as_bool().map(|success| match success {
        true => ToolStatus::Completed,
        false => ToolStatus::Failed,
    });
    let status = status_of(payload.status.as_str());
    How {
        status: status.or(by_success).or(by_result),
        exit_code: payload.exit_code.0,
        diffs: tool::diffs(&payload.changes),
    }
}

fn status_of(status: Option<&str>) -> Option<ToolStatus> {
    match status? {
        "completed" => Some(ToolStatus::Completed),
        "failed" => Some(ToolStatus::Failed),
        "declined" => Some(ToolStatus::Cancelled),
        _ => None,
    }
}

/// The call has its result.
pub(super) fn end(call: &mut ToolCall, content: Vec<Content>, how: How) {
    let text = content
        .first()
        .and_then(Content::as_text)
        .unwrap_or_default();
    let exit_code = how.exit_code.or_else(|| tool::exit_code(text));
    call.status = match (how.status, exit_code) {
        (Some(status), _) => status,
        (None, Some(0)) => ToolStatus::Completed,
        (None, Some(_)) => ToolStatus::Failed,
        (None, None) => by_words(text),
    };
    if let Some(code) = exit_code {
        call.output = json!({ "exit_code": code });
    }
    call.content = how.diffs;
    let content = content.into_iter();
    call.content
        .extend(content.map(|content| ToolContent::Content { content }));
}

/// How a call ended, where nothing but its output tells: Codex has no other word for it.
fn by_words(output: &str) -> ToolStatus {
    let last = output.lines().next_back().unwrap_or_default();
    if REFUSED.contains(&last) || output.starts_with("aborted by user after ") {
        return ToolStatus::Cancelled;
    }
    let has_failed = FAILED.iter().any(|begins| output.starts_with(begins));
    match has_failed {
        true if output.contains(UNMADE) => ToolStatus::Cancelled,
        true => ToolStatus::Failed,
        false => ToolStatus::Completed,
    }
}
