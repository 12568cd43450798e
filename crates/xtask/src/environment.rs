//! The environment in which programs of others run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};

/// Keys that some SDKs demand before they do anything; no real one ever reaches a child.
const DUMMY_KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];

/// A private corner for one program: its home, its store, and nothing of the person's.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    folder: PathBuf,
    sessiond: PathBuf,
    peers: PathBuf,
}

impl Environment {
    /// Makes the corner `<target>/run/<name>`, empty.
    ///
    /// # Errors
    ///
    /// `Io` when the folder cannot be emptied or made.
    pub(crate) fn make(target: &Path, name: &str, sessiond: &Path) -> Result<Self> {
        let folder = target.join("run").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .map_err(Error::io(format!("emptying {}", folder.display())))?;
        }
        for part in ["home", "work"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part)
                .map_err(Error::io(format!("making {}", part.display())))?;
        }
        let (sessiond, peers) = (sessiond.to_path_buf(), target.join("peers"));
        Ok(Self {
            folder,
            sessiond,
            peers,
        })
    }

    /// A command that sees PATH, a home and a store of its own, dummy keys, where sessiond and the
    /// peers are, and nothing else.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.join("home"))
            .env("SESSIOND_HOME", self.folder.join("store"))
            .env("SESSIOND_BIN", &self.sessiond)
            .env("SESSIOND_PEERS", &self.peers)
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(self.work());
        for key in DUMMY_KEYS {
            command.env(key, "dummy");
        }
        command
    }

    /// Like [`Environment::command`] for a user's own command line: `sessiond` is on PATH.
    ///
    /// # Errors
    ///
    /// `Content` when PATH cannot be put together.
    pub(crate) fn as_installed(&self, program: &Path) -> Result<Command> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder = self
            .sessiond
            .parent()
            .unwrap_or(Path::new("/"))
            .to_path_buf();
        let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
        let path =
            std::env::join_paths(folders).map_err(|error| Error::content(&self.sessiond, error))?;
        let mut command = self.command(program);
        command.env("PATH", path);
        Ok(command)
    }

    /// The folder programs work in: empty at first.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
