//! The database file: where it lies, whether it may be used.

use std::fs::{OpenOptions, remove_file, symlink_metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

const NAME: &str = "index.sqlite";

/// What SQLite keeps beside it.
const BESIDE: [&str; 2] = ["index.sqlite-wal", "index.sqlite-shm"];

/// Room that a disk must have for the index to be written: what a batch of rows takes, several
/// times over. Below it the room is left to the logs.
const ROOM: u64 = 16 << 20;

/// Which file a connection has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

/// The file of a store, made (0600) when there is none; none where there can be none: the store is
/// in memory, not yet made, not writable, nearly full, or something else has the name.
pub(crate) fn usable(root: &Path) -> Option<(PathBuf, Identity)> {
    // SQLite refuses a link anywhere in the path; above the store one is fine.
    let root = root.canonicalize().ok()?;
    let store = symlink_metadata(&root).ok()?;
    let sessions = symlink_metadata(root.join("sessions")).ok()?;
    if !sessions.is_dir() || !has_room(&root) {
        return None;
    }
    let path = root.join(NAME);
    if let Err(error) = make(&path)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return None;
    }
    let found = symlink_metadata(&path).ok()?;
    let identity = Identity {
        device: found.dev(),
        inode: found.ino(),
    };
    let is_ours = found.is_file() && found.uid() == store.uid() && found.nlink() == 1;
    is_ours.then_some((path, identity))
}

/// Removes the file of a store, so that a new one is made: it was damaged.
pub(crate) fn discard(root: &Path) {
    for name in BESIDE.iter().chain([&NAME]) {
        // What cannot be removed is found damaged again, and passed over again.
        if let Err(error) = remove_file(root.join(name))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(%error, name, "the index could not be removed");
        }
    }
}

/// Whether what lies beside the store leaves room for the index.
pub(crate) fn has_room(root: &Path) -> bool {
    rustix::fs::statvfs(root).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM)
}

fn make(path: &Path) -> io::Result<()> {
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
        .map(drop)
}
