//! Where sockets lie and what they are called.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::error::{HostError, doing};

/// Hexadecimal digits of a store's name in those of its sockets: a socket's path has room for about
/// a hundred bytes.
const DIGITS: usize = 16;

/// The sockets of one store: in a directory of their own, private to this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    directory: PathBuf,
    store: String,
}

impl Place {
    /// The sockets of the store at `store`, below `runtime` (`$XDG_RUNTIME_DIR`) or else in `/tmp`.
    /// Makes the directory.
    ///
    /// # Errors
    /// [`HostError::UnsafeDirectory`] for one that others may enter or that is a link;
    /// [`HostError::Io`].
    pub fn of(store: &Path, runtime: Option<&Path>) -> Result<Self, HostError> {
        let directory = match runtime {
            Some(runtime) => runtime.join("sessiond"),
            None => PathBuf::from(format!("/tmp/sessiond-{}", geteuid().as_raw())),
        };
        make_private(&directory)?;
        // Two ways to one store are one store.
        let path = store.canonicalize().unwrap_or_else(|_| store.to_owned());
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        let store = name.chars().take(DIGITS).collect();
        Ok(Self { directory, store })
    }

    /// The socket of the store's host.
    #[must_use]
    pub fn host(&self) -> PathBuf {
        self.directory.join(format!("{}.host", self.store))
    }

    /// What the host of the store holds locked for life.
    pub(crate) fn host_lock(&self) -> PathBuf {
        self.directory.join(format!("{}.lock", self.store))
    }

    /// The socket of this process for the sessions that it holds.
    #[must_use]
    pub fn own(&self) -> PathBuf {
        let pid = std::process::id();
        self.directory.join(format!("{}.{pid}", self.store))
    }
}

fn make_private(directory: &Path) -> Result<(), HostError> {
    let made = DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(directory);
    made.map_err(doing("create", directory))?;
    let found = directory.symlink_metadata();
    let found = found.map_err(doing("look up", directory))?;
    match fault(&found, geteuid().as_raw()) {
        None => Ok(()),
        Some(why) => Err(HostError::UnsafeDirectory {
            path: directory.to_owned(),
            why,
        }),
    }
}

fn fault(found: &Metadata, user: u32) -> Option<&'static str> {
    if !found.is_dir() {
        return Some("it is no directory");
    }
    if found.uid() != user {
        return Some("it is another user's");
    }
    (found.mode() & 0o077 != 0).then_some("others may enter it; chmod 700 it")
}

#[cfg(test)]
mod tests;
