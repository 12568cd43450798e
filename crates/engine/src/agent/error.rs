//! Why an agent, or a turn of it, did not come to a good end.

use sessiond_protocol::{ErrorCode, ForeignError, WireError};
use sessiond_wire::process::AgentCommand;

/// Why an agent, or a turn of it, failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    /// `agent_unavailable` where it did not start, `agent_failed` where a turn failed,
    /// `unsupported` where it cannot do this.
    pub code: ErrorCode,
    /// What happened, for the user.
    pub message: String,
    /// The error as the agent's own protocol put it, for a client that speaks that protocol too.
    pub foreign: Option<Box<ForeignError>>,
}

impl AgentError {
    /// The turn failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::AgentFailed,
            message: message.into(),
            foreign: None,
        }
    }

    /// The agent could not be started or went away.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::AgentUnavailable,
            message: message.into(),
            foreign: None,
        }
    }

    /// The program of the agent of this name was not even run.
    pub fn not_run(name: &str, why: &str) -> Self {
        Self::unavailable(format!("the agent `{name}` could not be started: {why}"))
    }

    /// The agent's program ran and was of no use: what happened, and what to do. `remedy` goes behind
    /// the advice to run it in a terminal; it wrote so many lines to its stderr.
    pub fn not_started(
        command: &AgentCommand,
        why: &str,
        (remedy, complaints): (&str, u64),
    ) -> Self {
        let complaints = match complaints {
            0 => String::new(),
            lines => format!(" Lines on its stderr: {lines}; `-v --log-file FILE` keeps them."),
        };
        let (name, line) = (&command.name, command.line());
        Self::unavailable(format!(
            "the agent `{name}` could not be started: {why}; check that `{line}` runs in a \
             terminal{remedy}.{complaints}"
        ))
    }

    /// The agent cannot do this.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Unsupported,
            message: message.into(),
            foreign: None,
        }
    }

    /// The same error with what the agent's own protocol said.
    #[must_use]
    pub fn with_foreign(mut self, foreign: ForeignError) -> Self {
        self.foreign = Some(Box::new(foreign));
        self
    }
}

impl From<AgentError> for WireError {
    fn from(error: AgentError) -> Self {
        WireError {
            foreign: error.foreign,
            ..WireError::new(error.code, error.message)
        }
    }
}

/// The turn is over for the engine (stopped hard, or its log failed): return at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn is over")]
pub struct TurnOver;

impl From<TurnOver> for AgentError {
    fn from(over: TurnOver) -> Self {
        AgentError::failed(over.to_string())
    }
}
