//! The command line of `sessiond-conformance`.

use std::path::PathBuf;

use clap::Parser;

use crate::case::Level;
use crate::check::Check;
use crate::error::Error;
use crate::judge::Transcript;
use crate::step::ShapeName;
use crate::suite::Variant;
use crate::target::Given;
use crate::verdict::Rigour;

/// Judges an agent runtime over stdio
///
/// Starts the target afresh for each case, talks to it, and decides every check from what was
/// recorded. The target gets a home, a state folder and a working folder of its own.
#[derive(Debug, Parser)]
#[command(
    name = "sessiond-conformance",
    version,
    after_help = "Examples:\n  sessiond-conformance acp -- my-agent --acp\n  \
        sessiond-conformance acp --target my-agent.toml --html report.html\n  \
        sessiond-conformance acp --target my-agent.toml --baseline known.toml --update\n  \
        sessiond-conformance transcript -- FILE.jsonl\n  \
        sessiond-conformance acp --list\n  \
        sessiond-conformance acp --explain -k acp.cancel\n\n\
        Exit codes: 0 conformant, 1 not, 2 usage, 3 a fault of the suite itself."
)]
pub(crate) struct Options {
    /// What is judged: acp (versions 1 and 2), sqeq, claude, codex-exec, codex-app-server;
    /// cross, which tells one session in all that a target speaks; transcript, which judges files
    pub(crate) suite: String,
    /// Description of a target; several give one matrix
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(crate) target: Vec<PathBuf>,
    /// Cases up to this level: core is the protocol, session is sessions that are left and found
    /// again, durable is kills, damage and two processes
    #[arg(long, value_enum, default_value = "durable")]
    pub(crate) level: Level,
    /// Only checks whose id contains this; several are alternatives
    #[arg(short = 'k', value_name = "FILTER")]
    pub(crate) filter: Vec<String>,
    /// Print the ids of the checks, one a line, and run nothing
    #[arg(long)]
    list: bool,
    /// Say what the checks mean, by which rule and where that is written, and run nothing
    #[arg(long, conflicts_with = "list")]
    explain: bool,
    /// A `should` counts as a `must`
    #[arg(long)]
    strict: bool,
    /// Failures that are expected, each with its reason; one that does not come fails the run; several
    /// files may each name their target
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Vec<PathBuf>,
    /// Write what was found into the --baseline, one for one target: what failed comes in with what was seen in place
    /// of a reason, what did not come goes out; comments and groups stay. Ends with 0
    #[arg(long, requires = "baseline")]
    update: bool,
    /// Keep the folders of each case with a check that does not pass, and its wire log, below this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Write a report as JSON lines, with header and footer
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a report as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a report as one HTML page with the wire log of each case
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Suite transcript: what the file is one of; as it looks when absent
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    /// The command line of the target; in suite transcript also a file
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    List,
    Explain,
    Run,
    /// Run, and write what was found into the baseline.
    Update,
}

impl Options {
    /// The checks that were asked for, with their ids and cases.
    pub(crate) fn checks<'a>(
        &self,
        cases: &'a [&Variant],
    ) -> impl Iterator<Item = (String, &'a Variant, &'a Check)> {
        let all = cases.iter().flat_map(|variant| {
            let checks = variant.case.checks.iter();
            checks.map(|check| (variant.check_id(check), *variant, check))
        });
        all.filter(|(id, ..)| wanted(&self.filter, id))
    }

    /// The file that is judged in place of a program, if the command line is one.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when it cannot be read, or is of neither shape.
    pub(crate) fn given(&self) -> Result<Option<Given>, Error> {
        let ("transcript", [file]) = (self.suite.as_str(), self.command.as_slice()) else {
            return Ok(None);
        };
        let path = PathBuf::from(file);
        let fault = |why: String| Error::Usage(format!("{file}: {why}"));
        let program = |found: &std::fs::Metadata| {
            use std::os::unix::fs::PermissionsExt as _;
            !found.is_file() || found.permissions().mode() & 0o111 != 0
        };
        if self.shape.is_none() && path.metadata().as_ref().map_or(true, program) {
            return Ok(None);
        }
        let bytes = std::fs::read(&path).map_err(|error| fault(error.to_string()))?;
        let shape = Transcript::shape_of(&String::from_utf8_lossy(&bytes));
        let shape = self.shape.or(shape).ok_or_else(|| {
            let why = "neither a transcript of Claude nor a rollout of Codex; `--shape` says which";
            fault(why.to_owned())
        })?;
        Ok(Some(Given { path, shape }))
    }

    pub(crate) fn task(&self) -> Task {
        match (self.list, self.explain, self.update) {
            (true, ..) => Task::List,
            (_, true, _) => Task::Explain,
            (.., true) => Task::Update,
            _ => Task::Run,
        }
    }

    pub(crate) fn rigour(&self) -> Rigour {
        if self.strict {
            Rigour::Strict
        } else {
            Rigour::Usual
        }
    }
}

/// Whether a check's id contains one of the filters; without any it is wanted.
pub(crate) fn wanted(filters: &[String], id: &str) -> bool {
    filters.is_empty() || filters.iter().any(|filter| id.contains(filter.as_str()))
}
