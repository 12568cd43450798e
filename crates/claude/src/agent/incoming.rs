//! Lines of the CLI, judged (WIRE-14).

use sessiond_wire::program::{self, Judged};
use sessiond_wire::{BadLine, Line};

use crate::control::{self, Message};

/// What comes from the CLI.
pub(super) type Incoming = program::Incoming<Message>;

/// What a line is.
pub(super) fn judge(line: Line) -> Judged<Message> {
    let text = match line {
        Line::Text(text) => text,
        Line::Bad(BadLine::NotUtf8) => return Judged::Bad,
        Line::Bad(BadLine::TooLong { .. }) => return Judged::Broken,
    };
    match control::read(&text) {
        // Every message has these, and what a library logs has neither (claude.md 3).
        Err(_) if text.contains("\"session_id\"") || text.contains("\"request_id\"") => {
            Judged::Broken
        }
        Err(_) => Judged::Bad,
        // Types of later versions are messages; what has no type is none.
        Ok(Message::Ignored) => Judged::Bad,
        Ok(message) => Judged::Message(message),
    }
}

#[cfg(test)]
mod tests;
