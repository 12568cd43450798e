//! `foreign`: the conformance suite over runtimes that nobody here wrote, each compared with what is
//! known of it (`conformance/baselines`), and the matrix of the fault areas over all of them.

mod matrix;

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use clap::Args;

use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::process;
use crate::workspace::{Workspace, cargo};

use matrix::Matrix;

/// Hundreds of cases, each with starts of a second or three, on two processors.
const DEADLINE: Duration = Duration::from_secs(3600);

/// For those whose start takes seven seconds and more, and on a busy machine half a minute.
const SLOW_DEADLINE: Duration = Duration::from_secs(3 * 3600);

/// A runtime that is judged: its file in `conformance/targets`, and what it speaks.
struct Target {
    name: &'static str,
    suite: &'static str,
    from: From,
}

/// Where a runtime comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// Built here.
    Here,
    /// Among the real agents that `cargo xtask agents` drives.
    Agents,
    /// Judged and nothing else.
    Foreign,
}

/// The suites that decide the fault areas, each with a file in `conformance/matrix`.
const MATRIX: [&str; 3] = ["acp", "claude", "codex-app-server"];

/// In the order in which they are run and shown.
const TARGETS: [Target; 16] = [
    target("sessiond", From::Here),
    face("sessiond-claude", "claude"),
    face("sessiond-codex-app-server", "codex-app-server"),
    target("acp-typescript-example", From::Foreign),
    target("acp-python-example", From::Foreign),
    target("acp-rust-example", From::Foreign),
    target("opencode", From::Agents),
    target("codex-acp", From::Agents),
    target("claude-agent-acp", From::Agents),
    target("gemini-cli", From::Agents),
    target("qwen-code", From::Foreign),
    speaking("claude-cli", "claude"),
    speaking("codex-exec-cli", "codex-exec"),
    speaking("codex-app-server-cli", "codex-app-server"),
    speaking("claude-cli-transcript", "transcript"),
    speaking("codex-cli-transcript", "transcript"),
];

const fn target(name: &'static str, from: From) -> Target {
    Target {
        name,
        suite: "acp",
        from,
    }
}

/// sessiond in the place of another program.
const fn face(name: &'static str, suite: &'static str) -> Target {
    Target {
        name,
        suite,
        from: From::Here,
    }
}

/// A real agent that is judged by what its own SDKs need, or by what it writes down.
const fn speaking(name: &'static str, suite: &'static str) -> Target {
    Target {
        name,
        suite,
        from: From::Agents,
    }
}

/// Which runtimes are run, and what of the suite.
#[derive(Debug, Args)]
pub(crate) struct Foreign {
    /// Only the runtimes whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only checks whose id contains this; the matrix then counts what this run says of them
    #[arg(short = 'k', value_name = "FILTER")]
    filter: Vec<String>,
    /// Run nothing: print the matrix of the fault areas from the reports of the last runs
    #[arg(long)]
    matrix: bool,
}

/// Installs what is missing, runs the suite over each runtime, and fails when one does otherwise than
/// its baseline says.
///
/// # Errors
///
/// `Command` when a build, an installation or a comparison fails; every runtime is run first.
pub(crate) fn run(workspace: &Workspace, options: &Foreign) -> Result<()> {
    let folder = workspace.target()?.join("foreign");
    let chosen: Vec<&Target> = TARGETS
        .iter()
        .filter(|target| target.name.contains(&options.only))
        .collect();
    if options.matrix {
        return print(workspace, &folder, &chosen);
    }
    let bench = Bench::make(workspace, folder, &chosen)?;
    let mut first = None;
    let mut any = false;
    for target in chosen {
        if !bench.has(target.suite, &options.filter)? {
            eprintln!("{}: its suite has no such check", target.name);
            continue;
        }
        any = true;
        if let Err(error) = bench.judge(target, &options.filter) {
            eprintln!("{}: {error}", target.name);
            first.get_or_insert(error);
        }
    }
    if !any {
        return Err(Error::Toolchain(
            "no runtime of that name is judged by such a check: see `sessiond-conformance SUITE --list`"
                .to_owned(),
        ));
    }
    first.map_or(Ok(()), Err)
}

