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

use super::escape::escape;
use super::item::Item;
use super::past::Turn;

/// Bytes of the line that go out together: enough for one write, little beside what waits in the
/// queue anyway.
const PIECE_BYTES: usize = 256 * 1024;

/// From this length on a text is escaped by itself, in bytes: below, two ways cost more than one.
const LONG_BYTES: usize = 256;

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
    pub(super) fn add(&mut self, turn: Turn) -> Option<Vec<u8>> {
        if self.turns > 0 {
            self.text.push(b',');
        }
        self.turns += 1;
        write_turn(&mut self.text, turn);
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

/// Writes a turn: its items, whose long texts take another way, between what is told of it.
fn write_turn(text: &mut Vec<u8>, mut turn: Turn) {
    let items = std::mem::take(&mut turn.items);
    let start = text.len();
    write(text, &turn.shown());
    // Only ids stand before them.
    let Some(rest) = cut(text, start, "\"items\":[]") else {
        return;
    };
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            text.push(b',');
        }
        write_item(text, item);
    }
    text.extend_from_slice(&rest);
}

/// Writes an item: all but its long text, and that where it belongs.
fn write_item(text: &mut Vec<u8>, mut item: Item) {
    let long = item
        .detail
        .long()
        .filter(|(_, long)| long.len() >= LONG_BYTES)
        .map(|(member, long)| (member, std::mem::take(long)));
    let start = text.len();
    write(text, &item);
    let Some((member, long)) = long else { return };
    // No string holds it: a quote within one has a backslash before it.
    if let Some(rest) = cut(text, start, &format!("\"{member}\":\"\"")) {
        escape(text, &long);
        text.extend_from_slice(&rest);
    }
}

/// Takes away what follows the last byte of the first `mark` behind `start`, that byte included.
fn cut(text: &mut Vec<u8>, start: usize, mark: &str) -> Option<Vec<u8>> {
    let written = text.get(start..)?;
    let at = memchr::memmem::find(written, mark.as_bytes())?;
    Some(text.split_off(start + at + mark.len() - 1))
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
