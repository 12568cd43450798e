//! The command line. contract.md decides its names.

mod examples;
mod sessions;
mod transcript;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use sessiond_protocol::{DriftClass, SessionId};

use crate::named::SessionName;

pub(crate) use sessions::{
    Archive, Export, Fork, Gc, Import, List, Named, One, Remap, Rename, Sessions, Show, Verify,
};
pub(crate) use transcript::{Convert, Follow, Shape, Transcript};

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

/// What a program takes whose command line is another's: the environment alone.
#[derive(Debug, Parser)]
#[command(name = "sessiond")]
pub(crate) struct Surroundings {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) hosting: Hosting,
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
    /// Resume although this has changed since the session was recorded: roots, policy, principal, repository
    #[arg(
        long,
        value_name = "CLASSES",
        env = "SESSIOND_ACCEPT",
        global = true,
        hide_env_values = true
    )]
    pub(crate) accept: Option<Accept>,
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

/// Classes of drift, with commas between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Accept(pub(crate) Vec<DriftClass>);

impl FromStr for Accept {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let class = |name| {
            let all = || DriftClass::ALL.map(DriftClass::name).join(", ");
            DriftClass::named(name).ok_or_else(|| format!("it is a list of {}", all()))
        };
        names.map(class).collect::<Result<_, _>>().map(Accept)
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
    Acp(Acp),
    /// Serve a program: the native protocol, one JSON object a line, on stdin and stdout
    Sqeq(Hosting),
    /// Run one turn without an editor and print the answer
    Exec(Exec),
    /// Follow a session from this terminal, and drive it
    Attach(Attach),
    /// Look at stored sessions and keep them in order
    #[command(subcommand)]
    Sessions(Sessions),
    /// Take in and write transcripts of other programs
    #[command(subcommand)]
    Transcript(Transcript),
    /// Own sessions that outlive their clients; faces with --host start it by themselves
    Host(HostArgs),
    /// List the agents
    Agents(Format),
    /// Check the store, the system and the configuration
    Doctor(Format),
    /// Show in a few seconds that a session survives its editor
    Demo,
    /// Stand for an MCP server that lives in the client of a session; agents start it
    #[command(name = "__mcp", hide = true)]
    Mcp(McpServer),
    /// Write the JSON Schemas of the native protocol and of log records
    Schema(Schema),
}

/// What serves an editor.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Acp {
    #[command(flatten)]
    pub(crate) hosting: Hosting,
    /// Version of the protocol; auto is the highest that the client speaks
    #[arg(
        long = "acp",
        value_name = "VERSION",
        env = "SESSIOND_ACP",
        hide_env_values = true,
        value_parser = acp_version,
        default_value = "auto"
    )]
    pub(crate) version: AcpVersion,
}

/// Version of the Agent Client Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AcpVersion {
    V1,
    V2,
    #[default]
    Auto,
}

/// An empty variable counts as one that is not set.
fn acp_version(text: &str) -> Result<AcpVersion, &'static str> {
    match text {
        "" => Ok(AcpVersion::default()),
        "v1" => Ok(AcpVersion::V1),
        "v2" => Ok(AcpVersion::V2),
        "auto" => Ok(AcpVersion::Auto),
        _ => Err("it is v1, v2 or auto"),
    }
}

/// Where the sessions of a face live.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Hosting {
    /// Let the sessions live in the host: killed clients and faces do not end them
    #[arg(
        long,
        env = "SESSIOND_HOST",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub(crate) host: bool,
}

/// Own sessions that outlive their clients.
#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    /// Take clients at this address of the loopback interface, too, as `ws://127.0.0.1:PORT`; they
    /// send the secret in `keys/attach` of the store as `Authorization: Bearer`
    #[arg(long, value_name = "URL", value_parser = websocket)]
    pub(crate) listen: Option<SocketAddr>,
    /// End after so many seconds without clients and open sessions [default: an hour]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "SESSIOND_HOST_IDLE",
        hide_env_values = true
    )]
    pub(crate) idle: Option<u64>,
}

/// Follow a session from this terminal, and drive it.
///
/// A line is a prompt; while a turn runs it waits for its end. A question is answered by the number
/// of an option. The end of input leaves: what runs goes on where it runs. Ctrl-C interrupts the
/// turn, twice leaves at once.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    #[command(flatten)]
    pub(crate) hosting: Hosting,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// The address in `ws://ADDRESS:PORT`.
fn websocket(url: &str) -> Result<SocketAddr, &'static str> {
    let address = url
        .strip_prefix("ws://")
        .map(|rest| rest.trim_end_matches('/'));
    let address = address.and_then(|address| address.parse().ok());
    address.ok_or("a URL such as ws://127.0.0.1:4321 is needed; port 0 takes a free one")
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
    #[command(flatten)]
    pub(crate) hosting: Hosting,
    /// What to say; `-` reads it from stdin
    pub(crate) prompt: String,
}

/// Which server of which session is stood for.
#[derive(Debug, Args)]
pub(crate) struct McpServer {
    /// The socket of the process that has the session
    #[arg(value_name = "SOCKET")]
    pub(crate) socket: PathBuf,
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionId,
    /// The server's name, as the client gave it
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
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
