//! The state of a log at which somebody chose it, and whether it is still that.

use crate::error::{Doing, LogError};
use crate::lease::Lease;
use crate::older::{Form, lineup};
use crate::scan::Scan;

/// Up to where a log was known when it was read (RESUME-14): whatever is appended, cut, removed or
/// put in its place gives another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Generation {
    /// Highest epoch.
    pub epoch: u64,
    /// Last seq given away.
    pub last_seq: u64,
    /// Number of the last segment file, and its bytes.
    pub(crate) end: (u32, u64),
}

impl Scan {
    /// What was read.
    #[must_use]
    pub fn generation(&self) -> Generation {
        Generation {
            epoch: self.highest_epoch,
            last_seq: self.next_seq.saturating_sub(1),
            end: (self.last_number, self.last_bytes),
        }
    }
}

impl Lease {
    /// Whether the log still is what was read under this lease, before anything was appended. To be
    /// asked right before what was read is put to use (RESUME-15): a lock that was replaced, and
    /// whatever somebody did without one, show here.
    ///
    /// # Errors
    /// [`LogError::Fenced`] when it is not; [`LogError::Io`].
    pub fn confirm(&self, generation: &Generation) -> Result<(), LogError> {
        let held = self.held();
        held.check()?;
        let fs = held.store.fs();
        let names = lineup(fs, &held.home)?;
        let end = match names.last() {
            Some((name, Form::Packed)) => (name.number, 0),
            Some((name, Form::Plain)) => {
                let path = held.home.segment(&name.to_string());
                (name.number, fs.stat(&path).doing("look up", &path)?.bytes)
            }
            None => (0, 0),
        };
        if end == generation.end {
            return Ok(());
        }
        Err(LogError::Fenced(held.subject.clone()))
    }
}
