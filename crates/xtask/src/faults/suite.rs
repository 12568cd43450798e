//! The counted tests of the log and of the session core.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::verdict::{Row, Table};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};

/// Tests that count: name, package, and the cargo arguments that choose them. The writer's own are
/// unit tests: only those run under the scheduler that tries interleavings.
const TESTS: [(&str, &str, &[&str]); 5] = [
    ("fault_suite", "sessiond-log", &["--test", "fault_suite"]),
    ("lease_model", "sessiond-log", &["--test", "lease_model"]),
    (
        "schedules",
        "sessiond-log",
        &["--lib", "writer::schedule_tests"],
    ),
    (
        "core_interleavings",
        "sessiond-engine",
        &["--lib", "core::tests::property"],
    ),
    (
        "kill_frames",
        "sessiond-cli",
        &["--test", "suite", "killed_after_any_frame"],
    ),
];

/// How many of the states are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Short,
    Full,
}

impl Form {
    /// As the command line says.
    pub(crate) fn of(short: bool) -> Self {
        if short { Self::Short } else { Self::Full }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Full => "full",
        }
    }
}

/// Runs them, optimised: the states are many.
pub(crate) fn run(workspace: &Workspace, form: Form) -> Result<Table> {
    let mut table = Table::default();
    for (test, package, chosen) in TESTS {
        let mut command = Command::new(cargo());
        command
            .args(["test", "--release", "--locked", "--package", package])
            .args(chosen)
            .args(["--", "--nocapture"])
            .current_dir(workspace.root())
            .env("FAULTS", form.word())
            .stdout(Stdio::piped());
        collect(&mut command, test, &mut table)?;
    }
    Ok(table)
}

/// Runs a test and takes the rows out of what it prints.
fn collect(command: &mut Command, test: &str, table: &mut Table) -> Result<()> {
    let text = process::line(command);
    eprintln!("$ {text}");
    let mut child = command
        .spawn()
        .map_err(Error::io(format!("starting `{text}`")))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(Error::io(format!("reading from `{text}`")))?;
            eprintln!("{line}");
            table.rows.extend(Row::parse(&line));
        }
    }
    let status = child.wait().map_err(Error::io(text))?;
    if !status.success() {
        table.failures.push(test.to_owned());
    }
    Ok(())
}
