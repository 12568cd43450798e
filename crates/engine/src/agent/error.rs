//! Why an agent, or a turn of it, did not come to a good end.

use sessiond_protocol::{ErrorCode, ForeignError, WireError};

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
