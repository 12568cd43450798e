//! What is left of a session that reads as empty, kept under a marked name (CKPT-6).
//!
//! A process may die between making a session's first file and writing its first record. Whoever
//! makes a session of that id afterwards finds remains that hold no record; they may be all that
//! a failing disk left of one, so they are moved aside, neither written over nor removed.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::{Doing, LogError, found};
use crate::fs::remove_tree;
use crate::layout::{ASIDE, Home, SESSIONS};
use crate::lease::Lease;
use crate::nursery::NURSERY;
use crate::older::lineup;
use crate::owner::Owner;
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
    fn has_remains(&self, subject: &Subject) -> Result<bool, LogError> {
        let home = Home::of(subject);
        let others = [home.blobs(), home.torn()];
        let mut are_there = !lineup(self.fs(), &home)?.is_empty();
        for dir in others {
            are_there |= !self.names(dir)?.is_empty();
        }
        Ok(are_there)
    }

    /// Makes sure that a session of this id can be moved in: there is none, and what a dead
    /// creation left in its place is out of the way.
    ///
    /// # Errors
    /// [`LogError::Exists`]; [`LogError::Busy`] while one is being created; [`LogError::Io`].
    pub(crate) fn make_room(&self, subject: &Subject) -> Result<(), LogError> {
        let (fs, home) = (self.fs(), Home::of(subject));
        let root = home.root();
        if self.exists(subject)? {
            return Err(LogError::Exists(subject.clone()));
        }
        if found(fs.stat(root)).doing("look up", root)?.is_none() {
            return Ok(());
        }
        let Some(lease) = self.take_empty(subject, &Owner::current())? else {
            return Ok(());
        };
        // Nothing but a lock. It goes in one step: who waits for it must not find half of it.
        let name = format!("{NURSERY}{}", Uuid::new_v4().simple());
        let empty = Path::new(SESSIONS).join(name);
        fs.rename(root, &empty).doing("move", root)?;
        lease.forget();
        remove_tree(fs, &empty).doing("remove", &empty)
    }

    /// Takes the lease of a directory in which no session is. None where it held remains: it was
    /// set aside, and its place is free.
    ///
    /// # Errors
    /// [`LogError::Exists`]; [`LogError::Busy`] while one is being created; [`LogError::Io`].
    pub(crate) fn take_empty(
        &self,
        subject: &Subject,
        owner: &Owner,
    ) -> Result<Option<Lease>, LogError> {
        let lease = Lease::take(self.clone(), subject.clone(), owner.clone())?;
        // Another process may have created and released it in between.
        if self.exists(subject)? {
            return Err(LogError::Exists(subject.clone()));
        }
        if self.has_remains(subject)? {
            self.set_aside(lease)?;
            return Ok(None);
        }
        Ok(Some(lease))
    }

    /// Moves the directory of `lease`, which reads as empty, to a name that is free.
    fn set_aside(&self, lease: Lease) -> Result<(), LogError> {
        let subject = lease.subject().clone();
        self.make_place(ASIDE)?;
        let taken = self.names(ASIDE)?;
        let to = Path::new(ASIDE).join(unused(subject.as_ref(), &taken));
        self.transfer(&subject, Home::of(&subject).root(), &to)?;
        tracing::warn!(place = %to.display(), "the remains of a session were set aside");
        lease.forget();
        Ok(())
    }
}

/// The first of `<stem>.1`, `<stem>.2` … that is not taken.
pub(crate) fn unused(stem: &str, taken: &[String]) -> String {
    let mut number = 1_u64;
    loop {
        let name = format!("{stem}.{number}");
        if !taken.contains(&name) {
            return name;
        }
        number += 1;
    }
}
