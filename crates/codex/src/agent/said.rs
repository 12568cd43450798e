//! Notifications of Codex, read.

use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_protocol::{PlanEntry, PlanPriority, PlanStatus, Severity};
use sessiond_wire::rpc::{RawId, cancelled_id};

use super::item::{self, Native};
use super::usage::Spent;

/// Notifications that say nothing which is shown or kept: Codex is asked not to send them.
pub(super) const UNWANTED: [&str; 7] = [
    "account/rateLimits/updated",
    "app/list/updated",
    "deprecationNotice",
    "mcpServer/startupStatus/updated",
    "remoteControl/status/changed",
    "thread/readState/changed",
    "turn/diff/updated",
];

/// How a turn of Codex ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ended {
    /// It was done.
    Completed,
    /// It was stopped.
    Interrupted,
    /// It failed, for this reason.
    Failed(String),
}

/// What a notification says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// Something of a turn.
    Turn(String, InTurn),
    /// What the thread has used; `turn` names the newest turn, which may be an old one.
    Spent(Spent),
    /// The settings in force.
    Settings(Value),
    /// What the user calls the thread.
    Title(String),
    /// Something that the user should know.
    Notice(Severity, String),
    /// A request of Codex is settled without us.
    Resolved(RawId),
    /// Nothing: it is malformed, about another thread (ADAPT-8), or of no interest.
    Nothing,
}

/// What happens in a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InTurn {
    /// It begins.
    Started,
    /// An item begins, or is told anew.
    Item(String, Native),
    /// An item ends.
    ItemEnded(String, Native),
    /// More of a message.
    Text(String, String),
    /// More of a thought.
    Thought(String, String),
    /// More of a thought as the model had it; some models have no summary of it.
    RawThought(String, String),
    /// A thought goes on with another part.
    ThoughtPart(String),
    /// A command printed this.
    Output(String, String),
    /// The changes of a call are these.
    Changes(String, Value),
    /// The plan, whole.
    Plan(Vec<PlanEntry>),
    /// It ends.
    Ended(Ended),
}

/// Reads a notification about the thread with this id.
pub(super) fn read(thread: &str, method: &str, params: Option<&RawValue>) -> Said {
    let raw = params.map_or("null", RawValue::get);
    let Ok(told) = serde_json::from_str::<Value>(raw) else {
        return Said::Nothing;
    };
    if told["threadId"].as_str().is_some_and(|of| of != thread) {
        return Said::Nothing;
    }
    of_thread(method, &told, params).unwrap_or(Said::Nothing)
}

fn of_thread(method: &str, told: &Value, params: Option<&RawValue>) -> Option<Said> {
    let text = |member: &str| told[member].as_str().map(str::to_owned);
    Some(match method {
        "thread/tokenUsage/updated" => Said::Spent(Spent::read(&told["tokenUsage"])?),
        "thread/settings/updated" => Said::Settings(told["threadSettings"].clone()),
        "thread/name/updated" => Said::Title(text("threadName")?),
        "warning" | "guardianWarning" => Said::Notice(Severity::Warning, text("message")?),
        "configWarning" => Said::Notice(Severity::Info, text("summary")?),
        "model/rerouted" => {
            let (from, to) = (text("fromModel")?, text("toModel")?);
            let title = format!("Codex went from model {from} to {to}");
            Said::Notice(Severity::Warning, title)
        }
        // One that is not tried again is the end of the turn, which says it.
        "error" if told["willRetry"] == true => {
            let message = told["error"]["message"].as_str()?;
            Said::Notice(Severity::Info, format!("Codex tries again: {message}"))
        }
        "serverRequest/resolved" => Said::Resolved(cancelled_id(params?)?),
        method => {
            let turn = told["turnId"].as_str().or(told["turn"]["id"].as_str())?;
            Said::Turn(turn.to_owned(), in_turn(method, told)?)
        }
    })
}

fn in_turn(method: &str, told: &Value) -> Option<InTurn> {
    let text = |member: &str| told[member].as_str().map(str::to_owned);
    let piece = || Some((text("itemId")?, text("delta")?));
    let item = || item::read(&told["item"]).map(|(id, native)| (id.to_owned(), native));
    Some(match method {
        "turn/started" => InTurn::Started,
        "turn/completed" => InTurn::Ended(ended(&told["turn"])),
        "turn/plan/updated" => InTurn::Plan(plan(&told["plan"])),
        "item/started" => {
            let (id, native) = item()?;
            InTurn::Item(id, native)
        }
        "item/completed" => {
            let (id, native) = item()?;
            InTurn::ItemEnded(id, native)
        }
        "item/agentMessage/delta" | "item/plan/delta" => {
            let (id, text) = piece()?;
            InTurn::Text(id, text)
        }
        "item/reasoning/summaryTextDelta" => {
            let (id, text) = piece()?;
            InTurn::Thought(id, text)
        }
        "item/reasoning/textDelta" => {
            let (id, text) = piece()?;
            InTurn::RawThought(id, text)
        }
        "item/reasoning/summaryPartAdded" if told["summaryIndex"].as_u64()? > 0 => {
            InTurn::ThoughtPart(text("itemId")?)
        }
        "item/commandExecution/outputDelta" => {
            let (id, text) = piece()?;
            InTurn::Output(id, text)
        }
        "item/fileChange/patchUpdated" => InTurn::Changes(text("itemId")?, told["changes"].clone()),
        _ => return None,
    })
}

fn ended(turn: &Value) -> Ended {
    match turn["status"].as_str() {
        Some("completed") => Ended::Completed,
        Some("interrupted") => Ended::Interrupted,
        _ => {
            let error = &turn["error"];
            let message = error["message"].as_str().unwrap_or("the turn failed");
            let more = error["additionalDetails"].as_str();
            let more = more.map(|more| format!("\n{more}")).unwrap_or_default();
            Ended::Failed(format!("{message}{more}"))
        }
    }
}

fn plan(steps: &Value) -> Vec<PlanEntry> {
    let steps = steps.as_array().into_iter().flatten();
    let entry = |step: &Value| {
        Some(PlanEntry {
            content: step["step"].as_str()?.to_owned(),
            priority: PlanPriority::default(),
            status: match step["status"].as_str() {
                Some("completed") => PlanStatus::Completed,
                Some("inProgress") => PlanStatus::InProgress,
                _ => PlanStatus::Pending,
            },
        })
    };
    steps.filter_map(entry).collect()
}

#[cfg(test)]
mod tests;
