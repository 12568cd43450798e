//! Where the store is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// What decides where the store is, in this order.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// `--store`, else `$SESSIOND_HOME`.
    pub(crate) named: Option<PathBuf>,
    /// `$XDG_STATE_HOME`.
    pub(crate) state_home: Option<OsString>,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
}

/// Where the store is, absolute. Nothing is made there.
pub(crate) fn store_path(named: Option<&Path>) -> Result<PathBuf, Failure> {
    Choices {
        named: named.map(Path::to_owned),
        state_home: std::env::var_os("XDG_STATE_HOME"),
        home: std::env::home_dir(),
    }
    .resolve()
}

impl Choices {
    /// The first choice that counts; empty ones, and a relative XDG value, do not.
    fn resolve(self) -> Result<PathBuf, Failure> {
        let named = self.named.filter(|path| !path.as_os_str().is_empty());
        let state = self
            .state_home
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let home = self.home.filter(|path| path.is_absolute());
        let path = named
            .or_else(|| state.map(|state| state.join("sessiond")))
            .or_else(|| home.map(|home| home.join(".local/state/sessiond")))
            .ok_or_else(|| {
                Failure::Usage("there is no home directory; give --store DIR".to_owned())
            })?;
        std::path::absolute(&path)
            .map_err(|error| Failure::Usage(format!("--store cannot be made absolute: {error}")))
    }
}

#[cfg(test)]
mod tests;
