//! The argument vector of Codex (codex.md C3). Names are Codex's; what sessiond has no use for is
//! accepted and passed over.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};
use sessiond_codex::SandboxMode;

use crate::named::SessionName;

/// Durable sessions under Codex's command line, for the Codex SDKs (codexPathOverride, codex_bin).
///
/// The store, the agent and the host are chosen by $SESSIOND_HOME, $SESSIOND_AGENT, $SESSIOND_HOST
/// and sessiond's configuration.
#[derive(Debug, Parser)]
#[command(name = "sessiond-codex", version, disable_help_subcommand = true)]
pub(super) struct CodexLine {
    /// Override a value of Codex's configuration; the value is TOML, else a text
    #[arg(short = 'c', long, value_name = "key=value", action = ArgAction::Append, global = true)]
    pub(super) config: Vec<String>,
    #[command(subcommand)]
    pub(super) command: CodexCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum CodexCommand {
    /// Run one turn without a person
    #[command(visible_alias = "e")]
    Exec(Box<ExecArgs>),
    /// Serve a program: JSON-RPC on stdin and stdout
    AppServer(AppServerArgs),
}

/// The app-server.
#[derive(Debug, Args)]
pub(super) struct AppServerArgs {
    /// Where to listen; stdio is all there is
    #[arg(long, value_name = "URL", default_value = "stdio://", value_parser = ["stdio://"])]
    listen: String,
    /// The same
    #[arg(long)]
    stdio: bool,
    /// Accepted and passed over
    #[arg(long)]
    analytics_default_enabled: bool,
}

/// One headless turn.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = false)]
pub(super) struct ExecArgs {
    #[command(flatten)]
    pub(super) options: ExecOptions,
    #[command(subcommand)]
    pub(super) command: Option<ExecCommand>,
    /// What to say; `-` or nothing reads it from stdin
    pub(super) prompt: Option<String>,
}

/// What stands before and behind the subcommand.
#[derive(Debug, Args)]
pub(super) struct ExecOptions {
    /// Print events, one JSON object a line
    #[arg(long, alias = "experimental-json", global = true)]
    pub(super) json: bool,
    /// The model, where the agent offers a choice
    #[arg(short, long, global = true)]
    pub(super) model: Option<String>,
    /// What may run without anybody being asked
    #[arg(short, long, value_name = "MODE", global = true, value_parser = clap::builder::PossibleValuesParser::new(SandboxMode::NAMES))]
    pub(super) sandbox: Option<String>,
    /// Let everything run
    #[arg(long, alias = "yolo", global = true, conflicts_with = "sandbox")]
    pub(super) dangerously_bypass_approvals_and_sandbox: bool,
    /// The directory to work in
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub(super) cd: Option<PathBuf>,
    /// A directory beside it
    #[arg(long, value_name = "DIR", action = ArgAction::Append, global = true)]
    pub(super) add_dir: Vec<PathBuf>,
    /// Keep no thread
    #[arg(long, global = true)]
    pub(super) ephemeral: bool,
    /// A JSON Schema that the final message shall keep to
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) output_schema: Option<PathBuf>,
    /// Write the final message to this file, too
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(super) output_last_message: Option<PathBuf>,
    /// Pictures beside the prompt
    #[arg(short, long = "image", value_name = "FILE", value_delimiter = ',', action = ArgAction::Append, global = true)]
    pub(super) images: Vec<PathBuf>,
    /// Accepted: no thread needs a repository
    #[arg(long, global = true)]
    pub(super) skip_git_repo_check: bool,
    /// Accepted and passed over
    #[arg(long, value_name = "SOURCE", global = true)]
    pub(super) thread_source: Option<String>,
    /// Accepted and passed over
    #[arg(long, value_name = "PROGRAM", global = true)]
    pub(super) cyber_access_program: Option<String>,
    /// Accepted and passed over
    #[arg(short, long, global = true)]
    pub(super) profile: Option<String>,
    /// Accepted: nothing is coloured
    #[arg(long, value_name = "WHEN", global = true)]
    pub(super) color: Option<String>,
}

/// Which thread, if not a new one.
#[derive(Debug, Subcommand)]
pub(super) enum ExecCommand {
    /// Go on in a thread
    Resume(ResumeArgs),
    /// Go on in a copy of a thread
    Fork(ForkArgs),
}

/// Going on in a thread.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The thread's id or its exact name
    #[arg(value_name = "SESSION_ID")]
    pub(super) session: Option<String>,
    /// The newest thread of this directory
    #[arg(long)]
    pub(super) last: bool,
    /// What to say; `-` or nothing reads it from stdin
    pub(super) prompt: Option<String>,
}

/// Going on in a copy of a thread.
#[derive(Debug, Args)]
pub(super) struct ForkArgs {
    /// The thread's id or its exact name
    #[arg(value_name = "SESSION_ID")]
    pub(super) session: SessionName,
    /// What to say; `-` or nothing reads it from stdin
    pub(super) prompt: Option<String>,
}
