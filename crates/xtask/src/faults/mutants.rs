//! The mutation table: a copy of the log without one of its syncs must fail its tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use toml::{Table as Toml, Value};

use super::mutations::{MUTATIONS, Mutation, SITES};
use super::verdict::{Row, Table};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};

/// A workspace of its own with a copy of the log as its only member.
struct Copy {
    root: PathBuf,
    source: PathBuf,
}

/// How the tests of a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Green,
    Red,
}

/// Runs every mutation. A row counts the mutation as one state, and as a violation when the tests
/// did not notice it.
pub(crate) fn run(workspace: &Workspace) -> Result<Table> {
    let copy = Copy::make(workspace)?;
    let mut table = Table::default();
    for site in undeclared(&copy.source)? {
        table.failures.push(format!("not in the table: {site}"));
    }
    for test in tests() {
        if copy.test(test)? == Outcome::Red {
            return Err(Error::Faults(format!("{test} fails without any mutation")));
        }
    }
    for mutation in &MUTATIONS {
        let start = Instant::now();
        let noticed = copy.with(mutation)? == Outcome::Red;
        let verdict = if noticed {
            "red, as it should be"
        } else {
            "NOT NOTICED"
        };
        eprintln!("{}: {verdict}", mutation.name);
        table.rows.push(Row {
            test: mutation.name.to_owned(),
            states: 1,
            violations: u64::from(!noticed),
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    Ok(table)
}

/// The tests that the mutations name, each once.
fn tests() -> Vec<&'static str> {
    let mut tests: Vec<_> = MUTATIONS.iter().map(|m| m.test).collect();
    tests.sort_unstable();
    tests.dedup();
    tests
}

impl Copy {
    fn make(workspace: &Workspace) -> Result<Self> {
        let root = workspace.target()?.join("faults-mutants");
        let source = workspace.root().join("crates/log");
        let copy = Self { root, source };
        copy.write("Cargo.toml", &manifest(workspace.root())?)?;
        let lock = workspace.root().join("Cargo.lock");
        copy.write("Cargo.lock", &read(&lock)?)?;
        copy.write(
            "crates/log/Cargo.toml",
            &read(&copy.source.join("Cargo.toml"))?,
        )?;
        for folder in ["src", "tests"] {
            let to = copy.root.join("crates/log").join(folder);
            if to.exists() {
                std::fs::remove_dir_all(&to).map_err(Error::io(format!("emptying {folder}")))?;
            }
            copy_tree(&copy.source.join(folder), &to)?;
        }
        Ok(copy)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.root.join(name);
        let failed = || format!("writing {}", path.display());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(failed()))?;
        }
        std::fs::write(&path, text).map_err(Error::io(failed()))
    }

    /// Applies one mutation, tests, and takes it back.
    fn with(&self, mutation: &Mutation) -> Result<Outcome> {
        let source = self.source.join("src").join(mutation.file);
        let text = read(&source)?;
        let mutated = mutation
            .apply(&text)
            .map_err(|what| Error::content(&source, what))?;
        let name = format!("crates/log/src/{}", mutation.file);
        self.write(&name, &mutated)?;
        // A copy that does not build proves nothing.
        let built = process::run(&mut self.cargo(&["--no-run"]));
        let outcome = built.and_then(|()| self.test(mutation.test));
        self.write(&name, &text)?;
        outcome
    }

    fn test(&self, test: &str) -> Result<Outcome> {
        let mut command = self.cargo(&["--", test]);
        let text = process::line(&command);
        let output = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(Error::io(format!("starting `{text}`")))?;
        Ok(if output.success() {
            Outcome::Green
        } else {
            Outcome::Red
        })
    }

    fn cargo(&self, more: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        command
            .args(["test", "--quiet", "--offline", "--package", "sessiond-log"])
            .args(["--test", "fault_suite"])
            .args(more)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("FAULTS", "short");
        command
    }
}

/// The workspace's manifest, with the log as its only member and crate.
fn manifest(root: &Path) -> Result<String> {
    let path = root.join("Cargo.toml");
    let mut manifest: Toml =
        toml::from_str(&read(&path)?).map_err(|error| Error::content(&path, error))?;
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.ok_or_else(|| Error::content(&path, "no workspace"))?;
    workspace.insert("members".to_owned(), Value::from(vec!["crates/log"]));
    workspace.remove("exclude");
    if let Some(all) = workspace
        .get_mut("dependencies")
        .and_then(Value::as_table_mut)
    {
        all.retain(|name, _| !name.starts_with("sessiond-"));
    }
    Ok(manifest.to_string())
}

/// Lines of the source that sync, and that no mutation takes out.
fn undeclared(source: &Path) -> Result<Vec<String>> {
    let mut sites = Vec::new();
    let root = source.join("src");
    for file in rust_files(&root)? {
        let name = file.strip_prefix(&root).unwrap_or(&file);
        let name = name.to_string_lossy().into_owned();
        sites.extend(open_sites(&name, &read(&file)?));
    }
    Ok(sites)
}

/// The syncing lines of one file that no mutation touches. Definitions and the crash model's own
/// are none.
pub(crate) fn open_sites(file: &str, text: &str) -> Vec<String> {
    const MODELS: [&str; 4] = ["fs/crash.rs", "fs/memory.rs", "fs/fault.rs", "fs/facts.rs"];
    if MODELS.contains(&file) || file.ends_with("tests.rs") {
        return Vec::new();
    }
    let mut covered = Vec::new();
    for mutation in MUTATIONS.iter().filter(|m| m.file == file) {
        if let Some(at) = text.find(mutation.code) {
            covered.push(at..at + mutation.code.len());
        }
    }
    let mut sites = Vec::new();
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let end = at + line.len();
        let code = line.trim_start();
        let is_code = !code.starts_with("//") && !code.starts_with("fn ");
        let syncs = is_code && SITES.iter().any(|site| code.contains(site));
        let is_covered = covered.iter().any(|c| c.start < end && at < c.end);
        if syncs && !is_covered {
            sites.push(format!("{file}:{number}"));
        }
        at = end;
    }
    sites
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(Error::io(format!("reading {}", path.display())))
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("reading {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(failed()))? {
        let path = entry.map_err(Error::io(failed()))?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("copying {}", from.display());
    std::fs::create_dir_all(to).map_err(Error::io(failed()))?;
    for entry in std::fs::read_dir(from).map_err(Error::io(failed()))? {
        let path = entry.map_err(Error::io(failed()))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(Error::io(failed()))?;
        }
    }
    Ok(())
}
