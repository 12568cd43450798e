//! What keeps the suite from judging at all.

/// An error of a run; what a target does wrong is a verdict, never this.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line, or a file that it names, is wrong.
    #[error("{0}")]
    Usage(String),
    /// The runner or its data is at fault.
    #[error("{0}")]
    Harness(String),
    /// A file could not be written, a process of ours not be started.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io {
            what: what.into(),
            source,
        }
    }

    /// The exit code that it ends with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Harness(_) | Self::Io { .. } => 3,
        }
    }
}
