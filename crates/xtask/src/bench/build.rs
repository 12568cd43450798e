//! Building what is measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::process;
use crate::workspace::{Workspace, cargo};

/// The `sessiond` of a cargo profile.
///
/// # Errors
///
/// `Command` when it cannot be built.
pub(super) fn sessiond(workspace: &Workspace, target: &Path, profile: &str) -> Result<PathBuf> {
    binary(workspace, target, (profile, "sessiond-cli", "sessiond"))
}

/// A program, named by its cargo profile, its package and its own name.
///
/// # Errors
///
/// `Command` when it cannot be built.
pub(super) fn binary(
    workspace: &Workspace,
    target: &Path,
    (profile, package, name): (&str, &str, &str),
) -> Result<PathBuf> {
    build(workspace, profile, &["--package", package, "--bin", name])?;
    Ok(target.join(folder(profile)).join(name))
}

/// All programs of a package; the folder that they are in.
///
/// # Errors
///
/// `Command` when one cannot be built.
pub(super) fn programs(
    workspace: &Workspace,
    target: &Path,
    (profile, package): (&str, &str),
) -> Result<PathBuf> {
    build(workspace, profile, &["--package", package, "--bins"])?;
    Ok(target.join(folder(profile)))
}

/// An example, named by its package and its own name.
///
/// # Errors
///
/// `Command` when it cannot be built.
pub(super) fn example(
    workspace: &Workspace,
    target: &Path,
    profile: &str,
    (package, name): (&str, &str),
) -> Result<PathBuf> {
    build(
        workspace,
        profile,
        &["--package", package, "--example", name],
    )?;
    Ok(target.join(folder(profile)).join("examples").join(name))
}

fn build(workspace: &Workspace, profile: &str, what: &[&str]) -> Result<()> {
    process::run(
        Command::new(cargo())
            .args(["build", "--quiet", "--locked", "--profile", profile])
            .args(what)
            .current_dir(workspace.root()),
    )
}

/// Cargo keeps the profile `dev` in a folder of another name.
fn folder(profile: &str) -> &str {
    if profile == "dev" { "debug" } else { profile }
}
