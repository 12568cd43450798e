//! What a client is told whose command finds no session to follow it.

use sessiond_log::LogError;
use sessiond_protocol::{ErrorCode, SessionId, WireError};

use crate::record::log_error;

/// A log that cannot be controlled: why, for the client.
pub(crate) fn refusal(session: SessionId, error: &LogError) -> WireError {
    log_error(error).about(session)
}

/// An error for a command that came to a session that is not open.
pub(crate) fn not_open(session: SessionId) -> WireError {
    let message = "the session is not open on this connection; resume it first";
    WireError::new(ErrorCode::NotFound, message).about(session)
}

/// An error for a client that came while the session was coming to its end.
pub(crate) fn being_closed(session: SessionId) -> WireError {
    let message = "the session is being closed; try again";
    WireError::new(ErrorCode::Busy, message).about(session)
}
