//! What a session does now, as the client is told it.

use serde::Serialize;
use sessiond_protocol::{SessionId, Stop, TurnEnded, TurnOutcome, Usage};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, error};

use crate::prompt::total;
use crate::refusal::from_waist;

/// The state of a session.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum State {
    Running {},
    /// All of the foreground waits for the user.
    RequiresAction {},
    Idle(Idle),
}

/// That nothing runs, and how what ran has ended.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Idle {
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Spent>,
}

/// Tokens of a turn.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Spent {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_write_tokens: Option<u64>,
}

impl From<Usage> for Spent {
    fn from(usage: Usage) -> Self {
        Self {
            total_tokens: total(&usage),
            input_tokens: usage.input,
            output_tokens: usage.output,
            thought_tokens: usage.thought,
            cached_read_tokens: usage.cached_read,
            cached_write_tokens: usage.cached_write,
        }
    }
}

impl Idle {
    /// How a turn has ended.
    pub(super) fn after(ended: &TurnEnded, session: SessionId) -> Self {
        let stop_reason = Some(match ended.outcome {
            TurnOutcome::Completed => match ended.stop {
                None | Some(Stop::EndTurn) => "end_turn",
                Some(Stop::MaxTokens) => "max_tokens",
                Some(Stop::MaxRequests) => "max_turn_requests",
                Some(Stop::Refusal) => "refusal",
            },
            TurnOutcome::Cancelled => "cancelled",
            TurnOutcome::Failed | TurnOutcome::Interrupted | TurnOutcome::NotRun => "error",
        });
        let error = (stop_reason == Some("error")).then(|| failure(ended, session));
        Self {
            stop_reason,
            error,
            usage: ended.usage.map(Spent::from),
        }
    }
}

/// What went wrong with a turn.
pub(super) fn failure(ended: &TurnEnded, session: SessionId) -> ErrorObject {
    match &ended.error {
        Some(failed) => from_waist(failed, &session.to_string()),
        None => error(INTERNAL_ERROR, "The turn failed"),
    }
}
