//! What an agent replays of a session of its own, as far as it is compared with the log.

use sessiond_engine::alignment::Exchange;
use sessiond_engine::handover::{self, Mark};
use sessiond_protocol::Content;

use super::update::{Chunk, Piece, Update};

/// Bytes of what its user said that are kept for comparing. A longer replay cannot be compared, and
/// counts as one that differs.
const KEPT_BYTES: usize = 32 << 20;

/// A replay so far.
#[derive(Debug, Default)]
pub(super) struct Replay {
    exchanges: Vec<Exchange>,
    /// The message that the user is in the middle of; none where somebody else spoke last.
    speaking: Option<Option<String>>,
    bytes: usize,
}

impl Replay {
    /// Takes in the next update.
    pub(super) fn hear(&mut self, update: Update<'_>) {
        match update {
            Update::User(chunk) => self.user(chunk),
            Update::Agent(chunk) => {
                self.speaking = None;
                if let (Some(last), Piece::Text(text)) = (self.exchanges.last_mut(), chunk.content)
                {
                    last.said.push_str(&text);
                }
            }
            Update::Call(call) => {
                self.speaking = None;
                if let Some(last) = self.exchanges.last_mut()
                    && !last.calls.contains(&call.id)
                {
                    last.calls.push(call.id);
                }
            }
            Update::Thought(_) | Update::Plan(_) => self.speaking = None,
            _ => {}
        }
    }

    /// All that was replayed; none where it was too much to keep.
    pub(super) fn finish(mut self) -> Option<Vec<Exchange>> {
        for exchange in &mut self.exchanges {
            let (user, mark) = handover::without(&exchange.user);
            exchange.user = user;
            exchange.mark = mark.or(exchange.mark.take());
        }
        (self.bytes <= KEPT_BYTES).then_some(self.exchanges)
    }

    fn user(&mut self, chunk: Chunk<'_>) {
        if self.speaking.as_ref() != Some(&chunk.message) {
            if let Some(last) = self.exchanges.last_mut() {
                last.said = String::new();
                last.calls = Vec::new();
            }
            self.exchanges.push(Exchange::default());
            self.speaking = Some(chunk.message);
        }
        let Some(last) = self.exchanges.last_mut() else {
            return;
        };
        match chunk.content {
            Piece::Text(text) => {
                self.bytes += text.len();
                if self.bytes <= KEPT_BYTES {
                    last.user.push_str(&text);
                    last.user.push('\n');
                }
            }
            Piece::Block(block) => {
                if let Content::Resource { resource, .. } = *block {
                    let uri = resource.get("uri").and_then(serde_json::Value::as_str);
                    last.mark = uri.and_then(Mark::of_uri).or(last.mark.take());
                }
            }
        }
    }
}

#[cfg(test)]
mod alignment_tests;
#[cfg(test)]
mod tests;
