//! How often a stream is read whose lines come one by one and fast.
//!
//! A program that writes each line by itself wakes its reader for each, and everybody behind that
//! one. A reader that lets a moment pass between reads finds many lines at once, which costs both
//! sides of a busy machine a fraction of it.

use std::time::Duration;

use tokio::time::Instant;

/// Reads that follow each other within this are a stream's: people, models and tools are slower.
const CLOSE: Duration = Duration::from_micros(500);

/// So many of them in a row make a stream; an exchange of a few messages is none.
const STREAK: u32 = 8;

/// How long reading rests: the shortest that timers know, and nothing to a person.
const REST: Duration = Duration::from_millis(1);

/// What a stream has written within a rest at the least, in bytes; less, and it has ended.
const LITTLE: usize = 1024;

/// What the writer may be at the end of its pipe with, in bytes: it is not made to wait for us.
const PLENTY: usize = 48 * 1024;

/// The pace of one reader.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<Instant>,
    /// Close reads in a row.
    streak: u32,
    /// Bytes of the newest read.
    bytes: usize,
}

impl Pace {
    /// How long to rest before the next read.
    pub(super) fn rest(&self) -> Option<Duration> {
        (self.streak >= STREAK && self.bytes < PLENTY).then_some(REST)
    }

    /// Notes a read.
    pub(super) fn note(&mut self, bytes: usize, now: Instant) {
        let goes_on = match (self.rest(), self.last) {
            (Some(_), _) => bytes >= LITTLE,
            (None, Some(last)) => now.duration_since(last) < CLOSE,
            (None, None) => false,
        };
        self.streak = if goes_on {
            self.streak.saturating_add(1)
        } else {
            0
        };
        (self.last, self.bytes) = (Some(now), bytes);
    }
}

#[cfg(test)]
mod tests;
