//! The one error of this crate.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::owner::Holder;
use crate::subject::Subject;

/// What can go wrong with a log. Cheap to clone: a poisoned writer hands out the same failure for
/// ever (LOG-6).
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The disk failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file, relative to the store.
        path: PathBuf,
        /// The error of the system.
        source: Arc<io::Error>,
    },
    /// The text is no canonical UUID (LOG-13).
    #[error("not a session id: expected a lower-case UUID")]
    InvalidSubject,
    /// A record that could not be read back; nothing of its batch was written.
    #[error("invalid record: {0}")]
    InvalidRecord(&'static str),
    /// There is no such log.
    #[error("session {0} not found")]
    NotFound(Subject),
    /// There is a log of this id already.
    #[error("session {0} exists already")]
    Exists(Subject),
    /// The log has no such record on stable storage.
    #[error("session {subject} has no record {seq}")]
    NoRecord {
        /// The log.
        subject: Subject,
        /// The number that was asked for.
        seq: u64,
    },
    /// Somebody else writes this log (LOG-7).
    #[error("session {subject} is in use{}", by(holder.as_deref()))]
    Busy {
        /// The log.
        subject: Subject,
        /// Who holds it, when its record could be read.
        holder: Option<Box<Holder>>,
    },
    /// The lease was lost: the lock was replaced or a newer epoch exists. Nothing was appended.
    #[error("the lease of session {0} is lost")]
    Fenced(Subject),
    /// A newer program wrote this; reading goes as far as known, writing not at all (LOG-11).
    #[error("written by a newer version: format {found}, known {known}")]
    TooNew {
        /// The format that was found.
        found: u64,
        /// The newest format this program writes.
        known: u64,
    },
    /// The root of the store is a link, no directory, or somebody else's (LOG-15).
    #[error("{} cannot be used as a store: {why}", path.display())]
    UnsafeRoot {
        /// The root.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// What was to be imported is no whole export; nothing of it was taken.
    #[error("not a whole export: {why} (at byte {offset})")]
    BadExport {
        /// Where the broken part begins.
        offset: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Too much waits to be written; nothing of this batch was taken.
    #[error("the log's queue is full")]
    QueueFull,
    /// The writer was shut down.
    #[error("the log's writer is closed")]
    Closed,
    /// The lease has a writer that neither failed nor was shut down.
    #[error("the lease has a writer already")]
    WriterExists,
}

fn by(holder: Option<&Holder>) -> String {
    holder.map(|h| format!(" by {h}")).unwrap_or_default()
}

impl LogError {
    /// A stable name of the kind of error, for protocols and tests.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::InvalidSubject => "invalid_subject",
            Self::InvalidRecord(_) => "invalid_record",
            Self::NotFound(_) => "not_found",
            Self::Exists(_) => "exists",
            Self::NoRecord { .. } => "no_record",
            Self::Busy { .. } => "busy",
            Self::Fenced(_) => "fenced",
            Self::TooNew { .. } => "too_new",
            Self::UnsafeRoot { .. } => "unsafe_root",
            Self::BadExport { .. } => "bad_export",
            Self::QueueFull => "queue_full",
            Self::Closed => "closed",
            Self::WriterExists => "writer_exists",
        }
    }
}

/// Says what was done to which file when a system call fails.
pub(crate) trait Doing<T> {
    fn doing(self, action: &'static str, path: &Path) -> Result<T, LogError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, action: &'static str, path: &Path) -> Result<T, LogError> {
        self.map_err(|e| LogError::Io {
            action,
            path: path.to_owned(),
            source: Arc::new(e),
        })
    }
}

/// Turns "there is none" into `None`.
pub(crate) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
