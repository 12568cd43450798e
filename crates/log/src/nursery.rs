//! A session that is being built where no reader looks, and appears whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::{Doing, LogError};
use crate::fs::{Lock, LockMode, remove_tree, write_whole};
use crate::layout::{Home, SESSIONS};
use crate::store::Store;
use crate::subject::Subject;

/// How the directories begin in which sessions are built.
pub(crate) const NURSERY: &str = ".new.";

/// The directory of a session to come, below `sessions/` under a name that is no id. Its lock is
/// held, so that whoever gets it knows a leftover; the lock stays when the directory is renamed.
#[derive(Debug)]
pub(crate) struct Nursery<'a> {
    store: &'a Store,
    subject: Subject,
    home: Home,
    lock: Option<Box<dyn Lock>>,
}

impl<'a> Nursery<'a> {
    /// Makes the directory.
    pub(crate) fn new(store: &'a Store, subject: &Subject) -> Result<Self, LogError> {
        store.prepare()?;
        let fs = store.fs();
        let name = format!("{NURSERY}{}", Uuid::new_v4().simple());
        let home = Home::unborn(Path::new(SESSIONS).join(name));
        let (store, subject) = (store, subject.clone());
        fs.make_dir(home.root()).doing("create", home.root())?;
        let path = home.lock();
        let lock = fs.lock(&path, LockMode::Exclusive).doing("lock", &path)?;
        if lock.is_none() {
            // A sweep took it for a leftover in the moment before, and removes it.
            let holder = None;
            return Err(LogError::Busy { subject, holder });
        }
        let nursery = Self {
            store,
            subject,
            home,
            lock,
        };
        for dir in directories(&nursery.home) {
            fs.make_dir(&dir).doing("create", &dir)?;
        }
        Ok(nursery)
    }

    /// The directory and its lock, for who looks after them from now on.
    pub(crate) fn into_parts(mut self) -> Result<(Home, Box<dyn Lock>), LogError> {
        let lock = self.lock.take();
        let lock = lock.ok_or_else(|| LogError::Fenced(self.subject.clone()))?;
        Ok((self.home.clone(), lock))
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Writes and syncs a file below the directory.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), LogError> {
        let mut file = self.store.fs().create(path).doing("create", path)?;
        write_whole(file.as_mut(), bytes).doing("write", path)?;
        file.sync().doing("sync", path)
    }

    /// Gives a durable file that is never written again a name here as well; copies it where a
    /// file cannot have two names. Answers whether there is such a file.
    pub(crate) fn share(&self, from: &Path, to: &Path) -> Result<Shared, LogError> {
        match self.store.fs().link(from, to) {
            Ok(()) => Ok(Shared::Yes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Shared::Missing),
            Err(e) if cannot_link(&e) => {
                self.copy(from, to, u64::MAX)?;
                Ok(Shared::Yes)
            }
            Err(error) => Err(error).doing("share", from),
        }
    }

    /// Copies the first `bytes` of a file.
    pub(crate) fn copy(&self, from: &Path, to: &Path, bytes: u64) -> Result<(), LogError> {
        let content = self.store.fs().read(from, 0..bytes).doing("read", from)?;
        self.put(to, &content)
    }

    /// Makes it a session; the answer is the lock on it.
    pub(crate) fn settle(mut self) -> Result<Box<dyn Lock>, LogError> {
        appear(self.store, &self.home, &self.subject)?;
        // From here on the directory is a session: only its owner may remove it.
        let lock = self.lock.take();
        lock.ok_or_else(|| LogError::Fenced(self.subject.clone()))
    }
}

fn directories(home: &Home) -> [PathBuf; 3] {
    [home.log(), home.older(), home.blobs()]
}

/// Makes a session of what is in `home`.
pub(crate) fn appear(store: &Store, home: &Home, subject: &Subject) -> Result<(), LogError> {
    let fs = store.fs();
    for dir in directories(home) {
        fs.sync_dir(&dir).doing("sync", &dir)?;
    }
    fs.sync_dir(home.root()).doing("sync", home.root())?;
    let place = Home::of(subject);
    match fs.rename(home.root(), place.root()) {
        Err(e) if is_occupied(&e) => return Err(LogError::Exists(subject.clone())),
        other => other.doing("create", place.root())?,
    }
    for dir in [SESSIONS, ""].map(Path::new) {
        fs.sync_dir(dir).doing("sync", dir)?;
    }
    Ok(())
}

impl Drop for Nursery<'_> {
    fn drop(&mut self) {
        if self.lock.is_some()
            && let Err(error) = remove_tree(self.store.fs(), self.home.root())
        {
            tracing::debug!(%error, "a half-built session was not removed");
        }
    }
}

/// What became of a file that was to be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    Yes,
    Missing,
}

/// Whether a file cannot have two names here: other disk, file system without, too many.
pub(crate) fn cannot_link(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    let kinds = [CrossesDevices, PermissionDenied, TooManyLinks, Unsupported];
    kinds.contains(&error.kind())
}

/// Whether a rename failed for what is there already.
pub(crate) fn is_occupied(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty};
    [AlreadyExists, DirectoryNotEmpty].contains(&error.kind())
}
