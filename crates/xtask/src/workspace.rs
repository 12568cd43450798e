//! Where things are: the root of the workspace and its target directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// The folders that every task works in.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the root: two levels above this crate's manifest when cargo runs us, otherwise the
    /// first folder upwards that holds `crates/xtask`, so that a copied binary works too.
    pub(crate) fn find() -> Result<Self> {
        let from_cargo = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let here = std::env::current_dir().map_err(Error::io("current directory"))?;
        from_cargo
            .iter()
            .chain(std::iter::once(&here))
            .flat_map(|start| start.ancestors())
            .find(|folder| folder.join("crates/xtask/Cargo.toml").is_file())
            .map(|root| Self {
                root: root.to_path_buf(),
            })
            .ok_or_else(|| Error::content(&here, "not inside the sessiond workspace"))
    }

    /// The root of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The target directory as cargo sees it (`CARGO_TARGET_DIR` and configuration included).
    pub(crate) fn target(&self) -> Result<PathBuf> {
        let output = Command::new(cargo())
            .args([
                "metadata",
                "--format-version",
                "1",
                "--no-deps",
                "--offline",
            ])
            .current_dir(&self.root)
            .stderr(Stdio::inherit())
            .output()
            .map_err(Error::io("cargo metadata"))?;
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| Error::content(&self.root, format!("cargo metadata: {error}")))?;
        metadata
            .get("target_directory")
            .and_then(serde_json::Value::as_str)
            .map(PathBuf::from)
            .ok_or_else(|| Error::content(&self.root, "cargo metadata names no target directory"))
    }
}

/// The cargo that runs us, so that a toolchain override holds for the steps as well.
pub(crate) fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}
