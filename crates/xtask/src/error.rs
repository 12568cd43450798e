//! The one error type of the tasks.

use std::io;
use std::path::{Path, PathBuf};

/// Why a task stopped. Each message says what to do about it where we know.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A command ran and did not succeed.
    #[error("`{command}` {how}")]
    Command {
        /// The command line as it was run.
        command: String,
        /// How it ended: an exit code, a signal, a deadline.
        how: String,
    },
    /// A file or a process could not be reached.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path}: {what}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what is expected.
        what: String,
    },
    /// A tool is missing or too old.
    #[error("{0}")]
    Toolchain(String),
    /// `tidy` found something; each finding is already printed.
    #[error("tidy: {0} finding(s), listed above")]
    Tidy(usize),
    /// The log broke a rule, or a proof could not be had; the table is already printed.
    #[error("faults: {0}")]
    Faults(String),
    /// A schema is not what it should be; each finding is already printed.
    #[error("schemas: {0} finding(s), listed above")]
    Schemas(usize),
    /// A fault of the reference peer was not caught as declared; each is already printed.
    #[error("mutants: {0} problem(s), listed above")]
    Mutants(usize),
    /// A peer did not speak the protocol as expected.
    #[error("{peer}: {what}")]
    Peer {
        /// Which program.
        peer: String,
        /// What it did.
        what: String,
    },
}

impl Error {
    /// A stable name for the kind of failure.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Io { .. } => "io",
            Self::Content { .. } => "content",
            Self::Toolchain(_) => "toolchain",
            Self::Tidy(_) => "tidy",
            Self::Faults(_) => "faults",
            Self::Schemas(_) => "schemas",
            Self::Mutants(_) => "mutants",
            Self::Peer { .. } => "peer",
        }
    }

    /// Adapter for `map_err`: an I/O error with what was being done.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// Adapter for `map_err`: content that is wrong in the file `path`.
    pub(crate) fn content(path: &Path, what: impl ToString) -> Self {
        Self::Content {
            path: path.to_path_buf(),
            what: what.to_string(),
        }
    }
}

/// The result of a task.
pub(crate) type Result<T> = std::result::Result<T, Error>;
