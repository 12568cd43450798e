//! Frames on their way out, serialised once and straight into their text.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::{ErrorObject, RawId};
use crate::queue::Coalesce;
use crate::stdio::Encode;

/// Longest text that merging deltas makes, in bytes. Escaping makes at most six of one, so the frame
/// stays under 1 MiB (WIRE-4).
pub const MAX_MERGED: usize = 160 * 1024;

/// What stands for an error that can not be written.
const UNWRITABLE: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}"#;

/// One message on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcFrame {
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    /// JSON text without LF.
    Whole(String),
    /// A text delta: it becomes JSON only where it is written.
    Delta {
        wrapping: Arc<Wrapping>,
        text: String,
    },
    /// Part of a line that goes out while the rest of it is being made.
    Piece { text: Vec<u8>, then: Then },
}

/// What comes behind a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// More of the line: whoever pushes lets nothing else between.
    More,
    /// Its end.
    End,
}

/// What stands around the text in the deltas of one message.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrapping {
    /// JSON up to the text, its opening quote excluded.
    pub head: String,
    /// JSON behind the text, its closing quote excluded.
    pub tail: String,
}

#[derive(Serialize)]
struct Call<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    method: &'a str,
    params: P,
}

impl RpcFrame {
    /// A request with an id of ours.
    ///
    /// # Errors
    /// When `params` can not be JSON, such as a map whose keys are no strings.
    pub fn request(id: i64, method: &str, params: &impl Serialize) -> serde_json::Result<Self> {
        let call = Call {
            jsonrpc: "2.0",
            id: Some(id),
            method,
            params,
        };
        serde_json::to_string(&call).map(Self::from_text)
    }

    /// A notification.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn notification(method: &str, params: &impl Serialize) -> serde_json::Result<Self> {
        let call = Call {
            jsonrpc: "2.0",
            id: None,
            method,
            params,
        };
        serde_json::to_string(&call).map(Self::from_text)
    }

    /// The answer to a request of the peer.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn response(id: &RawId, result: &impl Serialize) -> serde_json::Result<Self> {
        Self::answer(Some(id), "result", result)
    }

    /// The error answer to a request of the peer, or with id null to a line that was none.
    pub fn error(id: Option<&RawId>, error: &ErrorObject) -> Self {
        Self::answer(id, "error", error).unwrap_or_else(|_| {
            // Not reached: an error object is a number, a string and JSON text.
            Self::from_text(UNWRITABLE.to_owned())
        })
    }

    fn answer(
        id: Option<&RawId>,
        member: &str,
        value: &impl Serialize,
    ) -> serde_json::Result<Self> {
        let id = id.map_or("null", RawId::as_str);
        let mut text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":").into_bytes();
        serde_json::to_writer(&mut text, value)?;
        text.push(b'}');
        String::from_utf8(text)
            .map(Self::from_text)
            .map_err(serde::ser::Error::custom)
    }

    /// A frame from JSON text that is ready to be sent.
    ///
    /// Relayed text may come pretty-printed: raw line breaks, which JSON allows between tokens
    /// only, become spaces, so that one frame stays one line (WIRE-1).
    pub fn from_text(mut text: String) -> Self {
        if text.contains(['\n', '\r']) {
            text = text.replace(['\n', '\r'], " ");
        }
        Self {
            body: Body::Whole(text),
        }
    }

    /// A piece of a line that is JSON as a whole: UTF-8 without line breaks. The pieces of a line follow
    /// each other in the queue; the last one [ends](Then::End) it.
    pub fn piece(text: Vec<u8>, then: Then) -> Self {
        Self {
            body: Body::Piece { text, then },
        }
    }

    /// A text delta of a message: `text` as a JSON string within `wrapping`. Where the reader is
    /// slow, adjacent deltas with the same wrapping merge.
    pub fn delta(wrapping: Arc<Wrapping>, text: String) -> Self {
        Self {
            body: Body::Delta { wrapping, text },
        }
    }

    /// The JSON text, without LF; of a piece, its part of it.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.body {
            Body::Whole(text) => text.into(),
            Body::Delta { wrapping, text } => {
                let mut line = Vec::new();
                write_delta(&mut line, wrapping, text);
                String::from_utf8_lossy(&line).into_owned().into()
            }
            Body::Piece { text, .. } => String::from_utf8_lossy(text),
        }
    }
}

fn write_delta(line: &mut Vec<u8>, wrapping: &Wrapping, text: &str) {
    line.extend_from_slice(wrapping.head.as_bytes());
    let start = line.len();
    if serde_json::to_writer(&mut *line, text).is_err() {
        // Not reached: a string is JSON, and a vector takes all of it.
        line.truncate(start);
        line.extend_from_slice(b"\"\"");
    }
    line.extend_from_slice(wrapping.tail.as_bytes());
}

impl Coalesce for RpcFrame {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        match (&mut self.body, next.body) {
            (
                Body::Delta { wrapping, text },
                Body::Delta {
                    wrapping: other,
                    text: more,
                },
            ) if *wrapping == other && text.len() + more.len() <= MAX_MERGED => {
                text.push_str(&more);
                Ok(())
            }
            (_, body) => Err(Self { body }),
        }
    }

    fn weight(&self) -> usize {
        match &self.body {
            Body::Whole(text) => text.len(),
            Body::Delta { wrapping, text } => wrapping.head.len() + text.len(),
            Body::Piece { text, .. } => text.len(),
        }
    }
}

impl Encode for RpcFrame {
    fn encode(&self, line: &mut Vec<u8>) {
        match &self.body {
            Body::Whole(text) => line.extend_from_slice(text.as_bytes()),
            Body::Delta { wrapping, text } => write_delta(line, wrapping, text),
            Body::Piece { text, then } => {
                line.extend_from_slice(text);
                if *then == Then::More {
                    return;
                }
            }
        }
        line.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
