//! The only way this crate reaches a disk: one trait, several implementations.
//!
//! Every path is relative to the root of the store and every implementation refuses to follow a
//! symbolic link below that root (LOG-15). The operations are as small as the system calls they
//! stand for, so that a fault can be put before each of them and a crash between any two.

mod crash;
mod facts;
mod fault;
mod memory;
mod real;
mod tree;

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::path::Path;

pub use crash::{CrashFs, Loss};
pub use facts::{FsKind, filesystem, sync_probe};
pub use fault::{Fault, FaultFs, Repeat};
pub use memory::MemoryFs;
pub use real::RealFs;
pub(crate) use real::system_text;
pub(crate) use tree::{remove_tree, tree_bytes};

/// What a name in the store stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else (a symbolic link, a socket): never opened.
    Other,
}

/// Identity of a file that survives renames: what the fence of a lease compares (LOG-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Device the file lives on.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
}

/// What [`Fs::stat`] tells of a name, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Kind of the file.
    pub kind: FileKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Identity of the file.
    pub id: FileId,
}

/// Whether a lock excludes everybody or only exclusive holders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// One holder; creates the lock file when there is none.
    Exclusive,
    /// A short look at whether somebody holds the lock; creates nothing.
    Probe,
}

/// A file system rooted in the directory of a store. Paths are relative to it; the empty path is
/// the root itself. Errors are those of the operating system.
pub trait Fs: Send + Sync + Debug {
    /// Makes the root and its missing parents (0700) and syncs what it made. Nothing to do is fine.
    fn make_root(&self) -> io::Result<()>;
    /// Makes one directory (0700). One that is there already is fine. Not durable before
    /// [`Fs::sync_dir`] of the parent.
    fn make_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the entries of a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Names in a directory, in no particular order.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Kind, length and identity of a name.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The bytes of a file within `range`; fewer when the file ends earlier.
    fn read(&self, path: &Path, range: Range<u64>) -> io::Result<Vec<u8>>;
    /// Creates a file (0600) for appending; fails when the name exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;
    /// Makes the content of a file durable.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Cuts a file to `bytes`. Not durable before [`Fs::sync_file`].
    fn truncate(&self, path: &Path, bytes: u64) -> io::Result<()>;
    /// Opens a file that exists for appending.
    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;
    /// Gives a file or directory another name, replacing a file or an empty directory there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file one more name; fails when that exists, or on another file system.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes the name of a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Tries to lock a file for the life of the answer; `None` while somebody else holds it.
    fn lock(&self, path: &Path, mode: LockMode) -> io::Result<Option<Box<dyn Lock>>>;
}

/// A file open for appending. Dropping it closes the descriptor.
pub trait AppendFile: Send + Debug {
    /// One write at the end of the file; answers how many bytes were taken.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Makes all that was written durable (fdatasync).
    fn sync(&mut self) -> io::Result<()>;
}

/// A lock that is held until it is dropped; the kernel frees it when the process dies.
pub trait Lock: Send + Sync + Debug {
    /// The file that is locked, whatever its name now stands for.
    fn id(&self) -> FileId;
}

/// How far [`replace`] goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    /// Content and name are on stable storage when it returns.
    Durable,
    /// Content is; the name follows with the next sync of its directory.
    Content,
    /// Atomic for those who read now; a power cut may leave the old content or none.
    Atomic,
}

/// Writes `bytes` under `path` through a temporary file in the same directory, so that a reader
/// sees the old content or the new one and nothing between.
pub(crate) fn replace(fs: &dyn Fs, path: &Path, bytes: &[u8], how: Replace) -> io::Result<()> {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy())
        .unwrap_or_default();
    let unique = uuid::Uuid::new_v4().simple();
    let temporary = path.with_file_name(format!(".{name}.{unique}"));
    let written = fill(fs, &temporary, bytes, how).and_then(|()| fs.rename(&temporary, path));
    if let Err(error) = written {
        // The first error is the one to report; a temporary name left behind is harmless.
        let _ = fs.remove(&temporary);
        return Err(error);
    }
    match (how, path.parent()) {
        (Replace::Durable, Some(parent)) => fs.sync_dir(parent),
        _ => Ok(()),
    }
}

/// Makes a file of these bytes.
pub(crate) fn fill(fs: &dyn Fs, path: &Path, bytes: &[u8], how: Replace) -> io::Result<()> {
    let mut file = fs.create(path)?;
    write_whole(file.as_mut(), bytes)?;
    if how != Replace::Atomic {
        file.sync()?;
    }
    Ok(())
}

/// One write; a short one is an error, never continued (LOG-4, LOG-6).
pub(crate) fn write_whole(file: &mut dyn AppendFile, bytes: &[u8]) -> io::Result<()> {
    let taken = file.write(bytes)?;
    if taken == bytes.len() {
        return Ok(());
    }
    let text = format!("short write: {taken} of {} bytes", bytes.len());
    Err(io::Error::new(io::ErrorKind::WriteZero, text))
}
