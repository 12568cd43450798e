//! `sessiond agents`: what may stand behind a session.

use serde::Serialize;

use crate::args::Format;
use crate::config::AgentConfig;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::Setup;

/// An agent as it is listed. Its environment is not: it may hold secrets (SEC-2).
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    kind: String,
    command: Vec<String>,
    /// Whether new sessions get it.
    default: bool,
}

/// Lists the agents.
pub(crate) fn run(setup: &Setup, format: Format) -> Result<(), Failure> {
    let default = setup.default_agent().ok();
    let list = |(name, agent): (String, AgentConfig)| Listed {
        default: default.as_ref() == Some(&name),
        name,
        kind: agent.kind.to_string(),
        command: agent.command(),
    };
    let agents: Vec<Listed> = setup.config().agents().into_iter().map(list).collect();
    if format.json {
        return print_json(&serde_json::json!({ "agents": agents }));
    }
    agents.iter().try_for_each(|agent| {
        let default = if agent.default { "  (default)" } else { "" };
        let command = agent.command.join(" ");
        let line = format!("{:<16} {:<8} {command}{default}", agent.name, agent.kind);
        print(&format!("{}\n", line.trim_end()))
    })
}
