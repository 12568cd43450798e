//! What a client of a network listener must know (SQEQ-8).

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};

/// Random bytes in a secret.
const BYTES: usize = 32;

/// A secret of a store; it is compared in a time that does not tell where it differs.
#[derive(Clone)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// The secret in the file `path`, which is made when it is missing, readable by this user only.
    ///
    /// # Errors
    /// Of the system; `PermissionDenied` for a file that others may read or that is another's, a
    /// link or empty.
    pub fn at(path: &Path) -> io::Result<Self> {
        match make(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path),
            other => other,
        }
    }

    /// Whether `text` is the secret.
    pub(crate) fn is(&self, text: &str) -> bool {
        // Hashes compare in constant time.
        blake3::hash(text.as_bytes()) == blake3::hash(self.0.as_bytes())
    }
}

fn make(path: &Path) -> io::Result<Secret> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).create(folder)?;
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    let mut random = [0; BYTES];
    getrandom(&mut random, GetRandomFlags::empty())?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(file, "{text}")?;
    file.sync_all()?;
    Ok(Secret(text))
}

fn read(path: &Path) -> io::Result<Secret> {
    let found = fs::symlink_metadata(path)?;
    let denied = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if !found.is_file() || found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return denied(
            "the secret must be a file of yours that nobody else may read; chmod 600 it",
        );
    }
    let text = fs::read_to_string(path)?.trim().to_owned();
    if text.len() < BYTES {
        return denied("the secret is too short; delete the file, and a new one is made");
    }
    Ok(Secret(text))
}

#[cfg(test)]
mod tests;
