//! What a store holds, and the room it takes (LOG-12).

use std::fmt;
use std::fs;
use std::path::Path;

use sessiond_log::{Content, LogError, Store};

/// Counts of what lies in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occupied {
    /// Sessions in use.
    pub(crate) sessions: usize,
    /// Sessions in the archive.
    pub(crate) archived: usize,
    /// Sessions in the trash, not yet deleted.
    pub(crate) trashed: usize,
    /// Remains that were set aside (CKPT-6).
    pub(crate) aside: usize,
    /// Bytes of all files; those that forks share count once for each.
    pub(crate) bytes: u64,
}

impl Occupied {
    /// Looks at all of a store. Takes a look at each file, so longer than a list of sessions.
    pub(crate) fn look(store: &Store) -> Result<Self, LogError> {
        let stones = store.tombstones()?;
        let kept = stones.iter().filter(|stone| stone.content == Content::Kept);
        Ok(Self {
            sessions: store.subjects()?.len(),
            archived: store.archived()?.len(),
            trashed: kept.count(),
            aside: store.aside()?.len(),
            bytes: size(store.root()),
        })
    }
}

impl fmt::Display for Occupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sessions,
            archived,
            trashed,
            ..
        } = self;
        write!(
            f,
            "{sessions} sessions, {archived} archived, {trashed} in the trash"
        )?;
        let size = self.bytes as f64 / f64::from(1 << 20);
        write!(f, "; the store occupies {size:.1} MiB")
    }
}

/// Bytes of all files below a directory; links are not followed.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let size_of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.map(size_of).sum()
}
