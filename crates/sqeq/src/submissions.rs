//! Which submissions of a connection are known: an id is good for one (SQEQ-1).

use std::collections::{HashSet, VecDeque};

use sessiond_protocol::SubmissionId;

/// Submissions that may be without a receipt. Fewer than the commands that a session takes at once,
/// so that none of a client that sends without waiting is refused for that alone; the client's next
/// lines wait.
pub(crate) const UNANSWERED: usize = 32;

/// Ids of answered submissions that are remembered, the newest. A program that uses an id again by
/// mistake does so soon; one that counts in a circle of more is not hurt.
pub(crate) const REMEMBERED: usize = 1024;

/// The id is one that is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Known;

/// Ids without a receipt, and the newest of those with one.
#[derive(Debug, Default)]
pub(crate) struct Submissions {
    unanswered: HashSet<SubmissionId>,
    answered: HashSet<SubmissionId>,
    /// The same, oldest first.
    order: VecDeque<SubmissionId>,
}

impl Submissions {
    /// Takes in a new one.
    ///
    /// # Errors
    /// [`Known`] when the id is in use or remembered; nothing has changed then.
    pub(crate) fn begin(&mut self, id: &SubmissionId) -> Result<(), Known> {
        if self.answered.contains(id) || !self.unanswered.insert(id.clone()) {
            return Err(Known);
        }
        Ok(())
    }

    /// It has its receipt.
    pub(crate) fn answer(&mut self, id: &SubmissionId) {
        if !self.unanswered.remove(id) {
            return;
        }
        self.answered.insert(id.clone());
        self.order.push_back(id.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.answered.remove(&oldest);
        }
    }

    /// Whether each has its receipt.
    pub(crate) fn all_answered(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// Whether one more may be taken in.
    pub(crate) fn has_room(&self) -> bool {
        self.unanswered.len() < UNANSWERED
    }
}

#[cfg(test)]
mod tests;
