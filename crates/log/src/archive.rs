//! Sessions that are put away and brought back, and how a session moves.
//!
//! Each is one rename under the lease of the session. The directory a session comes to is synced
//! before the one it came from, so that a crash leaves it in one of them at least; while it is in
//! both, the one in `sessions/` counts.

use std::path::Path;

use crate::error::{Doing, LogError, found};
use crate::fs::{Lock, LockMode};
use crate::layout::{ARCHIVE, Home, Place, SESSIONS};
use crate::lease::Lease;
use crate::lineage::Parent;
use crate::nursery::is_occupied;
use crate::owner::Owner;
use crate::record::RecordView;
use crate::scan::Scan;
use crate::store::Store;
use crate::subject::Subject;

impl Store {
    /// Moves a session out of [`Store::subjects`] into the archive.
    ///
    /// # Errors
    /// As [`Store::claim`]; [`LogError::Exists`] when the archive has one of this id.
    pub fn archive(&self, subject: &Subject, owner: &Owner) -> Result<(), LogError> {
        let lease = self.claim(subject, owner)?;
        let (from, to) = (Home::of(subject), Home::archived(subject));
        self.make_place(ARCHIVE)?;
        self.transfer(subject, from.root(), to.root())?;
        lease.forget();
        Ok(())
    }

    /// Brings a session back from the archive.
    ///
    /// # Errors
    /// [`LogError::NotFound`] when the archive has none of this id; [`LogError::Exists`] when
    /// there is one in use; [`LogError::Busy`], [`LogError::TooNew`], [`LogError::Io`].
    pub fn unarchive(&self, subject: &Subject) -> Result<(), LogError> {
        self.writable()?;
        let lock = self.lock_archived(subject)?;
        self.make_room(subject)?;
        let (from, to) = (Home::archived(subject), Home::of(subject));
        self.make_place(SESSIONS)?;
        self.transfer(subject, from.root(), to.root())?;
        drop(lock);
        Ok(())
    }

    /// The ids in the archive, in order.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn archived(&self) -> Result<Vec<Subject>, LogError> {
        let mut archived = Vec::new();
        for subject in self.names(ARCHIVE)?.iter().filter_map(|n| n.parse().ok()) {
            if self.is_archived(&subject)? {
                archived.push(subject);
            }
        }
        archived.sort_unstable();
        Ok(archived)
    }

    /// [`Store::visit`] of a session in the archive.
    ///
    /// # Errors
    /// [`LogError::Io`]; `visit` may have seen records by then.
    pub fn visit_archived(
        &self,
        subject: &Subject,
        visit: &mut dyn FnMut(RecordView<'_>),
    ) -> Result<Scan, LogError> {
        let home = Home::archived(subject);
        self.with_reader_at(subject, &home, |reader| reader.scan(None, visit))
    }

    /// The log that this one, archived or not, was forked from, without reading its records
    /// (RESUME-9). It may be gone.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn parent(&self, subject: &Subject) -> Result<Option<Parent>, LogError> {
        let home = self.place_of(subject)?.home(subject);
        self.with_reader_at(subject, &home, |r| r.parent())
    }

    /// Whether the archive has a session of this id, and the store no other.
    pub(crate) fn is_archived(&self, subject: &Subject) -> Result<bool, LogError> {
        let home = Home::archived(subject);
        let is_there = found(self.fs().stat(home.root())).doing("look up", home.root())?;
        Ok(is_there.is_some() && !self.exists(subject)?)
    }

    /// Where a session of this id lies, or would.
    pub(crate) fn place_of(&self, subject: &Subject) -> Result<Place, LogError> {
        match self.is_archived(subject)? {
            true => Ok(Place::Archive),
            false => Ok(Place::Sessions),
        }
    }

    /// Names in a directory of the store, which may be missing.
    pub(crate) fn names(&self, dir: impl AsRef<Path>) -> Result<Vec<String>, LogError> {
        let dir = dir.as_ref();
        let names = found(self.fs().list(dir)).doing("list", dir)?;
        Ok(names.unwrap_or_default())
    }

    pub(crate) fn lock_archived(&self, subject: &Subject) -> Result<Box<dyn Lock>, LogError> {
        if !self.is_archived(subject)? {
            return Err(LogError::NotFound(subject.clone()));
        }
        let path = Home::archived(subject).lock();
        let lock = self.fs().lock(&path, LockMode::Exclusive);
        lock.doing("lock", &path)?.ok_or_else(|| LogError::Busy {
            subject: subject.clone(),
            holder: None,
        })
    }

    /// Makes a directory of the store, durably.
    pub(crate) fn make_place(&self, dir: &str) -> Result<(), LogError> {
        let (fs, dir, root) = (self.fs(), Path::new(dir), Path::new(""));
        fs.make_dir(dir).doing("create", dir)?;
        fs.sync_dir(root).doing("sync", root)
    }

    /// Renames the directory of a session whose lock is held.
    pub(crate) fn transfer(
        &self,
        subject: &Subject,
        from: &Path,
        to: &Path,
    ) -> Result<(), LogError> {
        let fs = self.fs();
        match fs.rename(from, to) {
            Err(e) if is_occupied(&e) => return Err(LogError::Exists(subject.clone())),
            other => other.doing("move", from)?,
        }
        // First where it is now: between the two it may be in both, never in none.
        for dir in [to, from].into_iter().filter_map(Path::parent) {
            fs.sync_dir(dir).doing("sync", dir)?;
        }
        Ok(())
    }
}

impl Lease {
    /// Ends the lease of a session that is no longer where it was: its owner record goes with it.
    pub(crate) fn forget(self) {
        let (store, path) = (&self.held().store, self.held().home.owner());
        if let Err(error) = store.fs().remove(path) {
            tracing::debug!(%error, subject = %self.subject(), "owner record not removed");
        }
    }
}
