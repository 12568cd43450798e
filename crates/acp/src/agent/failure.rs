//! What a client is told where an agent refused or went away.

use sessiond_engine::AgentError;
use sessiond_protocol::ForeignError;
use sessiond_wire::rpc::{CallError, ErrorObject};

/// The agent wants its user to log in first.
pub(super) const AUTH_REQUIRED: i32 = -32000;

/// An error object as the waist keeps it: code, message and data as the agent wrote them.
pub(super) fn foreign(error: &ErrorObject) -> ForeignError {
    let data = error
        .data()
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    ForeignError {
        code: error.code(),
        message: error.message().to_owned(),
        data: data.unwrap_or_default(),
    }
}

/// A call that failed, as the end of a turn or of an extension.
pub(super) fn failed(name: &str, error: CallError) -> AgentError {
    match error {
        CallError::Rpc(error) => {
            let message = format!("{name}: {}", error.message());
            AgentError::failed(message).with_foreign(foreign(&error))
        }
        CallError::Cancelled => AgentError::failed(format!("{name} cancelled the request")),
        CallError::Closed => AgentError::failed(format!("{name} ended before it answered")),
        CallError::Params => AgentError::failed("the request cannot be written as JSON"),
    }
}
