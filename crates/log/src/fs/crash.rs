//! A model of power loss: what was synced survives, of the rest any part may.
//!
//! The model is stricter than most disks: a file that was synced under a name whose directory was
//! not is gone. So a missing sync of a file or a directory shows, where real journals hide it.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AppendFile, Fs, Lock, LockMode, MemoryFs, Stat};

/// What a crash takes of the bytes and names that were never synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// All of it.
    Everything,
    /// Nothing of it: the process died, the machine did not.
    Nothing,
    /// A part chosen by a seed: names at random, bytes cut, zeroed or kept.
    Some(u64),
}

/// A memory file system that remembers each change in order, so that one run yields the state
/// after a crash at any point of it.
#[derive(Debug, Clone, Default)]
pub struct CrashFs {
    inner: MemoryFs,
    journal: Arc<Mutex<Vec<Change>>>,
}

#[derive(Debug, Clone)]
enum Change {
    MakeRoot,
    MakeDir(PathBuf),
    SyncDir(PathBuf),
    Create(PathBuf, u64),
    Write(u64, Vec<u8>),
    Sync(u64),
    Truncate(u64, u64),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl CrashFs {
    /// An empty file system.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes and syncs made so far: the crash points of this run.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.journal().len()
    }

    /// What a disk holds when the machine dies after the first `point` changes.
    #[must_use]
    pub fn after_crash(&self, point: usize, loss: Loss) -> MemoryFs {
        let mut disk = Disk::default();
        for change in self.journal().iter().take(point) {
            disk.apply(change);
        }
        disk.survive(loss)
    }

    fn journal(&self) -> MutexGuard<'_, Vec<Change>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: Change) {
        self.journal().push(change);
    }

    fn inode(&self, path: &Path) -> io::Result<u64> {
        Ok(self.inner.stat(path)?.id.inode)
    }
}

impl Fs for CrashFs {
    fn make_root(&self) -> io::Result<()> {
        self.inner.make_root()?;
        self.note(Change::MakeRoot);
        Ok(())
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let fresh = self.inner.stat(path).is_err();
        self.inner.make_dir(path)?;
        if fresh {
            self.note(Change::MakeDir(path.to_owned()));
        }
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)?;
        self.note(Change::SyncDir(path.to_owned()));
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.inner.list(path)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.inner.stat(path)
    }

    fn read(&self, path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.inner.read(path, range)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let inner = self.inner.create(path)?;
        let inode = self.inode(path)?;
        self.note(Change::Create(path.to_owned(), inode));
        Ok(Box::new(CrashFile {
            inner,
            fs: self.clone(),
            inode,
        }))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_file(path)?;
        self.note(Change::Sync(self.inode(path)?));
        Ok(())
    }

    fn truncate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.inner.truncate(path, bytes)?;
        self.note(Change::Truncate(self.inode(path)?, bytes));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)?;
        self.note(Change::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)?;
        self.note(Change::Remove(path.to_owned()));
        Ok(())
    }

    fn lock(&self, path: &Path, mode: LockMode) -> io::Result<Option<Box<dyn Lock>>> {
        let fresh = self.inner.stat(path).is_err();
        let lock = self.inner.lock(path, mode)?;
        if fresh {
            self.note(Change::Create(path.to_owned(), self.inode(path)?));
        }
        Ok(lock)
    }
}

#[derive(Debug)]
struct CrashFile {
    inner: Box<dyn AppendFile>,
    fs: CrashFs,
    inode: u64,
}

impl AppendFile for CrashFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.inner.write(bytes)?;
        self.fs.note(Change::Write(
            self.inode,
            bytes.get(..taken).unwrap_or_default().to_vec(),
        ));
        Ok(taken)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.inner.sync()?;
        self.fs.note(Change::Sync(self.inode));
        Ok(())
    }
}

/// What a directory entry leads to; a directory is known by the path it was made under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Directory,
    File(u64),
}

#[derive(Debug, Default)]
struct Content {
    synced: Vec<u8>,
    now: Vec<u8>,
}

#[derive(Debug, Default)]
struct Disk {
    files: BTreeMap<u64, Content>,
    names: BTreeMap<PathBuf, Entry>,
    synced_names: BTreeMap<PathBuf, Entry>,
}

