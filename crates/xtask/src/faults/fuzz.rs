//! Coverage-guided fuzzing of the log's reader and of the native face, with libFuzzer on the stable
//! compiler.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::suite::Form;
use super::verdict::{Row, Table};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};

/// Programs of the workspace `fuzz/`, with how often each is run: in short, in full.
const TARGETS: [(&str, u32, u32); 3] = [
    ("recovery", 2_000, 30_000),
    ("edits", 2_000, 30_000),
    ("frames", 1_000, 60_000),
];

/// After this many seconds one run hangs. None takes more than a few milliseconds, but for those
/// that wait for an agent that is told to stop, or for a receipt that does not come.
const HANGS: u32 = 20;

/// What puts libFuzzer's counters into the code, as `cargo fuzz` does on nightly.
const COUNTERS: &str = "-Cpasses=sancov-module -Cdebug-assertions \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds the targets and runs each; a row counts executions.
pub(super) fn run(workspace: &Workspace, form: Form, table: &mut Table) -> Result<()> {
    let (host, target) = (host()?, workspace.target()?.join("fuzz"));
    let mut build = Command::new(cargo());
    build
        .args(["build", "--release", "--locked", "--target", &host])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(workspace.root().join("fuzz"))
        .env("RUSTFLAGS", COUNTERS);
    process::run(&mut build)?;
    for (name, few, many) in TARGETS {
        let runs = match form {
            Form::Short => few,
            Form::Full => many,
        };
        let mut fuzz = Command::new(target.join(&host).join("release").join(name));
        fuzz.arg(format!("-runs={runs}"))
            .arg(format!("-timeout={HANGS}"))
            .args(["-seed=1", "-max_len=4096", "-print_final_stats=1"])
            // What fails is kept here, to be given to the program again.
            .arg(format!("-artifact_prefix={}/", target.display()))
            .stderr(Stdio::piped());
        if let Some(seeds) = seeds(workspace, name)? {
            fuzz.arg(seeds);
        }
        let text = process::line(&fuzz);
        eprintln!("$ {text}");
        let start = Instant::now();
        let mut child = fuzz
            .spawn()
            .map_err(Error::io(format!("starting `{text}`")))?;
        let mut states = 0;
        if let Some(stderr) = child.stderr.take() {
            for line in BufReader::new(stderr).lines() {
                let line = line.map_err(Error::io(format!("reading from `{text}`")))?;
                states = executed(&line).unwrap_or(states);
                if line.contains("panicked") || line.contains("ERROR") || states > 0 {
                    eprintln!("{line}");
                }
            }
        }
        let ended_well = child.wait().map_err(Error::io(text))?.success();
        table.rows.push(Row {
            test: format!("fuzz_{name}"),
            states,
            violations: u64::from(!ended_well),
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    Ok(())
}

/// The argument that names the inputs to begin with: the files in `fuzz/seeds/NAME`, where there are
/// any. As a folder the fuzzer would add to them.
fn seeds(workspace: &Workspace, name: &str) -> Result<Option<String>> {
    let folder = workspace.root().join("fuzz/seeds").join(name);
    if !folder.is_dir() {
        return Ok(None);
    }
    let what = format!("reading {}", folder.display());
    let entries = std::fs::read_dir(&folder).map_err(Error::io(what))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path().display().to_string()));
    let paths: std::io::Result<Vec<_>> = paths.collect();
    let mut paths = paths.map_err(Error::io("reading a folder"))?;
    // In one order, so that a seed of the fuzzer gives one run.
    paths.sort();
    Ok(Some(format!("-seed_inputs={}", paths.join(","))))
}

/// The count in `stat::number_of_executed_units: N`.
pub(crate) fn executed(line: &str) -> Option<u64> {
    let count = line.strip_prefix("stat::number_of_executed_units:")?;
    count.trim().parse().ok()
}

/// The machine's own target: only with one named do the flags spare build scripts.
fn host() -> Result<String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(Error::io("starting `rustc -vV`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| Error::Faults("`rustc -vV` names no host".to_owned()))
}
