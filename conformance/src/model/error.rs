//! Why the server could not be started or its record not be read.

use std::io;
use std::path::PathBuf;

/// A failure of the server itself; what goes wrong with one request is answered to its sender.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken or may not be used.
    #[error("listening on 127.0.0.1:{port}: {source}")]
    Listen {
        /// What was asked for; 0 is any free one.
        port: u16,
        /// The system's reason.
        source: io::Error,
    },
    /// The record cannot be written or read.
    #[error("{path}: {source}", path = .path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}