impl Disk {
    fn apply(&mut self, change: &Change) {
        match change {
            // Making the root syncs it, see the trait.
            Change::MakeRoot => {
                self.names.insert(PathBuf::new(), Entry::Directory);
                self.synced_names.insert(PathBuf::new(), Entry::Directory);
            }
            Change::MakeDir(path) => {
                self.names.insert(path.clone(), Entry::Directory);
            }
            Change::SyncDir(path) => self.sync_names(path),
            Change::Create(path, inode) => {
                self.names.insert(path.clone(), Entry::File(*inode));
                self.files.insert(*inode, Content::default());
            }
            Change::Write(inode, bytes) => {
                self.files
                    .entry(*inode)
                    .or_default()
                    .now
                    .extend_from_slice(bytes);
            }
            Change::Sync(inode) => {
                let file = self.files.entry(*inode).or_default();
                file.synced.clone_from(&file.now);
            }
            Change::Truncate(inode, bytes) => {
                let length = usize::try_from(*bytes).unwrap_or(usize::MAX);
                self.files.entry(*inode).or_default().now.resize(length, 0);
            }
            Change::Rename(from, to) => {
                if let Some(entry) = self.names.remove(from) {
                    self.names.insert(to.clone(), entry);
                }
            }
            Change::Remove(path) => {
                self.names.remove(path);
            }
        }
    }

    fn sync_names(&mut self, dir: &Path) {
        self.synced_names
            .retain(|path, _| path.parent() != Some(dir));
        let named = self
            .names
            .iter()
            .filter(|(path, _)| path.parent() == Some(dir));
        self.synced_names
            .extend(named.map(|(path, entry)| (path.clone(), *entry)));
    }

    fn survive(&self, loss: Loss) -> MemoryFs {
        let mut dice = Dice(if let Loss::Some(seed) = loss { seed } else { 0 });
        let names = match loss {
            Loss::Everything => self.synced_names.clone(),
            Loss::Nothing => self.names.clone(),
            Loss::Some(_) => self.mixed_names(&mut dice),
        };
        let fs = MemoryFs::new();
        let reachable = |path: &Path| {
            let mut parents = path.ancestors().skip(1);
            parents.all(|p| names.get(p) == Some(&Entry::Directory))
        };
        for (path, entry) in names.iter().filter(|(path, _)| reachable(path)) {
            match (
                entry,
                self.files
                    .get(if let Entry::File(i) = entry { i } else { &0 }),
            ) {
                (Entry::File(_), Some(content)) => fs.put(path, content.survive(loss, &mut dice)),
                _ if path.as_os_str().is_empty() => drop(fs.make_root()),
                _ => drop(fs.make_dir(path)),
            }
        }
        fs
    }

    fn mixed_names(&self, dice: &mut Dice) -> BTreeMap<PathBuf, Entry> {
        let mut names = self.synced_names.clone();
        for (path, entry) in &self.names {
            if names.get(path) != Some(entry) && dice.roll(2) == 0 {
                names.insert(path.clone(), *entry);
            }
        }
        for path in self.synced_names.keys() {
            if !self.names.contains_key(path) && dice.roll(2) == 0 {
                names.remove(path);
            }
        }
        names
    }
}

impl Content {
    fn survive(&self, loss: Loss, dice: &mut Dice) -> Vec<u8> {
        match loss {
            Loss::Everything => self.synced.clone(),
            Loss::Nothing => self.now.clone(),
            Loss::Some(_) => {
                let Some(fresh) = self.now.get(self.synced.len()..) else {
                    // A cut that was never synced: either length may be found.
                    let old = dice.roll(2) == 0;
                    return if old {
                        self.synced.clone()
                    } else {
                        self.now.clone()
                    };
                };
                let kept = dice.roll(fresh.len() as u64 + 1);
                let mut bytes = self.synced.clone();
                bytes.extend(fresh.iter().take(usize::try_from(kept).unwrap_or_default()));
                // Length grown, data never written: the rest reads as zeros.
                if dice.roll(3) == 0 {
                    bytes.resize(self.now.len(), 0);
                }
                bytes
            }
        }
    }
}

/// A small generator (splitmix64): the same seed gives the same crash.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}
