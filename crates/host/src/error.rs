//! Why a host or a socket cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong between processes of one user.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The directory of the sockets is not private.
    #[error("{} cannot hold sockets: {why}", path.display())]
    UnsafeDirectory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Another host serves this store already.
    #[error("a host of this store is running already")]
    Running,
    /// No host could be reached or started in time.
    #[error("the host did not come up within {seconds} s; `sessiond host` shows why")]
    NoHost {
        /// How long it was waited for.
        seconds: u64,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl HostError {
    /// Stable name of the cause.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsafeDirectory { .. } => "unsafe_directory",
            Self::Running => "running",
            Self::NoHost { .. } => "no_host",
            Self::Io { .. } => "io",
        }
    }
}

/// Says what was done to which file.
pub(crate) fn doing<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> HostError + use<'a> {
    move |source| HostError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
