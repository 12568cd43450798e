//! Bounds how often lines that are no messages are answered (WIRE-14).

use std::time::Duration;

use tokio::time::Instant;

/// Answers that may go out at once: enough for any burst of noise that a person caused.
pub(crate) const BURST: u32 = 64;

/// The time after which one more answer may go out. A client that sends garbage without end then
/// costs it and us sixteen short lines a second.
pub(crate) const REFILL: Duration = Duration::from_micros(62_500);

/// A token bucket.
#[derive(Debug)]
pub(crate) struct Meter {
    left: u32,
    filled: Option<Instant>,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            left: BURST,
            filled: None,
        }
    }
}

impl Meter {
    /// Whether one more may go out now.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        let filled = *self.filled.get_or_insert(now);
        let earned = now.duration_since(filled).as_micros() / REFILL.as_micros();
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(BURST).min(BURST);
            self.left = BURST.min(self.left + earned);
            self.filled = Some(now);
        }
        let admits = self.left > 0;
        self.left = self.left.saturating_sub(1);
        admits
    }
}

#[cfg(test)]
mod tests;
