//! An answer that holds the turns of a thread: one line, written while they are read.
//!
//! A turn is written once nothing is added to it any more, and forgotten. Where little comes together
//! the answer is one frame, as any other; beyond [`PIECE_BYTES`] the line goes out piece by piece, and
//! all else that is said to the client waits until it has ended. An answer that fails before is an
//! error. One that fails later is closed as the JSON object that it is, with the turns that it has and
//! the member `error` beside them: no line is ever left unfinished before another.

use serde::Serialize;
use serde_json::Value;
use sessiond_protocol::SessionId;
use sessiond_wire::rpc::{ErrorObject, RawId};

use super::past::Turn;

/// Bytes of the line that go out together: enough for one write, little beside what waits in the
/// queue anyway.
const PIECE_BYTES: usize = 256 * 1024;

/// How much of an answer has gone out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing.
    Nothing,
    /// The beginning of its line.
    Part,
}

/// The answer to a request for a thread, as far as it is.
#[derive(Debug)]
pub(super) struct Answer {
    id: RawId,
    /// The thread that is shown, once it is known: a fork is made first.
    pub(super) session: Option<SessionId>,
    pub(super) sent: Sent,
    text: Vec<u8>,
    turns: usize,
}

impl Answer {
    /// An answer to the request `id`.
    pub(super) fn to(id: &RawId) -> Self {
        let text = format!(
            "{{\"id\":{},\"result\":{{\"thread\":{{\"turns\":[",
            id.as_str()
        );
        Self {
            id: id.clone(),
            session: None,
            sent: Sent::Nothing,
            text: text.into_bytes(),
            turns: 0,
        }
    }

    /// Whether it answers this request.
    pub(super) fn is_to(&self, id: &RawId) -> bool {
        self.id.as_str() == id.as_str()
    }

    /// Adds a turn; gives what is to be sent now.
    pub(super) fn add(&mut self, turn: &Turn) -> Option<Vec<u8>> {
        if self.turns > 0 {
            self.text.push(b',');
        }
        self.turns += 1;
        write(&mut self.text, &turn.shown());
        if self.text.len() < PIECE_BYTES {
            return None;
        }
        self.sent = Sent::Part;
        let next = Vec::with_capacity(self.text.capacity());
        Some(std::mem::replace(&mut self.text, next))
    }

    /// The rest of the line: what else is told of the thread, and beside it.
    pub(super) fn end(mut self, thread: Value, beside: Value) -> Vec<u8> {
        self.text.push(b']');
        self.members(thread);
        self.text.push(b'}');
        self.members(beside);
        self.text.extend_from_slice(b"}}");
        self.text
    }

    /// The rest of a line that cannot be ended as it should.
    pub(super) fn fail(mut self, error: &ErrorObject) -> Vec<u8> {
        self.text.extend_from_slice(b"]}},\"error\":");
        write(&mut self.text, error);
        self.text.push(b'}');
        self.text
    }

    /// Adds members to an object that has some: all but those that lead to the turns.
    fn members(&mut self, of: Value) {
        let Value::Object(members) = of else { return };
        for (name, value) in members {
            if name == "turns" || name == "thread" {
                continue;
            }
            self.text.push(b',');
            write(&mut self.text, &name);
            self.text.push(b':');
            write(&mut self.text, &value);
        }
    }
}

fn write(text: &mut Vec<u8>, value: &impl Serialize) {
    let start = text.len();
    if serde_json::to_writer(&mut *text, value).is_err() {
        // Cannot be: nothing here is a map with keys that are no strings.
        text.truncate(start);
        text.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests;
