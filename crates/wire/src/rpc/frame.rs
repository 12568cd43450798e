//! Frames on their way out, serialised once and straight into their text.

use std::ops::Range;

use serde::Serialize;

use super::{ErrorObject, RawId};
use crate::queue::Coalesce;
use crate::stdio::Encode;

/// Longest frame that merging makes, in bytes: well under what peers accept as a line (WIRE-4).
pub const MAX_MERGED: usize = 256 * 1024;

/// What stands for an error that can not be written.
const UNWRITABLE: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}"#;

/// One message as JSON text without LF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcFrame {
    text: String,
    /// Where in `text` the escaped text of a delta stands, if the frame is one.
    delta: Option<Range<usize>>,
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
        Self { text, delta: None }
    }

    /// Marks the frame as a text delta: `delta` is the byte range of the (escaped) delta within
    /// [`as_str`](Self::as_str). Adjacent frames that are equal but for their delta then merge
    /// when the reader is slow. A range that does not fit the text is ignored.
    #[must_use]
    pub fn with_delta(mut self, delta: Range<usize>) -> Self {
        self.delta = self.text.get(delta.clone()).is_some().then_some(delta);
        self
    }

    /// The JSON text, without LF.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What stands before, in and after the delta.
    fn parts(&self) -> Option<(&str, &str, &str)> {
        let delta = self.delta.clone()?;
        Some((
            self.text.get(..delta.start)?,
            self.text.get(delta.clone())?,
            self.text.get(delta.end..)?,
        ))
    }
}

impl Coalesce for RpcFrame {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        let (Some((head, _, tail)), Some((next_head, more, next_tail))) =
            (self.parts(), next.parts())
        else {
            return Err(next);
        };
        if head != next_head || tail != next_tail || self.text.len() + more.len() > MAX_MERGED {
            return Err(next);
        }
        if let Some(delta) = &mut self.delta {
            self.text.insert_str(delta.end, more);
            delta.end += more.len();
        }
        Ok(())
    }

    fn weight(&self) -> usize {
        self.text.len()
    }
}

impl Encode for RpcFrame {
    fn encode(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(self.text.as_bytes());
        line.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
