//! What the index is told of a session: once a turn, after the log has acknowledged it (LOG-9).

use sessiond_index::{Index, Note};
use sessiond_protocol::{Event, EventFrame, SessionId};

/// The events since the index was told last.
#[derive(Debug)]
pub(super) struct Noting {
    index: Index,
    session: SessionId,
    note: Note,
}

impl Noting {
    /// For a session whose next record will have the seq `next_seq`.
    pub(super) fn new(index: Index, session: SessionId, next_seq: u64) -> Self {
        let note = Note::new(session, next_seq);
        Self {
            index,
            session,
            note,
        }
    }

    /// Hears of an event that is in the log. The end of a turn is told, and what changes the
    /// session between turns; the rest waits for it.
    pub(super) fn heard(&mut self, frame: &EventFrame) {
        self.note.apply(frame);
        let is_told = match &frame.event {
            Event::TurnEnded(_) | Event::SessionClosed {} => true,
            Event::SessionChanged(_) | Event::ItemEnded { .. } => frame.turn.is_none(),
            _ => false,
        };
        if is_told {
            self.tell();
        }
    }

    /// Tells what has not been told, before the session is let go.
    pub(super) fn tell(&mut self) {
        if !self.note.is_empty() {
            self.index.note(self.note.take());
        }
    }

    /// Forgets what was not told: the log goes on elsewhere.
    pub(super) fn start_over(&mut self, next_seq: u64) {
        self.note = Note::new(self.session, next_seq);
    }
}
