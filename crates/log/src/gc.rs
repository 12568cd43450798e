//! Removes what nobody needs: blobs without a record, half-built files, old trash.

use std::path::{Path, PathBuf};

use crate::blob::is_blob_name;
use crate::error::{Doing, LogError};
use crate::fs::{FileKind, LockMode, remove_tree, tree_bytes};
use crate::layout::{Home, Place, SESSIONS};
use crate::lease::Lease;
use crate::nursery::NURSERY;
use crate::owner::Owner;
use crate::store::Store;
use crate::subject::Subject;

/// Whether anything is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// Only look.
    DryRun,
    /// Remove it.
    Remove,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Blobs that no record names.
    pub blobs: u64,
    /// Files and half-built sessions that a dying process left.
    pub leftovers: u64,
    /// Sessions in the trash.
    pub trashed: u64,
    /// Bytes of all these; those of files that a fork shares are freed with their last name.
    pub bytes: u64,
    /// Sessions that were passed over because somebody uses them.
    pub busy: Vec<Subject>,
    /// Sessions whose blobs were left alone because their logs are damaged or read as empty: a
    /// record that is gone may have named them.
    pub damaged: Vec<Subject>,
}

impl Store {
    /// Looks through the sessions, archived or not, for what can go, each under its lock, and
    /// through the trash for what lies there since before `trash_before`, in milliseconds of the
    /// Unix epoch. `progress` is told after each session how many of how many were looked at.
    ///
    /// # Errors
    /// [`LogError::TooNew`], [`LogError::Io`]: what was removed by then stays removed.
    pub fn gc(
        &self,
        sweep: Sweep,
        trash_before: u64,
        owner: &Owner,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Swept, LogError> {
        self.writable()?;
        let mut swept = Swept::default();
        let (subjects, archived) = (self.subjects()?, self.archived()?);
        let total = subjects.len() + archived.len();
        let in_use = subjects
            .into_iter()
            .map(|subject| (subject, Place::Sessions));
        let put_away = archived
            .into_iter()
            .map(|subject| (subject, Place::Archive));
        for (index, (subject, place)) in in_use.chain(put_away).enumerate() {
            match self.sweep_under_lock((&subject, place), owner, sweep, &mut swept) {
                Err(LogError::Busy { .. }) => swept.busy.push(subject),
                // It was moved or removed in between.
                Err(LogError::NotFound(_)) => {}
                other => other?,
            }
            progress(index + 1, total);
        }
        for name in self.names(SESSIONS)? {
            if name.starts_with(NURSERY) {
                self.sweep_nursery(&Path::new(SESSIONS).join(name), sweep, &mut swept)?;
            }
        }
        for removed in self.discarded(trash_before)? {
            swept.trashed += 1;
            swept.bytes += self.discarded_bytes(&removed)?;
        }
        if sweep == Sweep::Remove {
            self.empty_trash(trash_before)?;
        }
        Ok(swept)
    }

    fn sweep_under_lock(
        &self,
        (subject, place): (&Subject, Place),
        owner: &Owner,
        sweep: Sweep,
        swept: &mut Swept,
    ) -> Result<(), LogError> {
        match place {
            Place::Sessions => {
                let lease = Lease::take(self.clone(), subject.clone(), owner.clone())?;
                self.sweep_session(subject, &lease.held().home, sweep, swept)
            }
            Place::Archive => {
                let lock = self.lock_archived(subject)?;
                self.sweep_session(subject, &place.home(subject), sweep, swept)?;
                drop(lock);
                Ok(())
            }
        }
    }

    fn sweep_session(
        &self,
        subject: &Subject,
        home: &Home,
        sweep: Sweep,
        swept: &mut Swept,
    ) -> Result<(), LogError> {
        let (scan, survey) = self.with_reader_at(subject, home, |r| r.survey(None, u64::MAX))?;
        // One that reads as empty may be all that is left of a session: see [`Store::aside`].
        let is_sound = scan.damage.is_empty() && scan.newer.is_none() && !scan.is_blank();
        let mut has_unnamed = false;
        for dir in [home.log(), home.older(), home.blobs(), home.torn()] {
            let mut gone = Vec::new();
            for name in self.names(&dir)? {
                let is_blob = dir == home.blobs() && is_blob_name(&name);
                if name.starts_with('.') {
                    swept.leftovers += 1;
                } else if is_blob && !survey.blobs.contains_key(&name) && is_sound {
                    swept.blobs += 1;
                } else {
                    has_unnamed |= is_blob && !survey.blobs.contains_key(&name);
                    continue;
                }
                gone.push(dir.join(name));
            }
            self.clear(&dir, &gone, sweep, swept)?;
        }
        if has_unnamed {
            swept.damaged.push(subject.clone());
        }
        Ok(())
    }

    fn clear(
        &self,
        dir: &Path,
        files: &[PathBuf],
        sweep: Sweep,
        swept: &mut Swept,
    ) -> Result<(), LogError> {
        let fs = self.fs();
        for path in files {
            swept.bytes += fs.stat(path).doing("look up", path)?.bytes;
            if sweep == Sweep::Remove {
                fs.remove(path).doing("remove", path)?;
            }
        }
        if sweep == Sweep::Remove && !files.is_empty() {
            fs.sync_dir(dir).doing("sync", dir)?;
        }
        Ok(())
    }

    /// Removes a session that was being built, unless whoever builds it still holds its lock.
    fn sweep_nursery(&self, path: &Path, sweep: Sweep, swept: &mut Swept) -> Result<(), LogError> {
        let fs = self.fs();
        let lock_path = path.join("LOCK");
        let lock = match fs.stat(path) {
            Ok(stat) if stat.kind == FileKind::Directory => {
                fs.lock(&lock_path, LockMode::Exclusive)
            }
            // It became a session, or it is none of ours.
            _ => return Ok(()),
        };
        if lock.doing("lock", &lock_path)?.is_none() {
            return Ok(());
        }
        swept.leftovers += 1;
        swept.bytes += tree_bytes(fs, path).doing("look up", path)?;
        if sweep == Sweep::Remove {
            remove_tree(fs, path).doing("remove", path)?;
        }
        Ok(())
    }
}
