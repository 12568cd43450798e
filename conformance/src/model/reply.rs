//! A reply in a service's form: pieces that go out one after the other.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::plan::Ending;

/// What goes out for one request.
#[derive(Debug)]
pub(crate) struct Reply {
    /// HTTP status.
    pub(crate) status: u16,
    /// Media type of the pieces.
    pub(crate) media: &'static str,
    /// What is sent.
    pub(crate) pieces: VecDeque<Piece>,
    /// Time before the first piece.
    pub(crate) hold: Duration,
    /// Time between two deltas.
    pub(crate) pace: Duration,
    /// Whether the connection breaks after the last piece.
    pub(crate) ending: Ending,
}

/// One piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// What a piece is for: pace and cut count deltas only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Carries a part of the answer's text.
    Delta,
    /// Everything else.
    Frame,
}

impl Reply {
    /// One JSON object.
    pub(crate) fn whole(status: u16, value: &Value) -> Self {
        let piece = Piece {
            kind: Kind::Frame,
            text: value.to_string(),
        };
        Self {
            status,
            media: "application/json",
            pieces: VecDeque::from([piece]),
            hold: Duration::ZERO,
            pace: Duration::ZERO,
            ending: Ending::Whole,
        }
    }

    /// Server-sent events.
    pub(crate) fn stream(events: Events, pace: Duration, ending: Ending) -> Self {
        let mut pieces = events.pieces;
        if ending == Ending::Cut {
            let first = pieces.iter().position(|piece| piece.kind == Kind::Delta);
            pieces.truncate(first.map_or(1, |at| at + 1));
        }
        Self {
            status: 200,
            media: "text/event-stream",
            pieces: pieces.into(),
            hold: Duration::ZERO,
            pace,
            ending,
        }
    }
}

/// Server-sent events in the making.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pieces: Vec<Piece>,
}

impl Events {
    /// An event whose name is also the `type` of its data.
    pub(crate) fn typed(&mut self, kind: Kind, name: &str, mut data: Value) {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".into(), name.into());
        }
        let text = format!("event: {name}\ndata: {data}\n\n");
        self.pieces.push(Piece { kind, text });
    }

    /// An event without a name.
    pub(crate) fn data(&mut self, kind: Kind, data: impl ToString) {
        let text = format!("data: {}\n\n", data.to_string());
        self.pieces.push(Piece { kind, text });
    }
}
