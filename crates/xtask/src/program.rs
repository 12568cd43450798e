//! The drives and examples: which there are, and how each is run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::editors;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::process;
use crate::toolchain::Tool;
use crate::workspace::{Workspace, cargo};

/// After this a program hangs: its own waits are all shorter.
const DEADLINE: Duration = Duration::from_secs(300);

/// Why a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A client on an SDK of others that checks one of our faces.
    Drive,
    /// What we show to users, kept true by running it.
    Example,
}

/// What runs a program.
#[derive(Debug, Clone, Copy)]
enum Runner {
    /// The Python that has the SDK.
    PythonSdk,
    /// Any Python: the example needs nothing.
    Python,
    Node,
    /// The client on the Rust SDK, told the version of the protocol by its first argument.
    RustSdk,
    Shell,
    /// Not a program but configuration files, connected as they say.
    Editors,
}

/// One drive or example.
#[derive(Debug)]
pub(crate) struct Program {
    kind: Kind,
    name: &'static str,
    runner: Runner,
    /// The file that the runner runs; the argument of a client that is built.
    file: &'static str,
}

const PROGRAMS: [Program; 19] = [
    Program::new(Kind::Drive, "acp_py", Runner::PythonSdk, "drives/acp_py.py"),
    Program::new(Kind::Drive, "acp_ts", Runner::Node, "drives/acp_ts.mjs"),
    Program::new(Kind::Drive, "acpx", Runner::Node, "drives/acpx.mjs"),
    Program::new(
        Kind::Drive,
        "acp_ts_v2",
        Runner::Node,
        "drives/acp_ts_v2.mjs",
    ),
    Program::new(Kind::Drive, "acp_rs_v1", Runner::RustSdk, "v1"),
    Program::new(Kind::Drive, "acp_rs_v2", Runner::RustSdk, "v2"),
    Program::new(
        Kind::Drive,
        "codex_py",
        Runner::PythonSdk,
        "drives/codex_py.py",
    ),
    Program::new(Kind::Drive, "codex_ts", Runner::Node, "drives/codex_ts.mjs"),
    Program::new(
        Kind::Drive,
        "claude_py",
        Runner::PythonSdk,
        "drives/claude_py.py",
    ),
    Program::new(
        Kind::Drive,
        "claude_ts",
        Runner::Node,
        "drives/claude_ts.mjs",
    ),
    Program::new(
        Kind::Drive,
        "claude_transcript_py",
        Runner::PythonSdk,
        "drives/claude_transcript_py.py",
    ),
    Program::new(
        Kind::Drive,
        "claude_transcript_ts",
        Runner::Node,
        "drives/claude_transcript_ts.mjs",
    ),
    Program::new(
        Kind::Drive,
        "report_page",
        Runner::Node,
        "drives/report_page.mjs",
    ),
    Program::new(
        Kind::Drive,
        "second_opinion",
        Runner::Node,
        "drives/second_opinion.mjs",
    ),
    Program::new(
        Kind::Example,
        "attach_after_kill",
        Runner::Python,
        "examples/attach_after_kill.py",
    ),
    Program::new(
        Kind::Example,
        "one_turn",
        Runner::Shell,
        "examples/one_turn.sh",
    ),
    Program::new(
        Kind::Example,
        "sqeq_turn_py",
        Runner::Python,
        "examples/sqeq_turn.py",
    ),
    Program::new(
        Kind::Example,
        "sqeq_turn_js",
        Runner::Node,
        "examples/sqeq_turn.mjs",
    ),
    Program::new(
        Kind::Example,
        "editors",
        Runner::Editors,
        "examples/editors",
    ),
];

/// All programs of a kind.
pub(crate) fn of(kind: Kind) -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(move |program| program.kind == kind)
}

/// Builds sessiond, installs the peers, and runs the programs whose name contains `filter`.
///
/// # Errors
///
/// The first failure; `Content` when no name matches.
pub(crate) fn run_matching(workspace: &Workspace, kind: Kind, filter: &str) -> Result<()> {
    let chosen: Vec<_> = of(kind)
        .filter(|program| program.name.contains(filter))
        .collect();
    if chosen.is_empty() {
        return Err(Error::content(
            workspace.root(),
            format!("no {kind:?} is called `{filter}`"),
        ));
    }
    let target = workspace.target()?;
    let build = [
        "build",
        "--quiet",
        "--package",
        "sessiond-cli",
        "--package",
        "sessiond-conformance",
        "--bins",
    ];
    process::run(
        Command::new(cargo())
            .args(build)
            .current_dir(workspace.root()),
    )?;
    if kind == Kind::Drive {
        Peers::at(&target).install(workspace)?;
    }
    chosen
        .iter()
        .try_for_each(|program| program.run(workspace, &target))
}

impl Program {
    const fn new(kind: Kind, name: &'static str, runner: Runner, file: &'static str) -> Self {
        Self {
            kind,
            name,
            runner,
            file,
        }
    }

    /// What it is called on the command line.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Runs it against the sessiond that was built for tests. `SESSIOND_BIN` may name another one.
    ///
    /// # Errors
    ///
    /// `Command` when it fails or hangs.
    pub(crate) fn run(&self, workspace: &Workspace, target: &Path) -> Result<()> {
        let built = || target.join("debug/sessiond");
        let sessiond = std::env::var_os("SESSIOND_BIN").map_or_else(built, PathBuf::from);
        let environment = Environment::make(target, self.name, &sessiond)?;
        let file = workspace.root().join(self.file);
        let program = match self.runner {
            Runner::PythonSdk => Peers::at(target).python(),
            Runner::Python => Tool::Python.program().into(),
            Runner::Node => Tool::Node.program().into(),
            Runner::RustSdk => {
                let client = Peers::at(target).rust_client();
                let mut command = environment.command(&client);
                return process::run_within(command.arg(self.file), DEADLINE);
            }
            Runner::Shell => "sh".into(),
            Runner::Editors => return editors::check(&file, &environment),
        };
        process::run_within(environment.command(&program).arg(file), DEADLINE)
    }
}
