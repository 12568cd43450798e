//! The command line of `cargo xtask`.

use clap::{Parser, Subcommand};

use crate::agents;
use crate::bench::acp::{self, Acp};
use crate::bench::claude::{self, Claude};
use crate::bench::codex::{self, Codex};
use crate::bench::log::{self, Log};
use crate::bench::open::{self, Open};
use crate::bench::rollout::{self, Rollout};
use crate::bench::start::{self, Start};
use crate::bench::stream;
use crate::bench::waist::{self, Waist};
use crate::error::Result;
use crate::faults::{self, Faults};
use crate::foreign::{self, Foreign};
use crate::gate;
use crate::mutants::{self, Mutants};
use crate::peers::Peers;
use crate::program::{self, Kind};
use crate::schemas::{self, Schemas};
use crate::tidy;
use crate::workspace::Workspace;

/// Tasks of the sessiond workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
#[command(after_help = "Examples:\n  cargo xtask test\n  cargo xtask tidy\n  \
    cargo xtask drives acp_py\n  cargo xtask bench start --runs 40 --json")]
pub(crate) struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything that must hold: format, lints, tidy, tests, drives, examples (what CI runs)
    #[command(after_help = "Example:\n  cargo xtask test")]
    Test,
    /// House rules that rustfmt and clippy cannot check; no build, under two seconds
    #[command(after_help = "Example:\n  cargo xtask tidy")]
    Tidy,
    /// Install the SDKs and clients of others, in exact versions, below target/peers
    #[command(after_help = "Example:\n  cargo xtask peers")]
    Peers,
    /// Drive `sessiond acp` by programs on the SDKs of others
    #[command(after_help = "Examples:\n  cargo xtask drives\n  cargo xtask drives acp_ts")]
    Drives {
        /// Only those whose name contains this
        #[arg(default_value = "")]
        filter: String,
    },
    /// Drive real agents, alone and behind sessiond, on the scripted model server (installs 1.3 GB)
    #[command(after_help = "Examples:\n  cargo xtask agents\n  \
        cargo xtask agents claude\n  \
        cargo xtask agents codex behind")]
    Agents {
        /// Only those whose name contains this
        #[arg(default_value = "")]
        filter: String,
        /// Only `alone` or only `behind`
        #[arg(default_value = "")]
        way: String,
    },
    /// Judge runtimes that nobody here wrote, and compare with conformance/baselines (installs 1.9 GB)
    #[command(after_help = "Examples:\n  cargo xtask foreign\n  \
        cargo xtask foreign --only opencode -k acp.kill\n  \
        cargo xtask foreign --matrix")]
    Foreign(Foreign),
    /// Run the examples, and connect as each editor configuration says
    #[command(after_help = "Examples:\n  cargo xtask examples\n  cargo xtask examples editors")]
    Examples {
        /// Only those whose name contains this
        #[arg(default_value = "")]
        filter: String,
    },
    /// What log and session core are put through, counted: test, states tried, violations
    #[command(
        after_help = "Examples:\n  cargo xtask faults\n  cargo xtask faults --mutations\n  cargo xtask faults --core\n  cargo xtask faults --adapters"
    )]
    Faults(Faults),
    /// The published schemas: are they those of the types, and do old clients still fit
    #[command(
        after_help = "Examples:\n  cargo xtask schemas --check\n  cargo xtask schemas --update"
    )]
    Schemas(Schemas),
    /// The conformance suite judged: each fault of a reference peer against the checks it turns red
    #[command(
        after_help = "Examples:\n  cargo xtask mutants\n  cargo xtask mutants cancel\n  cargo xtask mutants --update"
    )]
    Mutants(Mutants),
    /// Measure; prints figures and never asserts
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Cold start to answered initialize, and peak memory, beside echo agents on two SDKs
    #[command(after_help = "Examples:\n  cargo xtask bench start\n  \
        cargo xtask bench start --profile release --runs 40 --json")]
    Start(Start),
    /// Opening a long session, and replaying all of it to a client: time and peak memory
    #[command(after_help = "Examples:\n  cargo xtask bench open\n  \
        cargo xtask bench open --turns 55,5500 --runs 3 --json")]
    Open(Open),
    /// Appends a second, the price of a durable one, disk per turn, lists of many sessions
    #[command(after_help = "Examples:\n  cargo xtask bench log\n  \
        cargo xtask bench log --seconds 5 --sessions 1000 --json")]
    Log(Log),
    /// An event on its way to a client, a thousand sessions in one process, and their memory
    #[command(after_help = "Example:\n  cargo xtask bench waist --sessions 100 --json")]
    Waist(Waist),
    /// A stream of updates to an ACP client, beside three SDKs, and what relaying one of them costs
    #[command(after_help = "Examples:\n  cargo xtask bench acp\n  \
        cargo xtask bench acp --updates 20000 --bytes 32 --runs 9 --json\n  \
        cargo xtask bench acp --only TypeScript,relayed")]
    Acp(Acp),
    /// Taking in a long transcript of Claude: bytes a second and peak memory
    #[command(after_help = "Examples:\n  cargo xtask bench claude\n  \
        cargo xtask bench claude --megabytes 20 --json")]
    Claude(Claude),
    /// A turn of exec and a long thread's resumption beside the real Codex
    #[command(after_help = "Examples:\n  cargo xtask bench codex\n  \
        cargo xtask bench codex --megabytes 10 --runs 3 --json")]
    Codex(Codex),
    /// Taking in a long rollout of Codex: bytes a second and peak memory
    #[command(after_help = "Examples:\n  cargo xtask bench rollout\n  \
        cargo xtask bench rollout --megabytes 20 --json")]
    Rollout(Rollout),
    /// The server that `bench acp` takes for the ceiling: it writes a line an update, no more
    #[command(hide = true, after_help = "Example:\n  cargo xtask bench stream")]
    Stream,
}

impl Cli {
    /// Does the task.
    ///
    /// # Errors
    ///
    /// The first thing that failed; everything it printed is already on stderr.
    pub(crate) fn run(self) -> Result<()> {
        let workspace = Workspace::find()?;
        match self.task {
            Task::Test => gate::run(&workspace),
            Task::Tidy => tidy::run(workspace.root()),
            Task::Peers => Peers::at(&workspace.target()?).install(&workspace),
            Task::Drives { filter } => program::run_matching(&workspace, Kind::Drive, &filter),
            Task::Agents { filter, way } => agents::run(&workspace, &filter, &way),
            Task::Foreign(options) => foreign::run(&workspace, &options),
            Task::Examples { filter } => program::run_matching(&workspace, Kind::Example, &filter),
            Task::Faults(options) => faults::run(&workspace, &options),
            Task::Schemas(options) => schemas::run(&workspace, &options),
            Task::Mutants(options) => mutants::run(&workspace, &options),
            Task::Bench(Bench::Start(options)) => start::run(&workspace, &options),
            Task::Bench(Bench::Open(options)) => open::run(&workspace, &options),
            Task::Bench(Bench::Log(options)) => log::run(&workspace, &options),
            Task::Bench(Bench::Waist(options)) => waist::run(&workspace, &options),
            Task::Bench(Bench::Acp(options)) => acp::run(&workspace, &options),
            Task::Bench(Bench::Claude(options)) => claude::run(&workspace, &options),
            Task::Bench(Bench::Codex(options)) => codex::run(&workspace, &options),
            Task::Bench(Bench::Rollout(options)) => rollout::run(&workspace, &options),
            Task::Bench(Bench::Stream) => stream::serve(),
        }
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
