//! What is left of a session that reads as empty, kept under a marked name (CKPT-6).
//!
//! A process may die between making a session's first file and writing its first record. Whoever
//! makes a session of that id afterwards finds remains that hold no record; they may be all that
//! a failing disk left of one, so they are moved aside, neither written over nor removed.

use std::path::{Path, PathBuf};

use crate::error::LogError;
use crate::layout::{ASIDE, Home};
use crate::lease::Lease;
use crate::older::lineup;
use crate::store::Store;
use crate::subject::Subject;

impl Store {
    /// What was set aside, by name: `<id>.<n>`, the directory of a session that read as empty,
    /// below `aside/`. Nothing removes it.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn aside(&self) -> Result<Vec<PathBuf>, LogError> {
        let mut names = self.names(ASIDE)?;
        names.sort_unstable();
        Ok(names.iter().map(|n| Path::new(ASIDE).join(n)).collect())
    }

    /// Whether the directory of a session that reads as empty holds more than its lock.
    pub(crate) fn has_remains(&self, subject: &Subject) -> Result<bool, LogError> {
        let home = Home::of(subject);
        let others = [home.blobs(), home.torn()];
        let mut are_there = !lineup(self.fs(), &home)?.is_empty();
        for dir in others {
            are_there |= !self.names(dir)?.is_empty();
        }
        Ok(are_there)
    }

    /// Moves the directory of `lease`, which reads as empty, to a name that is free.
    pub(crate) fn set_aside(&self, lease: Lease) -> Result<(), LogError> {
        let subject = lease.subject().clone();
        self.make_place(ASIDE)?;
        let taken = self.names(ASIDE)?;
        let free = (1_u32..).map(|n| format!("{subject}.{n}"));
        let Some(name) = free.into_iter().find(|name| !taken.contains(name)) else {
            return Err(LogError::Exists(subject));
        };
        let to = Path::new(ASIDE).join(name);
        self.transfer(&subject, Home::of(&subject).root(), &to)?;
        tracing::warn!(place = %to.display(), "the remains of a session were set aside");
        lease.forget();
        Ok(())
    }
}
