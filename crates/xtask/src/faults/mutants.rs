//! The mutation tables: a copy of the log without one of its syncs, or of the session core without
//! one of its rules, must fail its tests.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use toml::{Table as Toml, Value};

use super::mutations::{MUTATIONS, Mutation, SITES};
use super::rules::{RULES, WAIST};
use super::verdict::{Row, Table};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};

/// What is mutated, and which tests must notice.
struct Subject {
    /// Folder of the copy below the target folder.
    name: &'static str,
    /// The crates that are copied.
    crates: &'static [&'static str],
    /// Where the files of the mutations are.
    source: &'static str,
    package: &'static str,
    /// The target that holds the tests.
    target: &'static [&'static str],
    /// How much the tests try.
    form: &'static str,
    mutations: &'static [&'static [Mutation]],
}

/// The log and its syncs.
const LOG: Subject = Subject {
    name: "faults-mutants",
    crates: &["log"],
    source: "crates/log/src",
    package: "sessiond-log",
    target: &["--test", "fault_suite"],
    form: "short",
    mutations: &[&MUTATIONS],
};

/// The session core, the fold it stands on, and their rules.
const CORE: Subject = Subject {
    name: "faults-core",
    crates: &["engine", "index", "log", "protocol", "wire"],
    source: "crates",
    package: "sessiond-engine",
    target: &["--lib"],
    form: "mutants",
    mutations: &RULES,
};

/// The engine around its core, as clients see it. Its copy is the core's.
const ENGINE: Subject = Subject {
    target: &["--test", "waist"],
    form: "short",
    mutations: &WAIST,
    ..CORE
};

/// A workspace of its own with a copy of the subject's crates as its only members.
struct Copy {
    root: PathBuf,
    subject: &'static Subject,
    source: PathBuf,
}

/// How the tests of a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Green,
    Red,
    /// It does not build, which proves nothing.
    Broken,
}

/// Runs the mutations of the log whose names are given; all where none is.
pub(crate) fn of_log(workspace: &Workspace, only: &[String]) -> Result<Table> {
    let mut table = Table::default();
    for site in undeclared(&workspace.root().join("crates/log"))? {
        table.failures.push(format!("not in the table: {site}"));
    }
    run(workspace, &[&LOG], (only, table))
}

/// Runs the mutations of the session core, and of the engine around it, whose names are given; all
/// where none is.
pub(crate) fn of_core(workspace: &Workspace, only: &[String]) -> Result<Table> {
    run(workspace, &[&CORE, &ENGINE], (only, Table::default()))
}

