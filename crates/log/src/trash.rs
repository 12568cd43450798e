//! Sessions that are removed: the trash, the way back out of it, and what its end leaves behind.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Doing, LogError, found};
use crate::fs::{Lock, LockMode, Replace, remove_tree, replace, tree_bytes};
use crate::layout::{Home, SESSIONS, TRASH};
use crate::lease::Lease;
use crate::owner::Owner;
use crate::store::Store;
use crate::subject::Subject;

/// How the name of a tombstone ends.
const TOMBSTONE: &str = ".tombstone";

/// What is left of a session that was removed (LOG-12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The session.
    pub subject: Subject,
    /// When it was moved to the trash, in milliseconds of the Unix epoch, as the caller said.
    pub removed_at: u64,
    /// Whether its content is still there.
    pub content: Content,
}

/// What became of the content of a removed session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// It is in the trash.
    Kept,
    /// The trash was emptied.
    Deleted,
}

impl Tombstone {
    /// Where the content is, or was.
    fn place(&self) -> PathBuf {
        Path::new(TRASH).join(format!("{}.{}", self.subject, self.removed_at))
    }

    /// Where it says that the content is gone.
    fn stone(&self) -> PathBuf {
        PathBuf::from(format!("{}{TOMBSTONE}", self.place().display()))
    }
}

