//! When a reader looks again: at once, after a rest, or when it is told that there is something.

use std::time::Duration;

use tokio::time::Instant;

/// Reads that follow each other within this are a stream's: people, models and tools are slower.
const CLOSE: Duration = Duration::from_micros(500);

/// So many of them in a row make a stream; an exchange of a few messages is none.
pub(super) const STREAK: u32 = 8;

/// What a stream has written within a rest at the least, in bytes; less, and it has ended.
const LITTLE: usize = 1024;

/// What the writer may be at the end of its pipe with, in bytes: it is not made to wait for us.
pub(super) const PLENTY: usize = 48 * 1024;

/// What to do after a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait until there is something.
    Wait,
    /// Leave it alone for a moment, then look.
    Rest,
    /// Look at once.
    Look,
}

/// The pace of one reader.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<Instant>,
    /// Close reads in a row.
    streak: u32,
    /// Whether a stream runs.
    is_stream: bool,
}

impl Pace {
    /// Notes a read of so many bytes; none is the end.
    pub(super) fn read(&mut self, bytes: usize, now: Instant) -> Next {
        if self.is_stream {
            return match bytes {
                0..LITTLE => self.paused(),
                LITTLE..PLENTY => Next::Rest,
                _ => Next::Look,
            };
        }
        let last = self.last.replace(now);
        let is_close = last.is_some_and(|last| now.duration_since(last) < CLOSE);
        self.streak = if is_close && bytes < PLENTY {
            self.streak.saturating_add(1)
        } else {
            0
        };
        self.is_stream = self.streak >= STREAK;
        if self.is_stream {
            Next::Rest
        } else {
            Next::Wait
        }
    }

    /// Notes that there was nothing to read.
    pub(super) fn paused(&mut self) -> Next {
        *self = Self::default();
        Next::Wait
    }
}

#[cfg(test)]
mod tests;
