//! What of a running turn has begun and not ended: the text that was said so far, the calls that run.
//!
//! A log holds an item once it has ended. Whoever is shown a turn that runs is shown these, too.

use sessiond_protocol::{Event, EventFrame, Item as Said, ItemId, ItemKind, Stream};

use super::time::ms;

/// An item that has begun and not ended.
#[derive(Debug, Clone)]
pub(super) struct Begun {
    pub(super) id: ItemId,
    /// What is known of it; the output of a call comes with its end.
    pub(super) said: Said,
    /// When it began, in milliseconds.
    pub(super) started: Option<i64>,
}

/// The open items of one turn, oldest first: a fold of its events, stored and live ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Open(Vec<Begun>);

impl Open {
    /// Takes in the next event.
    pub(super) fn apply(&mut self, frame: &EventFrame) {
        let started = frame.at.as_deref().and_then(ms);
        match (&frame.event, frame.item) {
            (Event::TurnStarted { .. } | Event::TurnEnded(_), _) => self.0.clear(),
            (Event::ItemStarted { item }, Some(id)) if self.get(id).is_none() => {
                let said = item.clone();
                self.0.push(Begun { id, said, started });
            }
            (Event::ItemChanged { call }, Some(id)) => {
                if let Some(begun) = self.get(id) {
                    begun.said = Said::ToolCall(call.clone());
                }
            }
            (Event::ItemPartial { kind, offset, text }, Some(id)) => {
                // That a text began is not stored, what it says is.
                if self.get(id).is_none()
                    && let Some(said) = nothing_yet(*kind)
                {
                    self.0.push(Begun { id, said, started });
                }
                self.more(id, *offset, text);
            }
            (
                Event::ItemDelta {
                    stream: Stream::Text,
                    offset,
                    text,
                },
                Some(id),
            ) => self.more(id, *offset, text),
            (Event::ItemEnded { .. }, Some(id)) => self.0.retain(|begun| begun.id != id),
            _ => {}
        }
    }

    /// Adds what of a text is new (WIRE-9).
    fn more(&mut self, id: ItemId, offset: u64, more: &str) {
        let Some(begun) = self.get(id) else { return };
        let (Said::AgentMessage { text, .. } | Said::Thought { text, .. }) = &mut begun.said else {
            return;
        };
        let known = usize::try_from(offset).ok();
        let known = known.and_then(|offset| text.len().checked_sub(offset));
        if let Some(new) = known.and_then(|known| more.get(known..)) {
            text.push_str(new);
        }
    }

    fn get(&mut self, id: ItemId) -> Option<&mut Begun> {
        self.0.iter_mut().find(|begun| begun.id == id)
    }

    /// The items, oldest first.
    pub(super) fn items(&self) -> &[Begun] {
        &self.0
    }
}

/// A text that has just begun; none for what is no text.
fn nothing_yet(kind: ItemKind) -> Option<Said> {
    let (text, finish) = (String::new(), sessiond_protocol::Finish::Whole);
    match kind {
        ItemKind::AgentMessage => Some(Said::AgentMessage { text, finish }),
        ItemKind::Thought => Some(Said::Thought { text, finish }),
        _ => None,
    }
}
