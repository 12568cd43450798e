//! The end of a turn: its one `result`.

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Currency, ErrorCode, SessionId, Stop, TurnEnded, TurnOutcome, Usage, WireError,
};

use super::turn::{Stopped, StoppedAt, Turn};
use crate::line::shortened;
use crate::message::usage;

/// What a result says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    subtype: &'static str,
    terminal: &'static str,
    stop_reason: Option<&'static str>,
    /// What was said last, or what went wrong.
    text: String,
    /// What the answer was asked to be.
    pub(super) structured: Option<Value>,
    /// The exit code that a process has whose last result this is.
    pub(super) exit: i32,
}

/// The subtype of a turn that did not come to its end.
const FAILED: &str = "error_during_execution";

impl Outcome {
    /// An end that is an error of the engine.
    pub(super) fn failed(error: &WireError) -> Self {
        let exit = match error.code {
            // What the program sent was refused; it is no mistake on a command line.
            ErrorCode::Invalid | ErrorCode::Protocol => 1,
            code => code.exit_code(),
        };
        Self {
            subtype: FAILED,
            terminal: "turn_setup_failed",
            stop_reason: None,
            text: error.message.clone(),
            structured: None,
            exit,
        }
    }

    /// A prompt that was dropped before it became a turn.
    pub(super) fn not_run() -> Self {
        Self {
            terminal: "aborted_streaming",
            ..Self::unreadable("the prompt was not run".to_owned())
        }
    }

    /// A prompt that was followed without the agent.
    pub(super) fn local() -> Self {
        Self {
            subtype: "success",
            terminal: "completed",
            stop_reason: None,
            text: String::new(),
            structured: None,
            exit: 0,
        }
    }

    /// An end that the program's own words cannot be followed to.
    pub(super) fn unreadable(problem: String) -> Self {
        Self::failed(&WireError::new(ErrorCode::Invalid, problem))
    }

    /// The end of a turn.
    pub(super) fn of(turn: &Turn, ended: &TurnEnded) -> Self {
        let stop_reason = ended.stop.map(|stop| match stop {
            Stop::EndTurn => "end_turn",
            Stop::MaxTokens => "max_tokens",
            Stop::MaxRequests => "max_turns",
            Stop::Refusal => "refusal",
        });
        let success = |terminal| Self {
            subtype: "success",
            terminal,
            stop_reason,
            text: turn.said.clone(),
            structured: None,
            exit: 0,
        };
        let error = |subtype, terminal, text: String| Self {
            subtype,
            terminal,
            stop_reason: None,
            text,
            structured: None,
            exit: 1,
        };
        match (ended.outcome, &turn.stopped) {
            (TurnOutcome::Completed, _) if ended.stop == Some(Stop::MaxRequests) => {
                let text = "the agent has had all its requests".to_owned();
                error("error_max_turns", "max_turns", text)
            }
            (TurnOutcome::Completed, _) => success("completed"),
            (TurnOutcome::Cancelled, Some(Stopped::MaxTurns(most))) => {
                let text = format!("Reached maximum number of turns ({most})");
                error("error_max_turns", "max_turns", text)
            }
            (TurnOutcome::Cancelled, Some(Stopped::MaxCost)) => {
                let text = "Reached maximum budget".to_owned();
                error("error_max_budget_usd", "budget_exhausted", text)
            }
            (_, Some(Stopped::Hook(reason))) => Self {
                text: reason.clone(),
                ..success("hook_stopped")
            },
            (TurnOutcome::Failed, _) => {
                let failed = ended.error.as_ref().map(Self::failed);
                let unknown = || error(FAILED, "model_error", "the turn failed".to_owned());
                let terminal = "model_error";
                Self {
                    terminal,
                    ..failed.unwrap_or_else(unknown)
                }
            }
            (outcome, _) => {
                let terminal = match turn.stopped_at {
                    StoppedAt::Speaking => "aborted_streaming",
                    StoppedAt::Tool => "aborted_tools",
                };
                let text = match outcome {
                    TurnOutcome::NotRun => "the prompt was not run",
                    _ => "the turn was interrupted",
                };
                error(FAILED, terminal, text.to_owned())
            }
        }
    }

    /// The same for an answer that is not what it was asked to be.
    pub(super) fn misshapen(self, problem: String) -> Self {
        Self {
            subtype: "error_max_structured_output_retries",
            terminal: "structured_output_retry_exhausted",
            text: problem,
            exit: 1,
            ..self
        }
    }

    /// Whether the turn came to its own end.
    pub(super) fn is_success(&self) -> bool {
        self.subtype == "success"
    }

    /// The members of the frame. `turn` is what ran, where anything did.
    pub(super) fn members(&self, turn: Option<&Turn>, counts: Counts) -> Value {
        let elapsed = turn.map_or(0, |turn| turn.began.elapsed().as_millis());
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        let spent = turn.and_then(|turn| turn.usage.as_ref());
        let mut members = json!({
            "subtype": self.subtype,
            "is_error": !self.is_success(),
            "duration_ms": elapsed,
            "duration_api_ms": elapsed,
            "num_turns": turn.map_or(0, |turn| turn.rounds),
            "stop_reason": self.stop_reason,
            "total_cost_usd": spent.map_or(0.0, dollars),
            "usage": usage(spent),
            "modelUsage": turn.map_or_else(|| json!({}), models),
            "permission_denials": turn.map(|turn| turn.denials.clone()).unwrap_or_default(),
            "terminal_reason": self.terminal,
            "result_index": counts.results,
            "queued_turn_count": counts.queued,
        });
        let Some(object) = members.as_object_mut() else {
            return members;
        };
        if self.is_success() {
            object.insert("result".to_owned(), shortened(&self.text).into());
        } else {
            object.insert("errors".to_owned(), json!([shortened(&self.text)]));
        }
        if let Some(structured) = &self.structured {
            object.insert("structured_output".to_owned(), structured.clone());
        }
        let uuid = turn.and_then(|turn| turn.prompt.as_ref()?.uuid.clone());
        if let Some(uuid) = uuid {
            object.insert("user_message_uuid".to_owned(), uuid.into());
        }
        members
    }
}

/// What a result counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    /// Results before this one.
    pub(super) results: u64,
    /// Prompts that wait.
    pub(super) queued: usize,
}

/// What a session has cost, in US dollars.
pub(super) fn dollars(usage: &Usage) -> f64 {
    match usage.cost {
        Some(cost) if cost.currency == Currency::USD => cost.nanos as f64 / 1e9,
        _ => 0.0,
    }
}

/// What each model used, where that is known.
fn models(turn: &Turn) -> Value {
    let Some(usage) = &turn.usage else {
        return json!({});
    };
    let used = json!({
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "cacheReadInputTokens": usage.cached_read.unwrap_or(0),
        "cacheCreationInputTokens": usage.cached_write.unwrap_or(0),
        "webSearchRequests": 0,
        "costUSD": dollars(usage),
        "contextWindow": usage.size,
    });
    let mut models = Map::new();
    models.insert(turn.model.clone(), used);
    Value::Object(models)
}

/// What is said of a session that is not there.
pub(super) fn no_session(name: &str, id: Option<SessionId>) -> WireError {
    let message = match id {
        Some(id) => format!("No conversation found with session ID: {id}"),
        None => format!("No conversation found with session ID or title: {name}"),
    };
    WireError::new(ErrorCode::NotFound, message)
}
