//! Back-ups of a whole store, made before its layout changes (LOG-11).
//!
//! `backup/format-<n>.<k>` is a store by itself. Files that are never written again are shared by
//! hard links, which cost no room; the others are copied. Nothing removes a back-up.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::aside::unused;
use crate::error::{Doing, LogError, found};
use crate::fs::{FileKind, Replace, fill, remove_tree};
use crate::layout::{ARCHIVE, ASIDE, AUDIT, BACKUP, KEYS, SESSIONS, STORE, SegmentName, TRASH};
use crate::nursery::cannot_link;
use crate::store::Store;

/// How the name of a back-up begins that is being made.
const UNFINISHED: &str = ".new.";

/// All that is not derived from the rest.
const CONTENT: [&str; 7] = [STORE, KEYS, SESSIONS, ARCHIVE, ASIDE, TRASH, AUDIT];

impl Store {
    /// The back-ups of this store, by name: directories that are stores themselves.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn backups(&self) -> Result<Vec<PathBuf>, LogError> {
        let mut names = self.names(BACKUP)?;
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        Ok(names
            .iter()
            .map(|name| Path::new(BACKUP).join(name))
            .collect())
    }

    /// Makes a back-up of a store of this layout; it appears whole or not at all. Nobody else may
    /// make one at the same time.
    pub(crate) fn back_up(&self, layout: u64) -> Result<PathBuf, LogError> {
        let (fs, dir) = (self.fs(), Path::new(BACKUP));
        self.make_place(BACKUP)?;
        let taken = self.names(dir)?;
        for name in taken.iter().filter(|name| name.starts_with(UNFINISHED)) {
            let path = dir.join(name);
            remove_tree(fs, &path).doing("remove", &path)?;
        }
        let unfinished = dir.join(format!("{UNFINISHED}{}", Uuid::new_v4().simple()));
        fs.make_dir(&unfinished).doing("create", &unfinished)?;
        for name in CONTENT {
            self.copy_tree(Path::new(name), &unfinished.join(name))?;
        }
        fs.sync_dir(&unfinished).doing("sync", &unfinished)?;
        let place = dir.join(unused(&format!("format-{layout}"), &taken));
        fs.rename(&unfinished, &place).doing("name", &place)?;
        fs.sync_dir(dir).doing("sync", dir)?;
        Ok(place)
    }

    /// Copies `from`, which may be missing, and all below it. Links are left out (LOG-15), as are
    /// locks and what is half-made.
    fn copy_tree(&self, from: &Path, to: &Path) -> Result<(), LogError> {
        let fs = self.fs();
        let Some(stat) = found(fs.stat(from)).doing("look up", from)? else {
            return Ok(());
        };
        match stat.kind {
            FileKind::Other => Ok(()),
            FileKind::File => self.copy_file(from, to),
            FileKind::Directory => {
                fs.make_dir(to).doing("create", to)?;
                let mut names = self.names(from)?;
                names.retain(|name| name != "LOCK" && !name.starts_with('.'));
                names.sort_unstable();
                let last = names.pop();
                for name in names {
                    let (from, to) = (from.join(&name), to.join(&name));
                    if !is_final(&from) || !self.share(&from, &to)? {
                        self.copy_tree(&from, &to)?;
                    }
                }
                if let Some(name) = last {
                    // Of segments the one that may still be cut.
                    self.copy_tree(&from.join(&name), &to.join(&name))?;
                }
                fs.sync_dir(to).doing("sync", to)
            }
        }
    }

    /// Gives a file a second name; whether that could be done here.
    fn share(&self, from: &Path, to: &Path) -> Result<bool, LogError> {
        match self.fs().link(from, to) {
            Ok(()) => Ok(true),
            Err(error) if cannot_link(&error) => Ok(false),
            Err(error) => Err(error).doing("share", from),
        }
    }

    fn copy_file(&self, from: &Path, to: &Path) -> Result<(), LogError> {
        let Some(bytes) = found(self.fs().read(from, 0..u64::MAX)).doing("read", from)? else {
            // Archived or removed in this moment: it is where it went.
            return Ok(());
        };
        fill(self.fs(), to, &bytes, Replace::Durable).doing("write", to)
    }
}

/// Whether a file is never written again, unless it is the last of its directory.
fn is_final(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let dir = path
        .parent()
        .and_then(Path::file_name)
        .and_then(|dir| dir.to_str());
    match dir {
        Some("log") => name.is_some_and(|name| SegmentName::parse(name).is_some()),
        Some("blobs" | "older" | "torn") => true,
        _ => false,
    }
}
