//! `agents`: real agents on the scripted model server.

use std::process::Command;
use std::time::Duration;

use crate::environment::Environment;
use crate::error::Result;
use crate::peers::Peers;
use crate::process;
use crate::toolchain::Tool;
use crate::workspace::{Workspace, cargo};

/// Four agents, a minute each at the very most.
const DEADLINE: Duration = Duration::from_secs(240);

/// Builds the model server, installs the agents, and drives those whose name contains
/// `filter`.
///
/// # Errors
///
/// `Command` when a build, the installation or a check fails.
pub(crate) fn run(workspace: &Workspace, filter: &str) -> Result<()> {
    let target = workspace.target()?;
    let build = [
        "build",
        "--quiet",
        "--bins",
        "--package",
        "sessiond-conformance",
    ];
    process::run(
        Command::new(cargo())
            .args(build)
            .current_dir(workspace.root()),
    )?;
    Peers::at(&target).install_agents(workspace)?;
    let debug = target.join("debug");
    let environment = Environment::make(&target, "agents", &debug.join("sessiond"))?;
    let drive = workspace.root().join("drives/agents/agents.mjs");
    let mut command = environment.command(Tool::Node.program().as_ref());
    command
        .env("SESSIOND_MODEL", debug.join("scripted-model"))
        .arg(drive)
        .arg(filter);
    process::run_within(&mut command, DEADLINE)
}
