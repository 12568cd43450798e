//! What clients change of the conversation itself, between its turns.

use sessiond_protocol::{Accepted, Course, Cursor, ErrorCode, Event, WireError};

use super::{Cause, ConnId, Core, Stepping, Urgent, closed};

impl Core {
    /// Why the conversation cannot be changed now, if it cannot.
    pub(super) fn occupied(&self) -> Option<WireError> {
        let is_occupied = self.turn.is_some() || !self.standing.waiting.is_empty();
        let message = "a turn is running or waits; interrupt it, then try again";
        is_occupied.then(|| WireError::new(ErrorCode::Busy, message))
    }

    /// Whether a client may change the conversation now: only then need the log be read for it.
    pub(crate) fn is_changeable_by(&self, conn: ConnId) -> bool {
        !self.is_closed() && !self.viewers.contains(&conn) && self.occupied().is_none()
    }
}

impl Stepping<'_> {
    /// The agent is opened anew by the next turn, with what is in force then (CKPT-2).
    pub(super) fn rewind(&mut self, cause: &Cause, to: Cursor, course: &Course) {
        if let Some(error) = self.unchangeable(cause) {
            return self.reject(cause, error);
        }
        let marker = match course.rewind(to) {
            Ok(marker) => marker,
            Err(error) => {
                let mut error = WireError::new(ErrorCode::Invalid, error.to_string());
                error.pointer = Some("/op/to".to_owned());
                return self.reject(cause, error);
            }
        };
        self.step.urgent.push(Urgent::DropAgent);
        self.record(None, None, Event::Marker(marker));
        self.accept(cause, Accepted::Done {});
    }

    fn unchangeable(&self, cause: &Cause) -> Option<WireError> {
        let is_closed = self.core.is_closed();
        is_closed
            .then(closed)
            .or_else(|| self.only_looks_on(cause.conn))
            .or_else(|| self.core.occupied())
    }
}