/// Prints the matrix from the reports that are there.
fn print(workspace: &Workspace, folder: &Path, chosen: &[&Target]) -> Result<()> {
    let mut matrix = Matrix::default();
    for suite in MATRIX {
        let path = workspace
            .root()
            .join(format!("conformance/matrix/{suite}.toml"));
        let text = std::fs::read_to_string(&path).map_err(Error::io(path.display().to_string()))?;
        let read = matrix.read(suite, &text);
        read.map_err(|what| Error::content(&path, what))?;
    }
    let chosen = chosen
        .iter()
        .filter(|target| MATRIX.contains(&target.suite));
    for target in chosen {
        let path = folder.join(target.name).with_extension("jsonl");
        let Ok(mut reports) = std::fs::read_to_string(&path) else {
            continue;
        };
        let part = folder.join(format!("{}-part.jsonl", target.name));
        if modified(&part) > modified(&path) {
            reports +=
                &std::fs::read_to_string(&part).map_err(Error::io(part.display().to_string()))?;
        }
        matrix
            .add(target.name, target.suite, &reports)
            .map_err(|what| Error::content(&path, what))?;
    }
    std::io::stdout()
        .write_all(matrix.markdown().as_bytes())
        .map_err(Error::io("the matrix"))
}

/// When a file was written, if it is there.
fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path)
        .and_then(|data| data.modified())
        .ok()
}

/// What the runs work with.
struct Bench<'a> {
    workspace: &'a Workspace,
    /// Reports, and the folders of the cases: some runtimes refuse a home below `/tmp`.
    folder: PathBuf,
    program: PathBuf,
    peers: PathBuf,
    path: std::ffi::OsString,
    /// Held, so that no second run takes the program and the reports of this one.
    _lock: File,
}

impl<'a> Bench<'a> {
    fn make(workspace: &'a Workspace, folder: PathBuf, chosen: &[&Target]) -> Result<Self> {
        let target = workspace.target()?;
        for part in ["home", "tmp"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part).map_err(Error::io(part.display().to_string()))?;
        }
        let lock = folder.join("lock");
        let lock = File::create(&lock).map_err(Error::io(lock.display().to_string()))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Error::Toolchain(
                "another `cargo xtask foreign` runs here: wait for its end".to_owned(),
            ),
            TryLockError::Error(source) => Error::io("the lock of this folder")(source),
        })?;
        let wants = |from: From| chosen.iter().any(|target| target.from == from);
        let mut packages = vec!["sessiond-conformance"];
        if wants(From::Here) {
            packages.push("sessiond-cli");
        }
        for package in packages {
            let build = ["build", "--quiet", "--bins", "--package", package];
            process::run(
                Command::new(cargo())
                    .args(build)
                    .current_dir(workspace.root()),
            )?;
        }
        let peers = Peers::at(&target);
        if wants(From::Agents) {
            peers.install_agents(workspace)?;
        }
        if wants(From::Foreign) {
            peers.install_foreign(workspace)?;
        }
        // A copy, so that a build meanwhile changes nothing of what runs.
        let program = folder.join("sessiond-conformance");
        let built = target.join("debug/sessiond-conformance");
        let _ = std::fs::remove_file(&program);
        std::fs::copy(&built, &program).map_err(Error::io(built.display().to_string()))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(target.join("debug")).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).map_err(|error| Error::content(&target, error))?;
        Ok(Self {
            workspace,
            folder,
            program,
            peers: target.join("peers"),
            path,
            _lock: lock,
        })
    }

    /// Whether a suite has a check that a filter lets through.
    fn has(&self, suite: &str, filter: &[String]) -> Result<bool> {
        if filter.is_empty() {
            return Ok(true);
        }
        let mut command = self.suite(suite, filter);
        let output = command
            .arg("--list")
            .output()
            .map_err(Error::io(self.program.display().to_string()))?;
        if !output.status.success() {
            return Err(Error::Command {
                command: process::line(&command),
                how: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        Ok(!output.stdout.is_empty())
    }

    /// The command that runs the checks of a suite that a filter lets through.
    fn suite(&self, suite: &str, filter: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.folder.join("home"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("SESSIOND_PEERS", &self.peers)
            .arg(suite);
        for filter in filter {
            command.args(["-k", filter]);
        }
        command
    }

    /// Runs the suite over one runtime.
    fn judge(&self, target: &Target, filter: &[String]) -> Result<()> {
        let data = self.workspace.root().join("conformance");
        let file = |folder: &str| data.join(folder).join(target.name).with_extension("toml");
        let mut command = self.suite(target.suite, filter);
        command.arg("--target").arg(file("targets"));
        if file("baselines").exists() {
            command.arg("--baseline").arg(file("baselines"));
        }
        let name = if filter.is_empty() {
            target.name.to_owned()
        } else {
            format!("{}-part", target.name)
        };
        for (option, ending) in [("--json", "jsonl"), ("--html", "html")] {
            command
                .arg(option)
                .arg(self.folder.join(format!("{name}.{ending}")));
        }
        let slow = matches!(target.name, "opencode" | "qwen-code");
        process::run_within(&mut command, if slow { SLOW_DEADLINE } else { DEADLINE })
    }
}
