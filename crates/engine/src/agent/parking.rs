//! Agents that were made ready for a session, and not taken up by a turn yet.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sessiond_protocol::SessionId;

/// Agents `P` by the session they were started for. Clones are one.
pub struct Parking<P> {
    places: Arc<Mutex<Places<P>>>,
}

struct Places<P> {
    /// Counts the starts: an end that comes late must not take a newer start for its own.
    starts: u64,
    by_session: HashMap<SessionId, (u64, P)>,
}

impl<P> Clone for Parking<P> {
    fn clone(&self) -> Self {
        Self {
            places: self.places.clone(),
        }
    }
}

impl<P> Default for Parking<P> {
    fn default() -> Self {
        let places = Places {
            starts: 0,
            by_session: HashMap::new(),
        };
        Self {
            places: Arc::new(Mutex::new(places)),
        }
    }
}

impl<P> fmt::Debug for Parking<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parking")
    }
}

impl<P: Send + 'static> Parking<P> {
    /// Parks an agent, in place of any other of its session. `make` is given what is to be done once
    /// the session is gone: that drops what was parked, unless a newer one stands there.
    pub fn park(&self, session: SessionId, make: impl FnOnce(Box<dyn FnOnce() + Send>) -> P) {
        let mut places = lock(&self.places);
        places.starts += 1;
        let start = places.starts;
        let left = Arc::downgrade(&self.places);
        let gone = move || {
            let Some(places) = left.upgrade() else { return };
            let mut places = lock(&places);
            let is_it = |(parked, _): &(u64, P)| *parked == start;
            if places.by_session.get(&session).is_some_and(is_it) {
                places.by_session.remove(&session);
            }
        };
        let parked = make(Box::new(gone));
        places.by_session.insert(session, (start, parked));
    }

    /// Takes what is parked for a session.
    #[must_use]
    pub fn take(&self, session: SessionId) -> Option<P> {
        let taken = lock(&self.places).by_session.remove(&session);
        taken.map(|(_, parked)| parked)
    }
}

fn lock<P>(places: &Mutex<Places<P>>) -> MutexGuard<'_, Places<P>> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
