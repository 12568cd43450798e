//! How fast a client may send (SEC-3).

use std::time::{Duration, Instant};

/// Frames that may come at once.
const BURST: u32 = 1000;

/// Time after which one more may come: two hundred a second.
const EVERY: Duration = Duration::from_millis(5);

/// A bucket of frames that may still come.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// When the bucket would have been empty, if nothing had been taken out too early.
    empty_at: Instant,
}

impl Bucket {
    pub(crate) fn full() -> Self {
        let now = Instant::now();
        let empty_at = now.checked_sub(EVERY * BURST).unwrap_or(now);
        Self { empty_at }
    }

    /// Takes one frame out; whether there was one.
    pub(crate) fn take(&mut self) -> bool {
        self.take_at(Instant::now())
    }

    fn take_at(&mut self, now: Instant) -> bool {
        let fullest = now.checked_sub(EVERY * BURST).unwrap_or(self.empty_at);
        let next = self.empty_at.max(fullest) + EVERY;
        if next > now {
            return false;
        }
        self.empty_at = next;
        true
    }
}

#[cfg(test)]
mod tests;
