//! Where a session leaves the conversation that it was made of.

use std::collections::HashMap;

use sessiond_protocol::{Item, ItemId, Telling, Told};

/// The conversation that a session was made of; `T` says where each of its things ends.
#[derive(Debug)]
pub struct Original<T> {
    ends: HashMap<ItemId, (usize, T)>,
    count: usize,
    notices: usize,
}

/// Where a session goes on from it.
#[derive(Debug)]
pub struct Junction<T> {
    /// Where the last thing ends that both have; none where they have none.
    pub last: Option<T>,
    /// Whether the session has all of it.
    pub is_whole: bool,
    /// Whether the session has nothing of a conversation that is there.
    pub is_cleared: bool,
    /// How many things the session tells before those that are not in it.
    pub rest: usize,
    /// Whether anything but notices is among those.
    pub is_more: bool,
}

impl<T> Default for Original<T> {
    fn default() -> Self {
        Self {
            ends: HashMap::new(),
            count: 0,
            notices: 0,
        }
    }
}

impl<T: Clone> Original<T> {
    /// Takes in the next thing of it, and where that ends.
    pub fn tell(&mut self, told: &Told, end: Option<T>) {
        // Notices have no id in a session, and lean persistence keeps no thoughts.
        match told.what {
            Telling::Notice { .. } => self.notices += 1,
            Telling::Item(Item::Thought { .. }) => {}
            _ => (self.count, self.notices) = (self.count + 1, 0),
        }
        if let (Some(id), Some(end)) = (told.id, end) {
            self.ends.insert(id, (self.count, end));
        }
    }

    /// Finds where `told`, which a session tells, leaves it.
    #[must_use]
    pub fn join(&self, told: &[Told]) -> Junction<T> {
        let known = |told: &Told| told.id.and_then(|id| self.ends.get(&id).cloned());
        let junction = told.iter().rposition(|told| known(told).is_some());
        let (at, last) = junction.and_then(|at| known(&told[at])).unzip();
        let is_whole = at == Some(self.count) || self.count == 0;
        let mut rest = junction.map_or(0, |at| at + 1);
        // Those at the end of the original are not new.
        let mut notices = self.notices;
        while is_whole && notices > 0 && told.get(rest).is_some_and(is_notice) {
            (notices, rest) = (notices - 1, rest + 1);
        }
        Junction {
            last,
            is_whole,
            is_cleared: told.is_empty() && self.count > 0,
            rest,
            is_more: told[rest..].iter().any(|told| !is_notice(told)),
        }
    }
}

fn is_notice(told: &Told) -> bool {
    matches!(told.what, Telling::Notice { .. })
}
