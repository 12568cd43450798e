//! A model of power loss: what was synced survives, of the rest any part may.
//!
//! The model is stricter than most disks: a file that was synced under a name whose directory was
//! not is gone. So a missing sync of a file or a directory shows, where real journals hide it.

use std::collections::BTreeMap;
use std::ffi::OsString;
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
    MakeRoot(u64),
    MakeDir(PathBuf, u64),
    SyncDir(PathBuf),
    Create(PathBuf, u64),
    Write(u64, Vec<u8>),
    Sync(u64),
    Truncate(u64, u64),
    Rename(PathBuf, PathBuf),
    Link(PathBuf, u64),
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
        self.note(Change::MakeRoot(self.inode(Path::new(""))?));
        Ok(())
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let fresh = self.inner.stat(path).is_err();
        self.inner.make_dir(path)?;
        if fresh {
            self.note(Change::MakeDir(path.to_owned(), self.inode(path)?));
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

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let inner = self.inner.append(path)?;
        let inode = self.inode(path)?;
        Ok(Box::new(CrashFile {
            inner,
            fs: self.clone(),
            inode,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)?;
        self.note(Change::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.link(from, to)?;
        self.note(Change::Link(to.to_owned(), self.inode(to)?));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)?;
        self.note(Change::Remove(path.to_owned()));
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)?;
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

/// What a directory entry leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Directory(u64),
    File(u64),
}

#[derive(Debug, Default)]
struct Content {
    synced: Vec<u8>,
    now: Vec<u8>,
}

/// Entries by the directory they are in: a directory that moves takes along what is synced in it.
type Names = BTreeMap<(u64, OsString), Entry>;

#[derive(Debug, Default)]
struct Disk {
    root: Option<u64>,
    files: BTreeMap<u64, Content>,
    names: Names,
    synced_names: Names,
}

impl Disk {
    fn apply(&mut self, change: &Change) {
        match change {
            // Making the root syncs it, see the trait.
            Change::MakeRoot(inode) => self.root = Some(*inode),
            Change::MakeDir(path, inode) => self.put(path, Entry::Directory(*inode)),
            Change::SyncDir(path) => self.sync_names(path),
            Change::Create(path, inode) => {
                self.put(path, Entry::File(*inode));
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
                if let Some(entry) = self.take(from) {
                    self.put(to, entry);
                }
            }
            Change::Link(path, inode) => self.put(path, Entry::File(*inode)),
            Change::Remove(path) => drop(self.take(path)),
        }
    }

    /// The directory that is at `path` now.
    fn dir(&self, path: &Path) -> Option<u64> {
        let mut dir = self.root?;
        for name in path.components() {
            let key = (dir, name.as_os_str().to_owned());
            let Some(Entry::Directory(inode)) = self.names.get(&key) else {
                return None;
            };
            dir = *inode;
        }
        Some(dir)
    }

    fn key(&self, path: &Path) -> Option<(u64, OsString)> {
        Some((self.dir(path.parent()?)?, path.file_name()?.to_owned()))
    }

    fn put(&mut self, path: &Path, entry: Entry) {
        if let Some(key) = self.key(path) {
            self.names.insert(key, entry);
        }
    }

    fn take(&mut self, path: &Path) -> Option<Entry> {
        self.key(path).and_then(|key| self.names.remove(&key))
    }

    fn sync_names(&mut self, path: &Path) {
        let Some(dir) = self.dir(path) else { return };
        self.synced_names.retain(|(parent, _), _| *parent != dir);
        let named = self.names.iter().filter(|((parent, _), _)| *parent == dir);
        self.synced_names
            .extend(named.map(|(key, entry)| (key.clone(), *entry)));
    }

    fn survive(&self, loss: Loss) -> MemoryFs {
        let mut dice = Dice(if let Loss::Some(seed) = loss { seed } else { 0 });
        let names = match loss {
            Loss::Everything => self.synced_names.clone(),
            Loss::Nothing => self.names.clone(),
            Loss::Some(_) => self.mixed_names(&mut dice),
        };
        let kept = self.files.iter();
        let kept = kept.map(|(inode, content)| (*inode, content.survive(loss, &mut dice)));
        let kept: BTreeMap<u64, Vec<u8>> = kept.collect();
        let fs = MemoryFs::new();
        if let Some(root) = self.root {
            drop(fs.make_root());
            rebuild(&fs, &names, &kept, (Path::new(""), root));
        }
        fs
    }

    fn mixed_names(&self, dice: &mut Dice) -> Names {
        let mut names = self.synced_names.clone();
        for (key, entry) in &self.names {
            if names.get(key) != Some(entry) && dice.roll(2) == 0 {
                names.insert(key.clone(), *entry);
            }
        }
        for (key, entry) in &self.synced_names {
            // A rename is atomic: the old name does not go before the new one has come.
            let is_at = |names: &Names| names.iter().any(|(k, e)| k != key && e == entry);
            let is_free = !is_at(&self.names) || is_at(&names);
            if !self.names.contains_key(key) && is_free && dice.roll(2) == 0 {
                names.remove(key);
            }
        }
        names
    }
}

/// Makes what a directory holds by `names`, with the bytes that were kept.
fn rebuild(fs: &MemoryFs, names: &Names, kept: &BTreeMap<u64, Vec<u8>>, (path, dir): (&Path, u64)) {
    for ((_, name), entry) in names.iter().filter(|((parent, _), _)| *parent == dir) {
        let path = path.join(name);
        match entry {
            Entry::Directory(inode) => {
                drop(fs.make_dir(&path));
                rebuild(fs, names, kept, (&path, *inode));
            }
            Entry::File(inode) => {
                fs.put(&path, kept.get(inode).cloned().unwrap_or_default());
            }
        }
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
