//! Lines of stream-json: how a frame is written, and how long it may become.
//!
//! A line of 1,048,576 characters ends a session of the Python SDK, so none of ours is longer than
//! [`LINE_BYTES`] (WIRE-4). Text that is longer goes out in several blocks; what cannot be split is
//! cut, and says so. U+2028 and U+2029 are escaped: some readers take them for the end of a line.

use serde_json::Value;
use sessiond_protocol::ItemId;
use sessiond_wire::Coalesce;
use sessiond_wire::stdio::Encode;

/// Longest line that is written, in bytes: under the limit of the SDKs by more than an envelope.
pub const LINE_BYTES: usize = 1_000_000;

/// Longest text of one block, in bytes once it is escaped.
const BLOCK_BYTES: usize = 900_000;

/// Longest text that merging deltas makes, in bytes; six of an escaped one may come of each.
const DELTA_BYTES: usize = 128 * 1024;

/// The lengths that strings of a frame are cut to, one after the other, until it fits.
const CUTS: [usize; 5] = [256 * 1024, 64 * 1024, 16 * 1024, 2 * 1024, 256];

/// A frame on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutFrame {
    /// A line, without its LF.
    Line(String),
    /// More text of a block; adjacent ones of one block merge where the reader is behind (WIRE-6).
    Delta(Delta),
}

/// More text of a block: the line is `head`, the text as JSON, `tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The item that streams.
    pub item: ItemId,
    /// The line up to the text.
    pub head: String,
    /// The text.
    pub text: String,
    /// The line behind the text.
    pub tail: &'static str,
}

impl OutFrame {
    /// A frame as a line; what does not fit in one is cut.
    pub fn of(mut frame: Value) -> Self {
        let mut line = written(&frame);
        for most in CUTS {
            if line.len() <= LINE_BYTES {
                break;
            }
            cut(&mut frame, most);
            line = written(&frame);
        }
        Self::Line(line)
    }
}

impl OutFrame {
    /// A frame as a line of any length, for a reader that has no limit.
    pub fn whole(frame: &Value) -> Self {
        Self::Line(written(frame))
    }
}

impl Coalesce for OutFrame {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        match (self, next) {
            (Self::Delta(last), Self::Delta(next))
                if last.item == next.item && last.text.len() + next.text.len() <= DELTA_BYTES =>
            {
                last.text.push_str(&next.text);
                Ok(())
            }
            (_, next) => Err(next),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Delta(delta) => delta.head.len() + delta.text.len(),
        }
    }
}

impl Encode for OutFrame {
    fn encode(&self, line: &mut Vec<u8>) {
        match self {
            Self::Line(text) => line.extend_from_slice(text.as_bytes()),
            Self::Delta(delta) => {
                line.extend_from_slice(delta.head.as_bytes());
                line.extend_from_slice(written(&Value::from(&*delta.text)).as_bytes());
                line.extend_from_slice(delta.tail.as_bytes());
            }
        }
        line.push(b'\n');
    }
}

/// The text in pieces that each fit a block; one empty piece where it is empty.
pub fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut length) = (0, 0);
    for (at, character) in text.char_indices() {
        let more = escaped(character);
        if length + more > BLOCK_BYTES {
            pieces.extend(text.get(begin..at));
            (begin, length) = (at, 0);
        }
        length += more;
    }
    pieces.extend(text.get(begin..));
    pieces
}

/// The text as far as a block holds it, with a note where that is not all.
pub fn shortened(text: &str) -> String {
    match &pieces(text)[..] {
        [whole] => (*whole).to_owned(),
        [first, ..] => {
            // What was seen before is whole; this only repeats it.
            let more = text.len() - first.len();
            format!("{first}\n[{more} bytes more are in the messages before]")
        }
        [] => String::new(),
    }
}

/// How many bytes a character becomes in a line.
fn escaped(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => 6,
        other => other.len_utf8(),
    }
}

/// A value as JSON on one line.
fn written(value: &Value) -> String {
    let line = value.to_string();
    match line.contains(['\u{2028}', '\u{2029}']) {
        true => line
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029"),
        false => line,
    }
}

/// Cuts every string that is longer than `most` bytes, at a character, and says how much is missing.
fn cut(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => {
            let whole = text.len();
            let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
            let missing = whole - text.len();
            text.push_str(&format!(" [{missing} bytes cut]"));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut(item, most)),
        Value::Object(members) => members.values_mut().for_each(|member| cut(member, most)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
