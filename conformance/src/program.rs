//! What `sessiond-conformance` does.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser as _;

use crate::baseline::{Baseline, Renewed, renew};
use crate::disk;
use crate::error::Error;
use crate::explain::explain;
use crate::guard;
use crate::model_link::ModelLink;
use crate::options::{Options, Task};
use crate::report::{self, Column, Report};
use crate::runner::Runner;
use crate::suite::{Suite, Variant};
use crate::target::{Given, Target};

/// Runs the program with the arguments of the process; its exit code is 0 for conformant, 1 for
/// not, 2 for usage, 3 for a fault of the suite itself.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next().as_deref().and_then(OsStr::to_str) {
        Some(guard::GUARD) => return guard::main(arguments),
        Some(guard::STAGE) => return guard::stage(arguments),
        Some(disk::DISK) => return disk::keep(arguments),
        Some(disk::INSIDE) => return disk::inside(arguments),
        _ => {}
    }
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Help and version are no faults.
            let code = u8::from(error.use_stderr()) * 2;
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match run(&options) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("sessiond-conformance: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, Error> {
    let suite = Suite::load(&options.suite)?;
    let mut cases = suite.select(options.level, &options.filter);
    let given = options.given()?;
    if let Some(given) = &given {
        let of_file = format!("transcript.{}.file", given.shape.name());
        cases.retain(|variant| variant.id == of_file);
    }
    if options.task() == Task::List {
        return list(&cases, options);
    }
    if cases.is_empty() {
        let why = format!(
            "no check of {} contains `{}`",
            options.suite,
            options.filter.join("` or `")
        );
        return Err(Error::Usage(why));
    }
    if options.task() == Task::Explain {
        explain(&suite, &cases, options, &mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let targets = targets(options, given)?;
    if options.task() == Task::Update && (options.baseline.len() != 1 || targets.len() != 1) {
        let why = "--update writes one --baseline for one target".to_owned();
        return Err(Error::Usage(why));
    }
    let baselines = baselines(options, &suite)?;
    let keep = options.keep.as_deref().map(folder).transpose()?;
    // Whatever a target leaves behind, were it to end its guard, comes to this process.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Error::io("subreaper", error.into()))?;
    let model = ModelLink::start()?;
    let mut columns = Vec::new();
    for (target, again) in targets {
        let mut column = judge(options, &suite, &cases, &target, &model, keep.as_deref())?;
        column.again = again;
        for baseline in &baselines {
            baseline.apply(&column.target, &mut column.rows);
        }
        columns.push(column);
    }
    guard::end_tree();
    let report = Report {
        suite: &suite,
        name: &options.suite,
        columns,
    };
    // A reader that has gone away does not change the verdict.
    let _ = report::print(&report, &mut io::stdout().lock());
    report.write(
        options.json.as_deref(),
        options.junit.as_deref(),
        options.html.as_deref(),
    )?;
    if let (Task::Update, [path], [column]) = (
        options.task(),
        options.baseline.as_slice(),
        report.columns.as_slice(),
    ) {
        let Renewed { added, removed } = renew(path, &column.target, &column.rows)?;
        let path = path.display();
        eprintln!("{path}: {added} added, {removed} taken out; give each new one its reason");
        return Ok(ExitCode::SUCCESS);
    }
    let conforms = report.columns.iter().all(Column::conforms);
    Ok(ExitCode::from(u8::from(!conforms)))
}

/// The baselines that were named; one that is to be written may be new.
fn baselines(options: &Options, suite: &Suite) -> Result<Vec<Baseline>, Error> {
    let is_new = |path: &Path| options.task() == Task::Update && !path.exists();
    let named = options.baseline.iter().filter(|path| !is_new(path));
    named
        .map(|path| {
            let baseline = Baseline::read(path)?;
            match baseline.unknown(&options.suite, suite) {
                None => Ok(baseline),
                Some(id) => Err(Error::Usage(format!(
                    "{}: there is no check {id}; `--list` prints those there are",
                    path.display()
                ))),
            }
        })
        .collect()
}

/// Makes a folder, if it is not there.
fn folder(path: &Path) -> Result<PathBuf, Error> {
    std::fs::create_dir_all(path)
        .map_err(|error| Error::Usage(format!("--keep {}: {error}", path.display())))?;
    whole(path)
}

fn list(cases: &[&Variant], options: &Options) -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    for (id, ..) in options.checks(cases) {
        writeln!(out, "{id}").map_err(|error| Error::io("stdout", error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The targets with what is typed to reach each again.
fn targets(options: &Options, given: Option<Given>) -> Result<Vec<(Target, String)>, Error> {
    if let Some(given) = given {
        let again = format!("-- {}", given.path.display());
        return Ok(vec![(Target::of_file(given), again)]);
    }
    if !options.command.is_empty() {
        let target = Target::of_command(&options.command)?;
        if options.suite == "transcript" && target.shapes.is_empty() {
            let why = "it is no transcript, and no profile says where this program writes one: \
                `shapes` in a --target FILE";
            return Err(Error::Usage(format!(
                "{}: {why}",
                options.command.join(" ")
            )));
        }
        return Ok(vec![(target, format!("-- {}", options.command.join(" ")))]);
    }
    if options.target.is_empty() {
        let why = "name a target: --target FILE, or -- COMMAND".to_owned();
        return Err(Error::Usage(why));
    }
    let read = |path: &PathBuf| Ok((Target::read(path)?, format!("--target {}", path.display())));
    options.target.iter().map(read).collect()
}

fn judge(
    options: &Options,
    suite: &Suite,
    cases: &[&Variant],
    target: &Target,
    model: &ModelLink,
    keep: Option<&Path>,
) -> Result<Column, Error> {
    let begun = Instant::now();
    // Short, for the sockets in it.
    let root = tempfile::Builder::new()
        .prefix("sc")
        .tempdir()
        .map_err(|error| Error::io("temporary folder", error))?;
    let runner = Runner {
        suite,
        target,
        model,
        root: whole(root.path())?,
        jobs: target.jobs.unwrap_or_else(jobs),
        keep,
    };
    let results = runner.run(cases)?;
    Ok(Column {
        target: target.id.clone(),
        again: String::new(),
        rows: report::rows(suite, &results, &options.filter, options.rigour())?,
        cases: results,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Without links: a target may compare it with what it is told.
fn whole(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize()
        .map_err(|error| Error::io(path.display().to_string(), error))
}

/// Cases mostly wait.
fn jobs() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    (cores * 2).clamp(2, 8)
}
