//! `agents`: real agents on the scripted model server, alone and behind sessiond.

use std::process::Command;
use std::time::Duration;

use crate::environment::Environment;
use crate::error::Result;
use crate::peers::Peers;
use crate::process;
use crate::toolchain::Tool;
use crate::workspace::{Workspace, cargo};

/// Four agents, twice each, a minute at the very most.
const DEADLINE: Duration = Duration::from_secs(480);

/// Drives of their own beside the agents, chosen as those are: what judges the Codex face by the
/// schemas of the real one, and rollouts between sessiond and the real one.
const OTHERS: [&str; 2] = ["codex_schemas", "codex_rollouts"];

/// Builds sessiond and the model server, installs the agents, and drives those whose name contains
/// `filter` in the ways whose name contains `way`.
///
/// # Errors
///
/// `Command` when a build, the installation or a check fails.
pub(crate) fn run(workspace: &Workspace, filter: &str, way: &str) -> Result<()> {
    let target = workspace.target()?;
    for package in ["sessiond-cli", "sessiond-conformance"] {
        let build = ["build", "--quiet", "--bins", "--package", package];
        process::run(
            Command::new(cargo())
                .args(build)
                .current_dir(workspace.root()),
        )?;
    }
    Peers::at(&target).install_agents(workspace)?;
    let debug = target.join("debug");
    let drives = workspace.root().join("drives/agents");
    for other in OTHERS.iter().filter(|other| other.contains(filter)) {
        let environment = Environment::make(&target, other, &debug.join("sessiond"))?;
        let mut command = environment.command(Tool::Node.program().as_ref());
        command
            .env("SESSIOND_MODEL", debug.join("scripted-model"))
            .arg(drives.join(format!("{other}.mjs")));
        process::run_within(&mut command, DEADLINE)?;
        if filter == *other {
            return Ok(());
        }
    }
    let environment = Environment::make(&target, "agents", &debug.join("sessiond"))?;
    let mut command = environment.command(Tool::Node.program().as_ref());
    command
        .env("SESSIOND_MODEL", debug.join("scripted-model"))
        .arg(drives.join("agents.mjs"))
        .args([filter, way]);
    process::run_within(&mut command, DEADLINE)
}
