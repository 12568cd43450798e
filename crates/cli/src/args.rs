//! The command line. contract.md decides its names.

mod examples;
mod sessions;

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::named::SessionName;

pub(crate) use sessions::{
    Archive, Export, Fork, Gc, Import, List, Named, One, Remap, Rename, Sessions, Show, Verify,
};

const EXAMPLES: &str = "\
Examples:
  sessiond demo                          see it work: a kill, a re-attach, a proof
  sessiond acp                           what an editor runs
  sessiond sqeq                          what a program of yours runs
  sessiond exec 'hello world'            one turn, the answer on stdout
  sessiond exec --last --json '/run ls'  go on in this directory's newest session
  sessiond sessions show ID              the whole conversation
  sessiond doctor                        is everything here fit for use?";

/// Durable sessions for coding agents.
#[derive(Debug, Parser)]
#[command(name = "sessiond", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Where sessions are kept [else $XDG_STATE_HOME/sessiond, ~/.local/state/sessiond]
    #[arg(long, value_name = "DIR", value_parser = path(), env = "SESSIOND_HOME", global = true, hide_env_values = true)]
    pub(crate) store: Option<PathBuf>,
    /// Configuration [else $XDG_CONFIG_HOME/sessiond/config.toml, ~/.config/sessiond/config.toml]
    #[arg(long, value_name = "FILE", value_parser = path(), env = "SESSIOND_CONFIG", global = true, hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Agent for new sessions [else default_agent of the configuration, script]
    #[arg(
        long,
        value_name = "NAME",
        env = "SESSIOND_AGENT",
        global = true,
        hide_env_values = true
    )]
    pub(crate) agent: Option<String>,
    /// Write diagnostics to this file; they never go to stdout
    #[arg(
        long,
        value_name = "FILE",
        value_parser = path(),
        env = "SESSIOND_LOG_FILE",
        global = true,
        hide_env_values = true
    )]
    pub(crate) log_file: Option<PathBuf>,
    /// More diagnostics in the log file (-vv: all)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
}

impl Common {
    /// The configuration file that was named.
    pub(crate) fn config(&self) -> Option<&Path> {
        named(&self.config)
    }

    /// The diagnostics file that was named.
    pub(crate) fn log_file(&self) -> Option<&Path> {
        named(&self.log_file)
    }
}

/// A path that may be empty: an empty variable counts as one that is not set.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

fn named(path: &Option<PathBuf>) -> Option<&Path> {
    path.as_deref().filter(|path| !path.as_os_str().is_empty())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve an editor: the Agent Client Protocol on stdin and stdout
    Acp,
    /// Serve a program: the native protocol, one JSON object a line, on stdin and stdout
    Sqeq,
    /// Run one turn without an editor and print the answer
    Exec(Exec),
    /// Look at stored sessions and keep them in order
    #[command(subcommand)]
    Sessions(Sessions),
    /// List the agents
    Agents(Format),
    /// Check the store, the system and the configuration
    Doctor(Format),
    /// Show in a few seconds that a session survives its editor
    Demo,
    /// Write the JSON Schemas of the native protocol and of log records
    Schema(Schema),
}

/// One headless turn.
///
/// Nobody is there to ask, so what needs permission is declined.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// Go on in this session: its id or its exact title
    #[arg(long, value_name = "SESSION", conflicts_with = "last")]
    pub(crate) session: Option<SessionName>,
    /// Go on in the newest session of this directory
    #[arg(long)]
    pub(crate) last: bool,
    #[command(flatten)]
    pub(crate) format: Format,
    /// What to say; `-` reads it from stdin
    pub(crate) prompt: String,
}

/// Where schemas go.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Make this directory where it is missing, and write them into it, under the protocol's version
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// For whom to print.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Format {
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests;