impl Store {
    /// Moves a session, from the archive if it is there, to the trash, at `now` in milliseconds of
    /// the Unix epoch.
    ///
    /// # Errors
    /// As [`Store::claim`].
    pub fn trash(&self, subject: &Subject, owner: &Owner, now: u64) -> Result<(), LogError> {
        match self.claim(subject, owner) {
            Ok(lease) => lease.trash(now),
            Err(LogError::NotFound(_)) => {
                let lock = self.lock_archived(subject)?;
                self.discard(subject, &Home::archived(subject), now)?;
                drop(lock);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Brings a removed session back among the others as it was: of several of this id, the one
    /// that was removed last and of which nothing was deleted yet.
    ///
    /// # Errors
    /// [`LogError::NotFound`] when the trash has none; [`LogError::Exists`] when the store has one
    /// of this id, archived or not; [`LogError::Busy`], [`LogError::TooNew`], [`LogError::Io`].
    pub fn restore(&self, subject: &Subject) -> Result<(), LogError> {
        self.writable()?;
        let mut all = self.discarded(u64::MAX)?;
        all.retain(|removed| removed.subject == *subject);
        all.sort_unstable_by_key(|removed| Reverse(removed.removed_at));
        for removed in all {
            let lock = match self.lock_discarded(&removed) {
                Err(LogError::NotFound(_)) => continue,
                other => other?,
            };
            let stone = removed.stone();
            if found(self.fs().stat(&stone))
                .doing("look up", &stone)?
                .is_some()
            {
                // Its deletion has begun.
                continue;
            }
            self.vacant(subject)?;
            self.make_room(subject)?;
            self.make_place(SESSIONS)?;
            self.transfer(subject, &removed.place(), Home::of(subject).root())?;
            drop(lock);
            return Ok(());
        }
        Err(LogError::NotFound(subject.clone()))
    }

    /// Deletes what was moved to the trash before `time`, in milliseconds of the Unix epoch, but
    /// for a session that is being brought back. A tombstone stays. Answers the bytes of the files
    /// that went; those that a fork shares are freed with their last name.
    ///
    /// # Errors
    /// [`LogError::TooNew`], [`LogError::Io`]: done again, it goes on.
    pub fn empty_trash(&self, time: u64) -> Result<u64, LogError> {
        self.writable()?;
        let (fs, dir) = (self.fs(), Path::new(TRASH));
        let mut bytes = 0;
        for mut removed in self.discarded(time)? {
            let lock = match self.lock_discarded(&removed) {
                Ok(lock) => lock,
                Err(LogError::Busy { .. } | LogError::NotFound(_)) => continue,
                Err(error) => return Err(error),
            };
            let (path, place) = (removed.place(), removed.stone());
            removed.content = Content::Deleted;
            bytes += tree_bytes(fs, &path).doing("look up", &path)?;
            let text = serde_json::to_vec(&removed).map_err(std::io::Error::other);
            let text = text.doing("write", dir)?;
            replace(fs, &place, &text, Replace::Durable).doing("write", &place)?;
            remove_tree(fs, &path).doing("remove", &path)?;
            drop(lock);
        }
        if bytes > 0 {
            fs.sync_dir(dir).doing("sync", dir)?;
        }
        Ok(bytes)
    }

    /// What was removed from this store, by time.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn tombstones(&self) -> Result<Vec<Tombstone>, LogError> {
        let mut stones = self.removed()?;
        // One whose content is partly there has both; its deletion has begun.
        stones.sort_by(|a, b| {
            let key = |s: &Tombstone| (s.removed_at, s.subject.clone(), s.content == Content::Kept);
            key(a).cmp(&key(b))
        });
        stones.dedup_by(|b, a| a.removed_at == b.removed_at && a.subject == b.subject);
        Ok(stones)
    }

    /// What lies in the trash since before `time`, in milliseconds of the Unix epoch.
    pub(crate) fn discarded(&self, time: u64) -> Result<Vec<Tombstone>, LogError> {
        let mut removed = self.removed()?;
        removed.retain(|stone| stone.content == Content::Kept && stone.removed_at < time);
        Ok(removed)
    }

    /// Bytes of the files of a removed session.
    pub(crate) fn discarded_bytes(&self, removed: &Tombstone) -> Result<u64, LogError> {
        let path = removed.place();
        tree_bytes(self.fs(), &path).doing("look up", &path)
    }

    /// What the names in the trash tell, in no order; of a deletion under way, both names.
    fn removed(&self) -> Result<Vec<Tombstone>, LogError> {
        let names = self.names(TRASH)?;
        Ok(names.iter().filter_map(|name| parse(name)).collect())
    }

    /// Moves a session whose lock is held to the trash.
    fn discard(&self, subject: &Subject, home: &Home, now: u64) -> Result<(), LogError> {
        let removed = Tombstone {
            subject: subject.clone(),
            removed_at: now,
            content: Content::Kept,
        };
        self.make_place(TRASH)?;
        self.transfer(subject, home.root(), &removed.place())
    }

    /// Locks a removed session where it lies.
    fn lock_discarded(&self, removed: &Tombstone) -> Result<Box<dyn Lock>, LogError> {
        let (fs, path) = (self.fs(), removed.place().join("LOCK"));
        let missing = || LogError::NotFound(removed.subject.clone());
        let lock = found(fs.lock(&path, LockMode::Exclusive)).doing("lock", &path)?;
        let lock = lock.ok_or_else(missing)?.ok_or_else(|| LogError::Busy {
            subject: removed.subject.clone(),
            holder: None,
        })?;
        // It may have been brought back or deleted before the lock was ours.
        match found(fs.stat(&path)).doing("look up", &path)? {
            Some(stat) if stat.id == lock.id() => Ok(lock),
            _ => Err(missing()),
        }
    }
}

impl Lease {
    /// Moves the session of this lease to the trash, at `now` in milliseconds of the Unix epoch,
    /// and ends the lease. Its writer must have been shut down.
    ///
    /// # Errors
    /// [`LogError::Fenced`], [`LogError::Io`].
    pub fn trash(self, now: u64) -> Result<(), LogError> {
        let held = self.held();
        held.check()?;
        held.store.discard(&held.subject, &held.home, now)?;
        self.forget();
        Ok(())
    }
}

/// Reads a name in the trash: `<id>.<time>`, with `.tombstone` when the content is gone.
fn parse(name: &str) -> Option<Tombstone> {
    let (name, content) = match name.strip_suffix(TOMBSTONE) {
        Some(name) => (name, Content::Deleted),
        None => (name, Content::Kept),
    };
    let (subject, time) = name.split_once('.')?;
    Some(Tombstone {
        subject: subject.parse().ok()?,
        removed_at: time.parse().ok()?,
        content,
    })
}
