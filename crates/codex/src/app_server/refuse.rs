//! What a request is refused with (codex.md B3).

use serde_json::json;
use sessiond_protocol::{ErrorCode, SessionId, WireError};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, error};

use crate::refusal;

/// Too much is asked at once; the SDK tries again where the data says so.
const OVERLOADED: i32 = -32001;

/// An error with a text of Codex's.
pub(super) fn invalid(text: impl Into<String>) -> ErrorObject {
    error(INVALID_REQUEST, text)
}

/// A known method that is not served here.
pub(super) fn unsupported(method: &str) -> ErrorObject {
    error(METHOD_NOT_FOUND, format!("{method} is not supported yet"))
}

/// A thread that is not loaded, for what needs one that is.
pub(super) fn not_found(thread: SessionId) -> ErrorObject {
    invalid(format!("thread not found: {thread}"))
}

/// A thread that there is none of, for what only looks.
pub(super) fn not_loaded(thread: SessionId) -> ErrorObject {
    invalid(format!("thread not loaded: {thread}"))
}

/// What the engine refused about a thread.
pub(super) fn refused(wire: &WireError, thread: SessionId) -> ErrorObject {
    match wire.code {
        ErrorCode::QueueFull => ErrorObject::owned(
            OVERLOADED,
            "Server overloaded; retry later.",
            Some(json!({ "codexErrorInfo": "server_overloaded" })),
        ),
        ErrorCode::Damaged
        | ErrorCode::TooNew
        | ErrorCode::Storage
        | ErrorCode::LeaseLost
        | ErrorCode::AgentUnavailable
        | ErrorCode::AgentFailed
        | ErrorCode::Internal => error(INTERNAL_ERROR, refusal::text(wire, Some(thread))),
        _ => invalid(refusal::text(wire, Some(thread))),
    }
}

/// What the engine refused about a log that was only to be read.
pub(super) fn unreadable(wire: &WireError, thread: SessionId) -> ErrorObject {
    match wire.code {
        ErrorCode::NotFound => not_loaded(thread),
        ErrorCode::Damaged | ErrorCode::TooNew | ErrorCode::Storage => error(
            INTERNAL_ERROR,
            format!(
                "failed to read thread: thread-store internal error: {}",
                wire.message
            ),
        ),
        _ => refused(wire, thread),
    }
}

/// A receipt of another kind than the op has: a fault of ours.
pub(super) fn unexpected() -> ErrorObject {
    error(INTERNAL_ERROR, "Internal error")
}
