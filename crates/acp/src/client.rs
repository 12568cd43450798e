//! The client as the face writes to it: answers, updates, calls.

use std::sync::Arc;

use serde::Serialize;
use sessiond_protocol::{Content, ItemId, SessionId};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::{ErrorObject, InFlight, Peer, PendingCall, RawId, RpcFrame, Wrapping};
use tokio::time::Instant;

use crate::meter::Meter;
use crate::update::{Block, Chunk, Meta, Update};

/// Longest text that goes out in one chunk, in bytes. Escaping makes at most six bytes of one, so
/// the frame stays under 1 MiB (WIRE-4).
pub(crate) const CHUNK_BYTES: usize = 160 * 1024;

/// How a [`Chunk`] without text ends: its quotes, then the ends of content, update, params and frame.
const NO_TEXT: &str = "\"\"}}}}";

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    User,
    Agent,
    Thought,
}

impl Voice {
    fn chunk(self, chunk: Chunk<'_>) -> Update<'_> {
        match self {
            Voice::User => Update::UserMessageChunk(chunk),
            Voice::Agent => Update::AgentMessageChunk(chunk),
            Voice::Thought => Update::AgentThoughtChunk(chunk),
        }
    }
}

/// The client's end. Everything that leaves goes through one queue, in the order of the calls here.
#[derive(Debug)]
pub(crate) struct Client {
    peer: Peer,
    unanswered: InFlight<()>,
    refusals: Meter,
}

impl Client {
    pub(crate) fn new(queue: OutQueue<RpcFrame>) -> Self {
        Self {
            peer: Peer::new(queue),
            unanswered: InFlight::default(),
            refusals: Meter::default(),
        }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(crate) fn queue(&self) -> &OutQueue<RpcFrame> {
        self.peer.queue()
    }

    /// Enters a request of the client. One that cannot be entered is refused at once: without an id
    /// where its id is in flight, since an answer to that would be taken for the first request's.
    pub(crate) fn begin(&mut self, id: &RawId) -> bool {
        let is_open = self.unanswered.get(id).is_some();
        match self.unanswered.begin(id.clone(), ()) {
            Ok(()) => true,
            Err(error) => {
                self.peer.refuse(Some(id).filter(|_| !is_open), &error);
                false
            }
        }
    }

    /// Whether a line that is no message may be answered now (WIRE-14).
    pub(crate) fn admits_refusal(&mut self, now: Instant) -> bool {
        self.refusals.admits(now)
    }

    /// Gives a request its one answer.
    pub(crate) fn answer(&mut self, id: &RawId, result: &impl Serialize) {
        self.unanswered.finish(id);
        self.peer.respond(id, Ok(result));
    }

    /// Gives a request its one answer: that it failed.
    pub(crate) fn fail(&mut self, id: &RawId, error: &ErrorObject) {
        self.unanswered.finish(id);
        self.peer.refuse(Some(id), error);
    }

    /// Gives every unanswered request the same answer: that it failed.
    pub(crate) fn fail_all(&mut self, error: &ErrorObject) {
        for (id, ()) in self.unanswered.drain() {
            self.peer.refuse(Some(&id), error);
        }
    }

    /// Asks the client.
    pub(crate) fn call(&self, method: &str, params: &impl Serialize) -> PendingCall {
        self.peer.request(method, params)
    }

    /// Tells the client something that has its form already.
    pub(crate) fn tell(&self, method: &str, params: &impl Serialize) {
        match RpcFrame::notification(method, params) {
            Ok(frame) => self.queue().push(frame),
            // Cannot be: nothing here is a map with keys that are no strings.
            Err(_) => tracing::error!("a notification could not be written"),
        }
    }

    /// Sends an update of a session.
    pub(crate) fn update(&self, session: SessionId, update: &impl Serialize) {
        if let Some(frame) = frame(session, update) {
            self.queue().push(frame);
        }
    }

    /// Sends text of a message that is whole, in frames of bounded size.
    pub(crate) fn say(&self, voice: Voice, text: &str, message: &Message) {
        for text in pieces(text) {
            let content = Block::text(text);
            let (message_id, meta) = (message.id, message.meta);
            self.update(
                message.session,
                &voice.chunk(Chunk {
                    message_id,
                    meta,
                    content,
                }),
            );
        }
    }

    /// Sends more text of a message that streams, in frames of bounded size that merge with their
    /// neighbours where the client is slow.
    pub(crate) fn say_more(&self, streaming: &Arc<Wrapping>, text: String) {
        let send = |text| {
            let frame = RpcFrame::delta(streaming.clone(), text);
            self.queue().push(frame);
        };
        if (1..=CHUNK_BYTES).contains(&text.len()) {
            return send(text);
        }
        pieces(&text).map(str::to_owned).for_each(send);
    }

    /// Sends a block of a message: text in frames of bounded size, anything else whole.
    pub(crate) fn show(&self, voice: Voice, content: &Content, message: &Message) {
        let Content::Text { text, extra } = content else {
            return self.show_whole(voice, content, message);
        };
        if extra.is_empty() {
            return self.say(voice, text, message);
        }
        for text in pieces(text) {
            let piece = Content::Text {
                text: text.to_owned(),
                extra: extra.clone(),
            };
            self.show_whole(voice, &piece, message);
        }
    }

    fn show_whole(&self, voice: Voice, content: &Content, message: &Message) {
        let content = Block::Content(content);
        let (message_id, meta) = (message.id, message.meta);
        self.update(
            message.session,
            &voice.chunk(Chunk {
                message_id,
                meta,
                content,
            }),
        );
    }
}

/// Which message a text belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub(crate) session: SessionId,
    pub(crate) id: Option<ItemId>,
    pub(crate) meta: Option<Meta>,
}

fn frame(session: SessionId, update: &impl Serialize) -> Option<RpcFrame> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a, U> {
        session_id: SessionId,
        update: &'a U,
    }
    let params = Params {
        session_id: session,
        update,
    };
    let frame = RpcFrame::notification("session/update", &params);
    // Cannot be: nothing here is a map with keys that are no strings.
    frame
        .inspect_err(|_| tracing::error!("an update could not be written"))
        .ok()
}

/// What stands around the text of a message that streams. It is the same for each of its chunks, of
/// which there are thousands, so it is made once.
pub(crate) fn streaming(voice: Voice, message: &Message) -> Arc<Wrapping> {
    let update = voice.chunk(Chunk {
        message_id: message.id,
        meta: message.meta,
        content: Block::text(""),
    });
    let frame = frame(message.session, &update);
    let text = frame.as_ref().map(RpcFrame::text).unwrap_or_default();
    let head = text.strip_suffix(NO_TEXT).unwrap_or_default().to_owned();
    let tail = NO_TEXT.trim_start_matches('"').to_owned();
    Arc::new(Wrapping { head, tail })
}

/// The text in pieces of at most [`CHUNK_BYTES`], cut between characters.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (piece, rest) = text.split_at_checked(text.floor_char_boundary(CHUNK_BYTES))?;
        text = rest;
        Some(piece)
    })
}

#[cfg(test)]
mod tests;
