//! What is run for an agent, and with which environment.

use std::fmt;
use std::path::Path;

use super::{ErrorOutput, GuardedCommand, Input, Output, SpawnError, Supervised, SupervisorExe};

/// Variables of ours begin so. An agent does not inherit them: one that is sessiond itself would
/// take our choices for its own.
const OURS: &str = "SESSIOND_";

/// An agent that is a program which speaks on its stdin and stdout.
#[derive(Clone)]
pub struct AgentCommand {
    /// What the configuration calls it.
    pub name: String,
    /// The program: a path, or a name looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that this agent alone gets; may be secrets (SEC-2).
    pub env: Vec<(String, String)>,
    /// The binary that becomes its guard.
    pub supervisor: SupervisorExe,
}

impl fmt::Debug for AgentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env = self.env.iter().map(|(name, _)| name);
        f.debug_struct("AgentCommand")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("env", &env.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl AgentCommand {
    /// The command line, as a user would type it.
    #[must_use]
    pub fn line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Starts it in a directory.
    ///
    /// # Errors
    /// When its guard could not be started.
    pub fn spawn(&self, cwd: &Path) -> Result<Supervised, SpawnError> {
        let inherited = std::env::vars_os().map(|(name, _)| name);
        let ours = inherited.filter(|name| name.to_string_lossy().starts_with(OURS));
        let own = |(name, value): &(String, String)| (name.into(), value.into());
        Supervised::spawn(GuardedCommand {
            args: self.args.iter().map(Into::into).collect(),
            cwd: Some(cwd.to_owned()),
            env_remove: ours.filter(|name| !self.sets(name)).collect(),
            env: self.env.iter().map(own).collect(),
            stdin: Input::Piped,
            stdout: Output::Piped,
            stderr: ErrorOutput::Piped,
            exe: self.supervisor.clone(),
            ..GuardedCommand::new(self.program.as_str())
        })
    }

    fn sets(&self, name: &std::ffi::OsStr) -> bool {
        self.env.iter().any(|(own, _)| own.as_str() == name)
    }
}
