//! What Codex says where the engine refuses. Clients look for these words (codex.md B3).

use sessiond_protocol::{ErrorCode, SessionId, WireError};

/// The text for an error about a thread.
pub(crate) fn text(error: &WireError, thread: Option<SessionId>) -> String {
    let thread = thread.or(error.session);
    match (error.code, thread) {
        (ErrorCode::NotFound, Some(thread)) => format!("no rollout found for thread id {thread}"),
        (ErrorCode::Busy, Some(thread)) => match &error.holder {
            Some(holder) => format!(
                "thread {thread} already has an active writer: process {} on {}",
                holder.pid, holder.host
            ),
            None => format!("thread {thread} already has an active writer"),
        },
        (ErrorCode::Damaged | ErrorCode::TooNew, Some(_)) => {
            format!("error resuming thread: Fatal error: {}", error.message)
        }
        _ => error.message.clone(),
    }
}
