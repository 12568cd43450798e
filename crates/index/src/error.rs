//! The one error of this crate.

use sessiond_log::LogError;
use thiserror::Error;

/// Why there is no answer. A database file that cannot be used is none of the reasons: the answer
/// then comes from memory.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The logs could not be listed or read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// SQLite failed in memory as well.
    #[error("the index failed: {0}")]
    Database(#[from] rusqlite::Error),
}

impl IndexError {
    /// A stable name of the kind of error, for protocols and tests.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Log(error) => error.code(),
            Self::Database(_) => "index",
        }
    }
}
