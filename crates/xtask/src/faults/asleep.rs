//! The mutation table of the adapters. All of it is built into one copy, asleep; then the tests run
//! once for each mutation with that one awake, and must fail. So the table costs one build a crate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::adapters::{self, AWAKE};
use super::mutants::{copied, read, write};
use super::mutations::Mutation;
use super::verdict::{Row, Table};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};

/// The crates that are copied: those of the programs and of their tests.
const CRATES: [&str; 13] = [
    "acp", "claude", "cli", "codex", "engine", "host", "index", "log", "mcp", "protocol", "script",
    "sqeq", "wire",
];

/// Longest run of one program of tests, many times what it takes: with a mutation it may hang.
const LIMIT: Duration = Duration::from_secs(180);

/// Tests that must notice some of the mutations.
struct Subject {
    package: &'static str,
    /// The targets that hold the tests.
    targets: &'static [&'static str],
    mutations: &'static [&'static [Mutation]],
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        package: "sessiond-acp",
        targets: &["--lib", "--test", "face"],
        mutations: &adapters::FACES,
    },
    Subject {
        package: "sessiond-cli",
        targets: &["--test", "suite"],
        mutations: &adapters::BEHIND,
    },
    Subject {
        package: "sessiond-claude",
        targets: &["--lib", "--test", "golden"],
        mutations: &adapters::CLAUDE,
    },
    Subject {
        package: "sessiond-codex",
        targets: &["--lib"],
        mutations: &adapters::CODEX,
    },
];

/// What each copied crate asks whether a mutation is awake. A file tells, since programs that the
/// tests start have an environment of their own.
const QUESTION: &str = r#"
/// Whether this mutation is awake.
pub(crate) fn mutant(name: &str) -> bool {
    static AWAKE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../awake");
    AWAKE.get_or_init(|| std::fs::read_to_string(file).unwrap_or_default()) == name
}
"#;

/// Runs the mutations whose names are given; all where none is. A row counts the mutation as one
/// state, and as a violation when the tests did not notice it.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<Table> {
    let all = || adapters::ALL.into_iter().flatten().copied().flatten();
    if let Some(unknown) = only.iter().find(|name| all().all(|m| m.name != **name)) {
        return Err(Error::Faults(format!("no mutation has the name {unknown}")));
    }
    let sleeping = sleeping(&workspace.root().join("crates"))?;
    let root = copied(workspace, ("faults-adapters", &CRATES), &sleeping)?;
    let mut table = Table::default();
    for subject in &SUBJECTS {
        let wanted = |m: &&Mutation| only.is_empty() || only.iter().any(|name| name == m.name);
        let mutations = subject.mutations.iter().copied().flatten();
        let wanted: Vec<_> = mutations.filter(wanted).collect();
        if !wanted.is_empty() {
            table.rows.extend(judge(&root, subject, &wanted)?);
        }
    }
    Ok(table)
}

/// The files of the table, by their path below `crates`, with all of its mutations in them, and with
/// the question in each crate that has any.
///
/// # Errors
/// `Content` where a mutation finds its code not once.
pub(super) fn sleeping(crates: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    let open = |files: &mut BTreeMap<PathBuf, String>, file: PathBuf| {
        if !files.contains_key(&file) {
            files.insert(file.clone(), read(&crates.join(&file))?);
        }
        Ok::<_, Error>(())
    };
    for mutation in adapters::ALL.into_iter().flatten().copied().flatten() {
        let file = PathBuf::from(mutation.file);
        let name = mutation.file.split('/').next().unwrap_or_default();
        open(&mut files, Path::new(name).join("src/lib.rs"))?;
        open(&mut files, file.clone())?;
        let awake = format!("crate::mutant({:?})", mutation.name);
        let instead = mutation.instead.replace(AWAKE, &awake);
        let text = files.entry(file).or_default();
        let content = |what| Error::content(&crates.join(mutation.file), what);
        *text = mutation.put(text, &instead).map_err(content)?;
    }
    for (file, text) in &mut files {
        if file.ends_with("src/lib.rs") {
            text.push_str(QUESTION);
        }
    }
    Ok(files)
}

fn judge(root: &Path, subject: &Subject, mutations: &[&Mutation]) -> Result<Vec<Row>> {
    let programs = build(root, subject)?;
    let awake = root.join("awake");
    write(&awake, "")?;
    let mut tests: Vec<_> = mutations.iter().map(|m| m.test).collect();
    tests.sort_unstable();
    tests.dedup();
    for test in tests {
        if is_red(&programs, test) {
            let text = format!("{}: {test} fails without any mutation", subject.package);
            return Err(Error::Faults(text));
        }
    }
    let mut rows = Vec::new();
    for mutation in mutations {
        let start = Instant::now();
        write(&awake, mutation.name)?;
        let is_red = is_red(&programs, mutation.test);
        let verdict = if is_red {
            "red, as it should be"
        } else {
            "NOT NOTICED"
        };
        eprintln!("{}: {verdict}", mutation.name);
        rows.push(Row {
            test: mutation.name.to_owned(),
            states: 1,
            violations: u64::from(!is_red),
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    write(&awake, "")?;
    Ok(rows)
}

/// A program of tests, and the folder that it runs in.
type Program = (PathBuf, PathBuf);

/// Builds the tests of a package; where their programs are.
fn build(root: &Path, subject: &Subject) -> Result<Vec<Program>> {
    let mut command = Command::new(cargo());
    command
        .args(["test", "--quiet", "--offline", "--no-run"])
        .args([
            "--message-format",
            "json-render-diagnostics",
            "--package",
            subject.package,
        ])
        .args(subject.targets)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .stderr(Stdio::inherit());
    let text = process::line(&command);
    eprintln!("$ {text}");
    let output = command
        .output()
        .map_err(Error::io(format!("starting `{text}`")))?;
    if !output.status.success() {
        return Err(Error::Faults(format!("`{text}` does not build")));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let messages = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(messages
        .filter_map(|message: Value| program(&message))
        .collect())
}

fn program(message: &Value) -> Option<Program> {
    message
        .pointer("/profile/test")?
        .as_bool()
        .filter(|test| *test)?;
    let program = message.get("executable")?.as_str()?;
    let folder = Path::new(message.get("manifest_path")?.as_str()?).parent()?;
    Some((program.into(), folder.to_owned()))
}

/// Whether one of these tests fails, or takes longer than any may.
fn is_red(programs: &[Program], test: &str) -> bool {
    programs.iter().any(|(program, folder)| {
        let mut command = Command::new(program);
        command
            .args(["--quiet", test])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process::run_within(&mut command, LIMIT).is_err()
    })
}
