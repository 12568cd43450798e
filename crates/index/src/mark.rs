//! Where a log ended when its row was made, and when anything in the store may have moved.
//!
//! A log only grows: within an epoch at the end of its last segment, and each new epoch by a new
//! segment, which changes the time of the directory. So two looks tell whether a row still holds.
//! Times of files are compared for equality only, never for order (LOG-14).

use std::fs::{Metadata, symlink_metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use sessiond_log::fs::{Fs, RealFs};

const NANOS: i128 = 1_000_000_000;

/// A clock tick of any kernel, with room. A file changed twice within one keeps its time.
const TICK: i128 = NANOS / 20;

/// The same, where times are kept in whole seconds or two.
const COARSE_TICK: i128 = 3 * NANOS;

/// How much of a segment's end is looked at for its last record. A turn ends with a small one.
const LAST_BYTES: u64 = 8 * 1024;

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Name of the last segment.
    pub(crate) segment: String,
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// Time of the directory that the segments are in.
    pub(crate) changed: i64,
}

/// A change of the store that a row may have missed changes one of these: a session is made or
/// goes away in `sessions`, and every lease leaves its trace in `open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) sessions: i64,
    pub(crate) open: i64,
}

impl Mark {
    /// The end of a log now; none where it cannot be told for certain. Take it before reading:
    /// then what it misses is read again.
    pub(crate) fn of(root: &Path, session: &str) -> Option<Self> {
        let log = log(root, session);
        let changed = settled(&directory(&log)?)?;
        let names = std::fs::read_dir(&log).ok()?;
        let segment = names
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| Path::new(name).extension().is_some_and(|e| e == "jsonl"))
            .max()?;
        let bytes = file(&log.join(&segment))?.len();
        Some(Self {
            segment,
            bytes,
            changed,
        })
    }

    /// Whether the log still ends there.
    pub(crate) fn holds(&self, root: &Path, session: &str) -> bool {
        let log = log(root, session);
        let unchanged = |found: &Metadata| nanos(found) == Some(self.changed);
        let same = |found: &Metadata| found.len() == self.bytes;
        directory(&log).as_ref().is_some_and(unchanged)
            && file(&log.join(&self.segment)).as_ref().is_some_and(same)
    }

    /// Number of the record that ends there; none where the end is no record.
    pub(crate) fn last_seq(&self, root: &Path, session: &str) -> Option<u64> {
        #[derive(Deserialize)]
        struct Numbered {
            seq: u64,
        }
        let path = Path::new("sessions").join(session).join("log");
        let from = self.bytes.saturating_sub(LAST_BYTES);
        let fs = RealFs::new(root).ok()?;
        let bytes = fs.read(&path.join(&self.segment), from..self.bytes).ok()?;
        let line = bytes.strip_suffix(b"\n")?.rsplit(|b| *b == b'\n').next()?;
        let record: Numbered = serde_json::from_slice(line).ok()?;
        Some(record.seq)
    }
}

impl Stamp {
    /// The store as it is now; none while its last change is too young to tell it from the next.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let stamp = |name: &str| settled(&directory(&root.join(name))?);
        // A copy of a store may lack the marks of open sessions.
        let none_open = symlink_metadata(root.join("open")).is_err();
        Some(Self {
            sessions: stamp("sessions")?,
            open: if none_open { 0 } else { stamp("open")? },
        })
    }
}

fn log(root: &Path, session: &str) -> PathBuf {
    let mut path = root.join("sessions");
    path.push(session);
    path.push("log");
    path
}

fn directory(path: &Path) -> Option<Metadata> {
    symlink_metadata(path).ok().filter(Metadata::is_dir)
}

fn file(path: &Path) -> Option<Metadata> {
    symlink_metadata(path).ok().filter(Metadata::is_file)
}

fn nanos(found: &Metadata) -> Option<i64> {
    let nanos = i128::from(found.mtime()) * NANOS + i128::from(found.mtime_nsec());
    i64::try_from(nanos).ok()
}

/// The time of a directory, unless a change that is still to come could leave it as it is.
fn settled(found: &Metadata) -> Option<i64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let time = nanos(found)?;
    is_settled(time, i128::try_from(now.as_nanos()).ok()?).then_some(time)
}

fn is_settled(time: i64, now: i128) -> bool {
    let time = i128::from(time);
    let tick = if time % NANOS == 0 { COARSE_TICK } else { TICK };
    time + tick < now
}

#[cfg(test)]
mod tests;
