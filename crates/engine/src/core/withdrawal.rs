//! A client takes back what it submitted, while that only waits.

use sessiond_protocol::TurnId;

use super::{Cause, ConnId, Stepping};

impl Stepping<'_> {
    /// Who asked for a turn that waits from now on. Submission ids are unique on a connection only.
    pub(super) fn note_asker(&mut self, turn: TurnId, conn: ConnId) {
        let waiting = &self.core.standing.waiting;
        self.core
            .queued_by
            .retain(|(turn, _)| waiting.iter().any(|waits| waits.id == *turn));
        self.core.queued_by.push((turn, conn));
    }

    /// Ends the turn of a submission that waits. One that began, ended, or is of another
    /// connection stays as it is: too late is normal (SQEQ-4).
    pub(super) fn withdrawn(&mut self, cause: &Cause) {
        let asked = |turn| self.core.queued_by.contains(&(turn, cause.conn));
        let waiting = self.core.standing.waiting.iter();
        let mut wanted = waiting.filter(|turn| turn.cause.as_ref() == Some(&cause.id));
        let turn = wanted.find(|turn| asked(turn.id)).map(|turn| turn.id);
        if let Some(turn) = turn {
            self.end_waiting(|waiting| waiting.id == turn);
        }
    }
}
