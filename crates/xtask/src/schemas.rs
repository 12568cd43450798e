//! `schemas`: are the published schemas those of the types, and do old clients still fit (SQEQ-10)?
//!
//! `schemas/waist-vN` is what the types are now; `schemas/published/waist-vN` is what clients in the
//! field were written against. The first follows the types by `--update`. The second changes only by
//! `--publish`, which is a decision: with a release, or before anybody depends on what it takes back.

mod compare;
mod shape;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};
use compare::{Sender, compare};

/// Where the schemas stand, below the workspace's root.
const CURRENT: &str = "schemas";

/// Where those are that clients rely on.
const PUBLISHED: &str = "schemas/published";

/// What to do beside looking.
#[derive(Debug, Args)]
pub(crate) struct Schemas {
    /// Look only: the default
    #[arg(long, conflicts_with_all = ["update", "publish"])]
    check: bool,
    /// Write the schemas as the types are now, then look
    #[arg(long)]
    update: bool,
    /// Decide that clients may rely on the schemas as they are now, then look
    #[arg(long)]
    publish: bool,
}

/// Files by their path below the folder, with their text.
type Files = BTreeMap<String, String>;

/// Does what the options say, then checks.
///
/// # Errors
///
/// `Schemas` when something differs or does not fit any more; each finding is printed.
pub(crate) fn run(workspace: &Workspace, options: &Schemas) -> Result<()> {
    if options.check {
        return check(workspace);
    }
    let generated = generated(workspace)?;
    let root = workspace.root();
    if options.update {
        write(&root.join(CURRENT), &generated)?;
    }
    if options.publish {
        write(&root.join(PUBLISHED), &generated)?;
    }
    judge(root, &generated)
}

/// Checks.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    judge(workspace.root(), &generated(workspace)?)
}

/// The schemas as `sessiond schema` writes them.
fn generated(workspace: &Workspace) -> Result<Files> {
    let target = workspace.target()?;
    let build = [
        "build",
        "--quiet",
        "--locked",
        "--package",
        "sessiond-cli",
        "--bins",
    ];
    process::run(
        Command::new(cargo())
            .args(build)
            .current_dir(workspace.root()),
    )?;
    let out = target.join("schemas");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(Error::io(format!("removing {}", out.display())))?;
    }
    let mut write = Command::new(target.join("debug/sessiond"));
    write.args(["schema", "--out"]).arg(&out);
    process::run(write.stdout(std::process::Stdio::null()))?;
    read(&out)
}

fn judge(root: &Path, generated: &Files) -> Result<()> {
    let current = of_versions(read(&root.join(CURRENT))?, generated);
    let published = of_versions(read(&root.join(PUBLISHED))?, generated);
    let mut findings = drift(&current, generated);
    findings.extend(breaks(&published, generated)?);
    if findings.is_empty() {
        eprintln!(
            "schemas: {} files, as the types are; old clients fit",
            generated.len()
        );
        return Ok(());
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    Err(Error::Schemas(findings.len()))
}

/// Those of the versions that were generated: the ones before do not change any more.
fn of_versions(files: Files, generated: &Files) -> Files {
    let version = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let versions: Vec<_> = generated.keys().map(|path| version(path)).collect();
    let now = |path: &String| versions.contains(&version(path));
    files.into_iter().filter(|(path, _)| now(path)).collect()
}

/// Where the files in the tree are not what the types say.
fn drift(current: &Files, generated: &Files) -> Vec<String> {
    let mut names: Vec<_> = current.keys().chain(generated.keys()).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&String| current.get(*name) != generated.get(*name);
    let finding = |name: &String| {
        format!("{CURRENT}/{name}: not what the types say: run `cargo xtask schemas --update`")
    };
    names.into_iter().filter(differs).map(finding).collect()
}

/// Where a client that was written against the published schemas does not fit any more.
fn breaks(published: &Files, generated: &Files) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for (name, old) in published {
        let place = Path::new(PUBLISHED).join(name);
        let Some(new) = generated.get(name) else {
            findings.push(format!("{}: not generated any more", place.display()));
            continue;
        };
        let parse = |text: &str| {
            serde_json::from_str::<Value>(text).map_err(|error| Error::content(&place, error))
        };
        let broken = compare(&parse(old)?, &parse(new)?, Sender::of(name));
        let advice = "keep it, raise VERSION, or decide: `cargo xtask schemas --publish`";
        findings.extend(
            broken
                .into_iter()
                .map(|what| format!("{name}: {what}: {advice}")),
        );
    }
    let unpublished = generated
        .keys()
        .filter(|name| !published.contains_key(*name));
    let finding =
        |name: &String| format!("{PUBLISHED}/{name}: missing: `cargo xtask schemas --publish`");
    findings.extend(unpublished.map(finding));
    Ok(findings)
}

/// The JSON files one folder deep: `waist-vN/NAME.json`.
fn read(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    for version in entries(folder)? {
        if !version.starts_with("waist-v") {
            continue;
        }
        for name in entries(&folder.join(&version))? {
            let path = folder.join(&version).join(&name);
            let text = fs::read_to_string(&path);
            let text = text.map_err(Error::io(format!("reading {}", path.display())))?;
            files.insert(format!("{version}/{name}"), text);
        }
    }
    Ok(files)
}

/// The names in a folder; none where there is no folder yet.
fn entries(folder: &Path) -> Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let what = format!("reading {}", folder.display());
    let entries = fs::read_dir(folder).map_err(Error::io(what))?;
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.map_err(Error::io("reading a folder"))?;
        Ok(entry.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}

fn write(folder: &Path, files: &Files) -> Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .map_err(Error::io(format!("making {}", parent.display())))?;
        }
        fs::write(&path, text).map_err(Error::io(format!("writing {}", path.display())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
