//! What is taken back: by a client, what it submitted and only waits; by an agent, what it asked.

use sessiond_protocol::{ClosedBecause, Outcome, TurnId};

use super::{Cause, ConnId, Stepping, Token, asks::Ask, hooks::Waits};

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
        self.take_back(|waits| matches!(waits, Waits::Caller(asker) if asker == cause));
        let asked = |turn| self.core.queued_by.contains(&(turn, cause.conn));
        let waiting = self.core.standing.waiting.iter();
        let mut wanted = waiting.filter(|turn| turn.cause.as_ref() == Some(&cause.id));
        let turn = wanted.find(|turn| asked(turn.id)).map(|turn| turn.id);
        if let Some(turn) = turn {
            self.end_waiting(|waiting| waiting.id == turn);
        }
    }

    /// Closes what the agent asked and wants no answer to any more. What was answered before stays
    /// as it is: the two have crossed.
    pub(super) fn taken_back(&mut self, token: Token) {
        self.take_back(|waits| matches!(waits, Waits::Agent(asker) if *asker == token));
    }

    /// Closes what is asked for whom nobody waits any more.
    pub(super) fn take_back(&mut self, is_it: impl Fn(&Waits) -> bool) {
        for request in self.core.open_requests() {
            let is_it = |ask: &Ask| is_it(&ask.waits);
            if self.core.asks.get(&request).is_some_and(is_it)
                && let Some(ask) = self.core.asks.remove(&request)
            {
                let closed = (Outcome::Cancelled, ClosedBecause::TakenBack);
                self.settle(request, ask, closed);
            }
        }
    }
}
