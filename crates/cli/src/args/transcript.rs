//! `sessiond transcript …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sessiond_protocol::SessionId;

use super::{Format, examples};

/// Conversations as other programs write them down.
#[derive(Debug, Subcommand)]
pub(crate) enum Transcript {
    /// Turn a transcript into a session, or a session into a transcript
    #[command(after_help = examples::CONVERT)]
    Convert(Convert),
    /// Print a transcript that is being written, and what comes to it
    #[command(after_help = examples::FOLLOW)]
    Follow(Follow),
}

/// Turn a transcript into a session, or a session into a transcript.
///
/// What was written elsewhere is kept byte for byte beside the session, and written again as it
/// was. The report lists what is damaged, and what the other shape cannot hold.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// A transcript of Claude, a rollout of Codex, an export of a session, or the id or exact title of a session
    #[arg(value_name = "FILE")]
    pub(crate) from: String,
    /// What to make of it
    #[arg(long, value_name = "SHAPE")]
    pub(crate) to: Shape,
    /// The file to make, which must not exist; `-` is stdout [default: into the store, or where the
    /// program looks for it]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Give the session this id instead of its own
    #[arg(long = "as", value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// The session's directory, instead of the one that the transcript names
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// How a conversation is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// As the Claude CLI does.
    Claude,
    /// As Codex does.
    Codex,
    /// As a session, in the store or exported.
    Sessiond,
}

/// Print a transcript that is being written, and what comes to it.
///
/// It ends with SIGINT. Where the file is replaced, cut, or goes on from an earlier place, all of
/// it is printed anew.
#[derive(Debug, Args)]
pub(crate) struct Follow {
    /// The transcript, or the rollout
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) format: Format,
}