/// Runs mutations. A row counts the mutation as one state, and as a violation when the tests did
/// not notice it.
fn run(
    workspace: &Workspace,
    subjects: &[&'static Subject],
    (only, mut table): (&[String], Table),
) -> Result<Table> {
    let is_unknown = |name: &&String| subjects.iter().all(|subject| !subject.has(name));
    if let Some(unknown) = only.iter().find(is_unknown) {
        return Err(Error::Faults(format!("no mutation has the name {unknown}")));
    }
    for subject in subjects {
        let wanted = |m: &&Mutation| only.is_empty() || only.iter().any(|name| name == m.name);
        let wanted: Vec<_> = subject.all().filter(wanted).collect();
        if !wanted.is_empty() {
            run_subject(workspace, subject, (&wanted, &mut table))?;
        }
    }
    Ok(table)
}

fn run_subject(
    workspace: &Workspace,
    subject: &'static Subject,
    (wanted, table): (&[&'static Mutation], &mut Table),
) -> Result<()> {
    let copy = Copy::make(workspace, subject)?;
    for test in tests(wanted) {
        if copy.test(test)? != Outcome::Green {
            return Err(Error::Faults(format!("{test} fails without any mutation")));
        }
    }
    for mutation in wanted {
        let start = Instant::now();
        let outcome = copy.with(mutation)?;
        let verdict = match outcome {
            Outcome::Red => "red, as it should be",
            Outcome::Green => "NOT NOTICED",
            Outcome::Broken => "DOES NOT BUILD",
        };
        eprintln!("{}: {verdict}", mutation.name);
        table.rows.push(Row {
            test: mutation.name.to_owned(),
            states: 1,
            violations: u64::from(outcome != Outcome::Red),
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    Ok(())
}

/// The tests that the mutations name, each once.
fn tests(mutations: &[&Mutation]) -> Vec<&'static str> {
    let mut tests: Vec<_> = mutations.iter().map(|m| m.test).collect();
    tests.sort_unstable();
    tests.dedup();
    tests
}

impl Subject {
    fn all(&self) -> impl Iterator<Item = &'static Mutation> {
        self.mutations.iter().copied().flatten()
    }

    fn has(&self, name: &str) -> bool {
        self.all().any(|mutation| mutation.name == name)
    }
}

impl Copy {
    fn make(workspace: &Workspace, subject: &'static Subject) -> Result<Self> {
        Ok(Self {
            root: copied(workspace, (subject.name, subject.crates), &BTreeMap::new())?,
            subject,
            source: workspace.root().join(subject.source),
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.root.join(name), text)
    }

    /// Applies one mutation, tests, and takes it back.
    fn with(&self, mutation: &Mutation) -> Result<Outcome> {
        let source = self.source.join(mutation.file);
        let text = read(&source)?;
        let mutated = mutation
            .apply(&text)
            .map_err(|what| Error::content(&source, what))?;
        let name = format!("{}/{}", self.subject.source, mutation.file);
        self.write(&name, &mutated)?;
        let built = process::run(&mut self.cargo(&["--no-run"]));
        let outcome = match built {
            Ok(()) => self.test(mutation.test),
            Err(_) => Ok(Outcome::Broken),
        };
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
            .args(["test", "--quiet", "--offline", "--package"])
            .arg(self.subject.package)
            .args(self.subject.target)
            .args(more)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("FAULTS", self.subject.form);
        command
    }
}

/// Makes a workspace in a folder of this name below the target folder, with copies of these crates as
/// its only members; of the files in `others`, by their path below `crates`, this text. A file that is
/// as it should be stays, so that nothing is built for it.
pub(super) fn copied(
    workspace: &Workspace,
    (name, crates): (&str, &[&str]),
    others: &BTreeMap<PathBuf, String>,
) -> Result<PathBuf> {
    let root = workspace.target()?.join(name);
    write(
        &root.join("Cargo.toml"),
        &manifest(workspace.root(), crates)?,
    )?;
    let lock = read(&workspace.root().join("Cargo.lock"))?;
    write(&root.join("Cargo.lock"), &lock)?;
    let (from, to) = (workspace.root().join("crates"), root.join("crates"));
    for name in crates {
        let manifest = read(&from.join(name).join("Cargo.toml"))?;
        write(&to.join(name).join("Cargo.toml"), &manifest)?;
        for part in ["src", "tests", "examples"] {
            let part = Path::new(name).join(part);
            mirror((&from, &to), &part, others)?;
        }
    }
    Ok(root)
}

/// The workspace's manifest, with these crates as its only members.
fn manifest(root: &Path, crates: &[&str]) -> Result<String> {
    let path = root.join("Cargo.toml");
    let mut manifest: Toml =
        toml::from_str(&read(&path)?).map_err(|error| Error::content(&path, error))?;
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.ok_or_else(|| Error::content(&path, "no workspace"))?;
    let members = crates.iter().map(|name| format!("crates/{name}"));
    workspace.insert("members".to_owned(), members.collect::<Vec<_>>().into());
    workspace.remove("exclude");
    workspace.remove("default-members");
    if let Some(all) = workspace
        .get_mut("dependencies")
        .and_then(Value::as_table_mut)
    {
        all.retain(|name, _| {
            let own = name.strip_prefix("sessiond-");
            own.is_none_or(|own| crates.contains(&own))
        });
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

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let failed = || format!("writing {}", path.display());
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(Error::io(failed()))?;
    }
    std::fs::write(path, text).map_err(Error::io(failed()))
}

pub(super) fn read(path: &Path) -> Result<String> {
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

/// Makes a folder below `to` hold what that below `from` holds, if anything.
fn mirror(
    (from, to): (&Path, &Path),
    part: &Path,
    others: &BTreeMap<PathBuf, String>,
) -> Result<()> {
    let failed = || format!("copying {}", part.display());
    let (wanted, there) = (entries(&from.join(part))?, entries(&to.join(part))?);
    for old in there.iter().filter(|name| !wanted.contains(name)) {
        let old = to.join(part).join(old);
        let removed = match old.is_dir() {
            true => std::fs::remove_dir_all(&old),
            false => std::fs::remove_file(&old),
        };
        removed.map_err(Error::io(format!("removing {}", old.display())))?;
    }
    for name in wanted {
        let part = part.join(name);
        let source = from.join(&part);
        if source.is_dir() {
            mirror((from, to), &part, others)?;
            continue;
        }
        let other = others.get(&part).map(|text| text.clone().into_bytes());
        let bytes = match other {
            Some(bytes) => bytes,
            None => std::fs::read(&source).map_err(Error::io(failed()))?,
        };
        let target = to.join(&part);
        if std::fs::read(&target).ok().as_ref() != Some(&bytes) {
            let folder = target.parent().unwrap_or(to);
            std::fs::create_dir_all(folder).map_err(Error::io(failed()))?;
            std::fs::write(&target, bytes).map_err(Error::io(failed()))?;
        }
    }
    Ok(())
}

/// The names in a folder; none where there is no such folder.
fn entries(folder: &Path) -> Result<Vec<OsString>> {
    let failed = || format!("reading {}", folder.display());
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).map_err(Error::io(failed()))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names
        .collect::<std::io::Result<_>>()
        .map_err(Error::io(failed()))
}
