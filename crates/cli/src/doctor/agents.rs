//! Whether the configured agents can be run.

use std::path::Path;

use rustix::fs::{Access, access};

use super::finding::Finding;
use crate::args::Common;
use crate::config::AgentConfig;
use crate::setup::Setup;

/// One finding an agent, or one about the configuration's mistake.
pub(super) fn findings(common: &Common) -> Vec<Finding> {
    let setup = match Setup::load(common) {
        Ok(setup) => setup,
        Err(failure) => return vec![Finding::bad("config", failure.to_string())],
    };
    let agents = setup.config().agents();
    let mut findings: Vec<Finding> = agents
        .iter()
        .map(|(name, agent)| finding(name, agent))
        .collect();
    findings.push(match setup.default_agent() {
        Ok(name) => Finding::good("default", format!("new sessions get agent {name}")),
        Err(failure) => Finding::bad("default", failure.to_string()),
    });
    findings
}

fn finding(name: &str, agent: &AgentConfig) -> Finding {
    let topic = format!("agent {name}");
    let kind = agent.kind;
    match agent.command().first() {
        None => Finding::good(&topic, format!("kind {kind}, built in")),
        Some(program) if is_runnable(program) => {
            Finding::good(&topic, format!("kind {kind}, `{program}` can be run"))
        }
        Some(program) => {
            let detail = format!(
                "kind {kind}, `{program}` does not exist or cannot be run; install it, or mend \
                 `command`"
            );
            Finding::warning(&topic, detail)
        }
    }
}

/// Whether a program can be run by that name.
fn is_runnable(program: &str) -> bool {
    let executable = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| executable(&folder.join(program)))
}
