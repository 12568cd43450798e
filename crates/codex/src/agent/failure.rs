//! Why a request to Codex has no result, and what its user is told of it.

use serde_json::Value;
use sessiond_engine::AgentError;
use sessiond_protocol::ForeignError;
use sessiond_wire::rpc::{CallError, ErrorObject};

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Failed {
    /// Codex refused it.
    #[error("error {}: {}", .0.code(), .0.message())]
    Refused(ErrorObject),
    /// It did not answer in this many seconds.
    #[error("no answer within {0} s")]
    Late(u64),
    /// It ended first.
    #[error("it ended before it answered")]
    Gone,
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Rpc(error) => Failed::Refused(error),
            CallError::Cancelled | CallError::Closed | CallError::Params => Failed::Gone,
        }
    }
}

impl Failed {
    /// The end of a turn that could not begin.
    pub(super) fn into_error(self, agent: &str) -> AgentError {
        let message = match &self {
            Failed::Refused(error) => format!("{agent}: {}", error.message()),
            failed => format!("{agent}: {failed}"),
        };
        let failed = AgentError::failed(message);
        match self {
            Failed::Refused(error) => failed.with_foreign(foreign(&error)),
            Failed::Late(_) | Failed::Gone => failed,
        }
    }
}

/// An error object as the waist keeps it: code, message and data as Codex wrote them.
pub(super) fn foreign(error: &ErrorObject) -> ForeignError {
    let data = error
        .data()
        .and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    ForeignError {
        code: error.code(),
        message: error.message().to_owned(),
        data: data.unwrap_or_default(),
    }
}
