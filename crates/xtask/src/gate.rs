//! `test`: every step in order, each timed, stopping at the first that fails.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::peers::Peers;
use crate::program::{self, Kind};
use crate::workspace::{Workspace, cargo};
use crate::{process, schemas, tidy, toolchain};

/// Steps that have run, with the time each took.
#[derive(Debug, Default)]
struct Gate {
    done: Vec<(String, Duration)>,
}

impl Gate {
    fn step(&mut self, name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let outcome = run();
        self.done.push((name.to_owned(), start.elapsed()));
        outcome
    }

    fn print(&self, outcome: &Result<()>) {
        eprintln!("\n== summary");
        let last = self.done.len().saturating_sub(1);
        for (index, (name, time)) in self.done.iter().enumerate() {
            let failed = outcome.is_err() && index == last;
            let verdict = if failed { "FAIL" } else { "ok" };
            eprintln!("{verdict:<4} {:>7.1} s  {name}", time.as_secs_f64());
        }
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        let verdict = if outcome.is_err() { "FAIL" } else { "ok" };
        eprintln!("{verdict:<4} {:>7.1} s  in all", total.as_secs_f64());
    }
}

/// Runs the whole gate and prints the summary, also of a gate that stopped.
///
/// # Errors
///
/// The first step's that failed.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut gate = Gate::default();
    let outcome = steps(&mut gate, workspace);
    gate.print(&outcome);
    outcome
}

/// The suites, with the program that each judges and the words of its command line.
pub(crate) const SUITES: [(&str, &str, &[&str]); 7] = [
    ("acp", "sessiond", &["acp"]),
    ("sqeq", "sessiond", &["sqeq"]),
    ("claude", "sessiond-claude", &[]),
    ("codex-exec", "sessiond-codex", &["exec"]),
    ("codex-app-server", "sessiond-codex", &["app-server"]),
    ("cross", "sessiond", &[]),
    ("transcript", "sessiond", &[]),
];

fn steps(gate: &mut Gate, workspace: &Workspace) -> Result<()> {
    let cargo = |arguments: &str| {
        let mut command = Command::new(cargo());
        command
            .args(arguments.split(' '))
            .current_dir(workspace.root());
        process::run(&mut command)
    };
    gate.step("toolchain", toolchain::check)?;
    gate.step("format", || cargo("fmt --all --check"))?;
    gate.step("tidy", || tidy::run(workspace.root()))?;
    gate.step("lints", || {
        cargo("clippy --workspace --all-targets --locked -- -D warnings")
    })?;
    // Its build is a long run's; that it can be built must not be learned there.
    gate.step("fuzz lock file", || {
        cargo("fetch --locked --manifest-path fuzz/Cargo.toml")
    })?;
    gate.step("build", || cargo("build --workspace --bins --locked"))?;
    gate.step("schemas", || schemas::check(workspace))?;
    gate.step("tests", || cargo("test --workspace --locked"))?;
    let target = workspace.target()?;
    for (suite, program, words) in SUITES {
        gate.step(&format!("conformance {suite}"), || {
            let mut command = Command::new(target.join("debug/sessiond-conformance"));
            command
                .args([suite, "--"])
                .arg(target.join("debug").join(program));
            process::run(command.args(words))
        })?;
    }
    gate.step("peers", || Peers::at(&target).install(workspace))?;
    for (kind, word) in [(Kind::Drive, "drive"), (Kind::Example, "example")] {
        for program in program::of(kind) {
            let name = format!("{word} {}", program.name());
            gate.step(&name, || program.run(workspace, &target))?;
        }
    }
    Ok(())
}
