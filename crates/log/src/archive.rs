//! Sessions that are put away: the archive, the trash, and what the trash leaves behind.
//!
//! Each is one rename under the lease of the session. The directory a session comes to is synced
//! before the one it came from, so that a crash leaves it in one of them at least; while it is in
//! both, the one in `sessions/` counts.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Doing, LogError, found};
use crate::fs::{Lock, LockMode, Replace, remove_tree, replace, tree_bytes};
use crate::layout::{ARCHIVE, Home, SESSIONS, TRASH};
use crate::lease::Lease;
use crate::nursery::is_occupied;
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
        if self.exists(subject)? {
            return Err(LogError::Exists(subject.clone()));
        }
        let (from, to) = (Home::archived(subject), Home::of(subject));
        self.make_place(SESSIONS)?;
        self.transfer(subject, from.root(), to.root())?;
        drop(lock);
        Ok(())
    }

    /// Moves a session, from the archive if it is there, to the trash, at `now` in milliseconds of
    /// the Unix epoch.
    ///
    /// # Errors
    /// As [`Store::claim`].
    pub fn trash(&self, subject: &Subject, owner: &Owner, now: u64) -> Result<(), LogError> {
        let target = Path::new(TRASH).join(format!("{subject}.{now}"));
        match self.claim(subject, owner) {
            Ok(lease) => {
                self.make_place(TRASH)?;
                self.transfer(subject, Home::of(subject).root(), &target)?;
                lease.forget();
                Ok(())
            }
            Err(LogError::NotFound(_)) => {
                let lock = self.lock_archived(subject)?;
                self.make_place(TRASH)?;
                self.transfer(subject, Home::archived(subject).root(), &target)?;
                drop(lock);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes what was moved to the trash before `time`, in milliseconds of the Unix epoch. A
    /// tombstone stays. Answers the bytes of the files that went; those that a fork shares are
    /// freed with their last name.
    ///
    /// # Errors
    /// [`LogError::TooNew`], [`LogError::Io`]: done again, it goes on.
    pub fn empty_trash(&self, time: u64) -> Result<u64, LogError> {
        self.writable()?;
        let (fs, dir) = (self.fs(), Path::new(TRASH));
        let mut bytes = 0;
        for (path, mut stone) in self.discarded(time)? {
            stone.content = Content::Deleted;
            bytes += tree_bytes(fs, &path).doing("look up", &path)?;
            let text = serde_json::to_vec(&stone).map_err(std::io::Error::other);
            let text = text.doing("write", dir)?;
            let place = PathBuf::from(format!("{}{TOMBSTONE}", path.display()));
            replace(fs, &place, &text, Replace::Durable).doing("write", &place)?;
            remove_tree(fs, &path).doing("remove", &path)?;
        }
        if bytes > 0 {
            fs.sync_dir(dir).doing("sync", dir)?;
        }
        Ok(bytes)
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

    /// What was removed from this store, by time.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn tombstones(&self) -> Result<Vec<Tombstone>, LogError> {
        let mut stones = Vec::new();
        for name in self.names(TRASH)? {
            if let Some((subject, removed_at, content)) = parse(&name) {
                stones.push(Tombstone {
                    subject,
                    removed_at,
                    content,
                });
            }
        }
        // One whose content is partly there has both; its deletion has begun.
        stones.sort_by(|a, b| {
            let key = |s: &Tombstone| (s.removed_at, s.subject.clone(), s.content == Content::Kept);
            key(a).cmp(&key(b))
        });
        stones.dedup_by(|b, a| a.removed_at == b.removed_at && a.subject == b.subject);
        Ok(stones)
    }

    /// Whether the archive has a session of this id, and the store no other.
    pub(crate) fn is_archived(&self, subject: &Subject) -> Result<bool, LogError> {
        let home = Home::archived(subject);
        let is_there = found(self.fs().stat(home.root())).doing("look up", home.root())?;
        Ok(is_there.is_some() && !self.exists(subject)?)
    }

    /// What lies in the trash since before `time`.
    pub(crate) fn discarded(&self, time: u64) -> Result<Vec<(PathBuf, Tombstone)>, LogError> {
        let mut found = Vec::new();
        for name in self.names(TRASH)? {
            if let Some((subject, removed_at, Content::Kept)) = parse(&name)
                && removed_at < time
            {
                let content = Content::Kept;
                let stone = Tombstone {
                    subject,
                    removed_at,
                    content,
                };
                found.push((Path::new(TRASH).join(name), stone));
            }
        }
        Ok(found)
    }

    /// Names in a directory of the store, which may be missing.
    pub(crate) fn names(&self, dir: impl AsRef<Path>) -> Result<Vec<String>, LogError> {
        let dir = dir.as_ref();
        let names = found(self.fs().list(dir)).doing("list", dir)?;
        Ok(names.unwrap_or_default())
    }

    fn lock_archived(&self, subject: &Subject) -> Result<Box<dyn Lock>, LogError> {
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

/// Reads a name in the trash: `<id>.<time>`, with `.tombstone` when the content is gone.
fn parse(name: &str) -> Option<(Subject, u64, Content)> {
    let (name, content) = match name.strip_suffix(TOMBSTONE) {
        Some(name) => (name, Content::Deleted),
        None => (name, Content::Kept),
    };
    let (subject, time) = name.split_once('.')?;
    Some((subject.parse().ok()?, time.parse().ok()?, content))
}
