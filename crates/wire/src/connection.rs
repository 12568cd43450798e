//! Both ends of the waist in one process.
//!
//! A face holds a [`Connection`] and cannot tell whether its far side, the [`ServerEnd`], is an
//! engine in this process or a relay to another one.

mod weight;

use sessiond_protocol::{ClientFrame, Event, EventFrame, ServerFrame, encode};
use tokio::sync::mpsc;

use crate::queue::{Coalesce, OutQueue};
use crate::stdio::Encode;

/// Frames of a client that may wait for the server. Small: a client's frames are few and each is
/// taken up at once, so more would only hide that the server is stuck.
pub const CLIENT_FRAMES: usize = 16;

/// Longest text that merging deltas makes, in bytes: our frames stay well under 1 MiB (WIRE-4).
pub const MAX_MERGED_TEXT: usize = 256 * 1024;

/// The other end of the connection is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the other end of the connection is gone")]
pub struct Gone;

impl Gone {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        "gone"
    }
}

/// The client's end: dropping it ends the connection.
#[derive(Debug)]
pub struct Connection {
    frames: mpsc::Sender<ClientFrame>,
    events: OutQueue<ServerFrame>,
}

/// The server's end: dropping it ends the connection.
#[derive(Debug)]
pub struct ServerEnd {
    frames: mpsc::Receiver<ClientFrame>,
    /// What goes to the client. Closed when the client is gone.
    pub out: OutQueue<ServerFrame>,
}

/// The two ends of a new connection.
pub fn pair() -> (Connection, ServerEnd) {
    let (sender, receiver) = mpsc::channel(CLIENT_FRAMES);
    // The face behind it writes to somebody, and passes on how fast that one reads.
    let out = OutQueue::patient();
    (
        Connection {
            frames: sender,
            events: out.clone(),
        },
        ServerEnd {
            frames: receiver,
            out,
        },
    )
}

impl Connection {
    /// Sends a frame, waiting while [`CLIENT_FRAMES`] are under way.
    ///
    /// # Errors
    /// [`Gone`] when the server has dropped its end.
    pub async fn send(&self, frame: ClientFrame) -> Result<(), Gone> {
        self.frames.send(frame).await.map_err(|_| Gone)
    }

    /// Waits until a frame can be sent without waiting, as long as nobody else sends meanwhile. A
    /// face that must not stop receiving while it sends asks this first.
    ///
    /// # Errors
    /// [`Gone`] when the server has dropped its end.
    pub async fn writable(&self) -> Result<(), Gone> {
        self.frames.reserve().await.map(drop).map_err(|_| Gone)
    }

    /// The next frame; `None` when the server has ended the connection and all is received. A wait
    /// that is dropped loses nothing.
    pub async fn recv(&self) -> Option<ServerFrame> {
        self.events.recv().await
    }

    /// Appends up to `limit` frames to `into`, waiting for the first; returns how many. Zero says
    /// that the server has ended the connection and all is received. A wait that is dropped loses
    /// nothing.
    pub async fn recv_many(&self, into: &mut Vec<ServerFrame>, limit: usize) -> usize {
        self.events.recv_many(into, limit).await
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.events.abandon();
    }
}

impl ServerEnd {
    /// The next frame; `None` when the client is gone. A wait that is dropped loses nothing.
    pub async fn recv(&mut self) -> Option<ClientFrame> {
        self.frames.recv().await
    }
}

impl Drop for ServerEnd {
    fn drop(&mut self) {
        self.out.close();
    }
}

impl Coalesce for ServerFrame {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        match (self, next) {
            (Self::Event(last), Self::Event(next)) if continues(last, &next) => {
                append(last, &next);
                Ok(())
            }
            (_, next) => Err(next),
        }
    }

    fn weight(&self) -> usize {
        weight::of(self)
    }
}

impl Encode for ServerFrame {
    fn encode(&self, line: &mut Vec<u8>) {
        match encode(self) {
            Ok(text) => line.extend_from_slice(text.as_bytes()),
            // What has no JSON form cannot be made from the wire; the client learns of the gap.
            Err(error) => {
                tracing::error!(code = ?error.code, "a frame could not be written");
                line.extend_from_slice(UNWRITTEN);
            }
        }
    }
}

/// Stands for a frame that could not be written.
const UNWRITTEN: &[u8] = br#"{"v":1,"type":"error","code":"internal","message":"a frame could not be written","fatal":false}
"#;

/// Whether both are deltas of one stream, and `next` begins where `last` ends (WIRE-9).
fn continues(last: &EventFrame, next: &EventFrame) -> bool {
    let same_place = last.session == next.session
        && last.turn == next.turn
        && last.item == next.item
        && last.cursor == next.cursor
        && last.cause == next.cause
        && last.at == next.at;
    match (&last.event, &next.event) {
        (
            Event::ItemDelta {
                stream,
                offset,
                text,
            },
            Event::ItemDelta {
                stream: next_stream,
                offset: next_offset,
                text: more,
            },
        ) => {
            same_place
                && stream == next_stream
                && offset.saturating_add(text.len() as u64) == *next_offset
                && text.len() + more.len() <= MAX_MERGED_TEXT
        }
        _ => false,
    }
}

fn append(last: &mut EventFrame, next: &EventFrame) {
    if let (Event::ItemDelta { text, .. }, Event::ItemDelta { text: more, .. }) =
        (&mut last.event, &next.event)
    {
        text.push_str(more);
    }
}

#[cfg(test)]
mod tests;
