//! `mutants`: the conformance suite judged by what it catches. A correct peer passes every check;
//! each fault of the peer turns exactly the declared checks red; each check is turned red by one.

mod declared;
mod suite;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Instant;

use clap::Args;

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, cargo};

use declared::Faults;
use suite::Suite;

/// Which faults are run, and what is done with what they show.
#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// Write what was seen into conformance/mutants/faults.toml, to be reviewed as a diff
    #[arg(long)]
    update: bool,
    /// Only the faults whose name contains this; the checks that none turns red are then not named
    #[arg(default_value = "")]
    filter: String,
}

/// Runs the peer without and with each fault, and prints the table on stdout.
///
/// # Errors
///
/// `Mutants` when a fault turns other checks red than declared, or a check is never red.
pub(crate) fn run(workspace: &Workspace, options: &Mutants) -> Result<()> {
    process::run(
        std::process::Command::new(cargo())
            .args([
                "build",
                "--quiet",
                "--package",
                "sessiond-conformance",
                "--bins",
            ])
            .current_dir(workspace.root()),
    )?;
    let suite = Suite::at(&workspace.target()?)?;
    let file = workspace.root().join("conformance/mutants/faults.toml");
    let mut faults = Faults::read(&file)?;
    let all = suite.list()?;
    let mut problems = Vec::new();
    let mut caught: BTreeSet<String> = BTreeSet::new();
    let sound = suite.red("")?;
    report("(none)", sound.len(), None)?;
    problems.extend(
        sound
            .iter()
            .map(|id| format!("the correct peer fails {id}")),
    );
    for fault in faults.names(&options.filter) {
        let begun = Instant::now();
        let red = suite.red(&fault)?;
        let differs = faults.differs(&fault, &red, &all);
        report(
            &fault,
            red.len(),
            Some((begun.elapsed().as_secs_f64(), differs.is_empty())),
        )?;
        if options.update {
            faults.set(&fault, &red, &all);
            faults.write(&file)?;
        } else {
            problems.extend(differs.into_iter().map(|what| format!("{fault}: {what}")));
        }
        if red.is_empty() {
            problems.push(format!("{fault}: nothing turns red"));
        }
        caught.extend(red);
    }
    if options.filter.is_empty() {
        let never = all.difference(&caught);
        problems.extend(never.map(|id| format!("no fault turns {id} red")));
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Mutants(problems.len()))
    }
}

fn report(fault: &str, red: usize, run: Option<(f64, bool)>) -> Result<()> {
    let note = match run {
        None => String::new(),
        Some((seconds, true)) => format!("{seconds:>6.1} s"),
        Some((seconds, false)) => format!("{seconds:>6.1} s  other than declared"),
    };
    writeln!(std::io::stdout(), "{fault:<28} {red:>4} red {note}")
        .map_err(Error::io("writing the table"))
}

#[cfg(test)]
#[path = "mutants/tests.rs"]
mod tests;
