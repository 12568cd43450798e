//! What happened in a session since the index heard of it last.

use sessiond_protocol::{Event, EventFrame, Item, SessionId};

use crate::entry::{Content, Fold};
use crate::record::slim;

/// The durable events of a session since the note before, as far as a row depends on them. Give it
/// to [`Index::note`](crate::Index::note) when a turn has ended.
#[derive(Debug, Clone)]
pub struct Note {
    session: SessionId,
    /// Seq of the first event that counts here.
    from: u64,
    next_seq: u64,
    /// One or few: of messages in a row only the last is kept.
    frames: Vec<EventFrame>,
}

impl Note {
    /// A note without events, for a session whose next record will have the seq `next_seq`.
    #[must_use]
    pub fn new(session: SessionId, next_seq: u64) -> Self {
        let (from, frames) = (next_seq, Vec::new());
        Self {
            session,
            from,
            next_seq,
            frames,
        }
    }

    /// Takes in an event that the log has acknowledged, in order. Ephemeral ones pass.
    pub fn apply(&mut self, frame: &EventFrame) {
        let Some(cursor) = frame.cursor else { return };
        if cursor.0 != self.next_seq {
            // A gap: no row can be made of this note, so the log will be read.
            *self = Self::new(self.session, cursor.0);
        }
        self.next_seq = cursor.0 + 1;
        let Some(event) = slim(&frame.event) else {
            return;
        };
        self.frames
            .pop_if(|last| is_said(&last.event) && is_said(&event));
        self.frames.push(EventFrame {
            event,
            ..frame.clone()
        });
    }

    /// The note so far, which then goes on without events.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let next = Self::new(self.session, self.next_seq);
        std::mem::replace(self, next)
    }

    /// Whether it holds no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.from == self.next_seq
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.next_seq.saturating_sub(1)
    }

    /// What the index has after it, given what it had before; none where that is not known.
    pub(crate) fn after(self, before: Option<Content>) -> Option<Content> {
        let mut fold = match before {
            _ if self.from == 1 => Fold::default(),
            Some(content) if content.next_seq == self.from => Fold::resume(content),
            _ => return None,
        };
        self.frames.iter().for_each(|frame| fold.apply(frame));
        fold.finish(self.next_seq)
    }
}

/// A message of the agent: of several only the time of the last matters.
fn is_said(event: &Event) -> bool {
    let item = Item::AgentMessage {
        text: String::new(),
        finish: sessiond_protocol::Finish::Whole,
    };
    *event == Event::ItemEnded { item }
}
