//! `mutants`: the conformance suite judged by what it catches. A correct peer passes every check;
//! each fault of the peer turns exactly the declared checks red; each check is turned red by one.

mod declared;
mod selection;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;

use crate::error::{Error, Result};
use crate::gate::SUITES;
use crate::process;
use crate::workspace::{Workspace, cargo};

use declared::Faults;
use selection::{Extent, about, selection, suite_of};
use suite::Suite;

/// How many peers run at once: they mostly wait.
const PEERS: usize = 2;

/// Which faults are run, and what is done with what they show.
#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// Write what was seen into conformance/mutants/faults.toml, to be reviewed as a diff; implies --whole
    #[arg(long)]
    update: bool,
    /// Run every case with every fault, not only those of its areas and a sample of the others
    #[arg(long)]
    whole: bool,
    /// Run only the cases whose ids begin so; with --update, what is declared of others stays
    #[arg(long, default_value = "")]
    area: String,
    /// Only the faults whose name contains one of these; the checks that none turns red are then not named
    filter: Vec<String>,
}

/// What the peers share.
struct Board {
    faults: Faults,
    waiting: Vec<String>,
    caught: BTreeSet<String>,
    problems: Vec<String>,
    error: Option<Error>,
}

/// What does not change while they run.
struct Bench<'a> {
    suite: Suite,
    file: PathBuf,
    options: &'a Mutants,
    all: BTreeMap<&'static str, BTreeSet<String>>,
    of_every: BTreeSet<String>,
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
    let faults = Faults::read(&file)?;
    let mut bench = Bench {
        suite,
        file,
        options,
        all: BTreeMap::new(),
        of_every: BTreeSet::new(),
    };
    let mut problems = Vec::new();
    // The peer speaks all that the gate judges sessiond by.
    for (name, ..) in SUITES {
        let all = bench.suite.list(name)?;
        bench.of_every.extend(of_every(workspace, &all)?);
        let ids = all.iter().filter(|id| id.starts_with(&options.area));
        let cases: BTreeSet<String> = ids
            .filter_map(|id| Some(id.split_once('#')?.0.to_owned()))
            .collect();
        if cases.is_empty() {
            bench.all.insert(name, all);
            continue;
        }
        let cases: Vec<String> = cases.iter().map(|case| format!("{case}#")).collect();
        let sound = bench.suite.red(name, "", &cases)?;
        report(&format!("(none, {name})"), sound.len(), None)?;
        problems.extend(
            sound
                .iter()
                .map(|id| format!("the correct peer fails {id}")),
        );
        bench.all.insert(name, all);
    }
    let waiting = faults.names(&options.filter);
    let board = Mutex::new(Board {
        faults,
        waiting,
        caught: BTreeSet::new(),
        problems,
        error: None,
    });
    std::thread::scope(|scope| {
        for _ in 0..PEERS {
            scope.spawn(|| work(&bench, &board));
        }
    });
    let mut board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = board.error {
        return Err(error);
    }
    if options.filter.is_empty() && options.area.is_empty() {
        let all: BTreeSet<String> = bench.all.into_values().flatten().collect();
        let never = all.difference(&board.caught);
        let never = never.map(|id| format!("no fault turns {id} red"));
        board.problems.extend(never);
    }
    board.problems.sort();
    for problem in &board.problems {
        eprintln!("{problem}");
    }
    if board.problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Mutants(board.problems.len()))
    }
}

/// Runs one fault after the other, until none waits.
fn work(bench: &Bench<'_>, board: &Mutex<Board>) {
    let lock = || board.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let (fault, selection) = {
            let mut board = lock();
            let Some(fault) = board.waiting.pop() else {
                return;
            };
            let all = about(&fault, &bench.all[suite_of(&fault)]);
            let declared = board.faults.red(&fault, &all);
            let extent = if bench.options.update || bench.options.whole {
                Extent::Whole
            } else {
                Extent::Sample
            };
            let mut cases = selection(&fault, &declared, &all, &bench.of_every, extent);
            cases.retain(|case| case.starts_with(&bench.options.area));
            (fault, cases)
        };
        if selection.is_empty() {
            continue;
        }
        let begun = Instant::now();
        let declared = lock().faults.red(&fault, &bench.all[suite_of(&fault)]);
        let red = bench.red(&fault, &selection, &declared);
        let mut board = lock();
        let result = red.and_then(|red| board.take(bench, &fault, red, begun));
        if let Err(error) = result {
            board.waiting.clear();
            board.error.get_or_insert(error);
        }
    }
}

impl Bench<'_> {
    /// The checks that are red with a fault. What is other than declared is looked at again, by itself:
    /// a machine that is busy with other things may have been too slow for a deadline.
    fn red(
        &self,
        fault: &str,
        cases: &[String],
        declared: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>> {
        let suite = suite_of(fault);
        let mut red = self.suite.red(suite, fault, cases)?;
        let odd = red.symmetric_difference(declared);
        let mut odd: BTreeSet<String> = odd
            .filter_map(|id| Some(format!("{}#", id.split_once('#')?.0)))
            .collect();
        odd.retain(|case| cases.contains(case));
        if odd.is_empty() {
            return Ok(red);
        }
        let odd: Vec<String> = odd.into_iter().collect();
        let every = |case: &String| self.of_every.contains(case.trim_end_matches('#'));
        let again = if odd.iter().any(every) { cases } else { &odd };
        let second = self.suite.red(suite, fault, again)?;
        red.retain(|id| !again.iter().any(|case| id.starts_with(case.as_str())));
        red.extend(second);
        Ok(red)
    }
}

impl Board {
    /// Compares what was seen with what is declared.
    fn take(
        &mut self,
        bench: &Bench<'_>,
        fault: &str,
        red: BTreeSet<String>,
        begun: Instant,
    ) -> Result<()> {
        let all = about(fault, &bench.all[suite_of(fault)]);
        let elsewhere = |id: &&String| !id.starts_with(&bench.options.area);
        let mut whole = red.clone();
        whole.extend(
            self.faults
                .red(fault, &all)
                .iter()
                .filter(elsewhere)
                .cloned(),
        );
        let differs = self.faults.differs(fault, &whole, &all);
        let took = (begun.elapsed().as_secs_f64(), differs.is_empty());
        report(fault, red.len(), Some(took))?;
        if bench.options.update {
            self.faults.set(fault, &whole, &all);
            self.faults.write(&bench.file)?;
        } else {
            let differs = differs.into_iter().map(|what| format!("{fault}: {what}"));
            self.problems.extend(differs);
        }
        if whole.is_empty() {
            self.problems.push(format!("{fault}: nothing turns red"));
        }
        self.caught.extend(red);
        Ok(())
    }
}

/// The cases that look at all others.
fn of_every(workspace: &Workspace, all: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for case in all.iter().filter_map(|id| id.split('#').next()) {
        let folder = workspace.root().join("conformance/cases");
        let path = folder.join(format!("{}.toml", case.replace('.', "/")));
        // A variant of a case has no file of its own, and looks at itself.
        if path.exists() {
            let text =
                std::fs::read_to_string(&path).map_err(Error::io(path.display().to_string()))?;
            if text.contains("\nscope = \"every\"") {
                found.insert(case.to_owned());
            }
        }
    }
    Ok(found)
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
