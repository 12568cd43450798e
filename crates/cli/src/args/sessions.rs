//! `sessiond sessions …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sessiond_protocol::SessionId;

use super::{Format, examples};
use crate::named::SessionName;

/// Stored sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List sessions, newest first
    #[command(after_help = examples::LIST)]
    List(List),
    /// Show a whole conversation; also while another process holds the session
    #[command(after_help = examples::SHOW)]
    Show(Show),
    /// Give a session a title that neither prompts nor the agent overwrite
    #[command(after_help = examples::RENAME)]
    Rename(Rename),
    /// Make a new session that begins with this one's history
    #[command(after_help = examples::FORK)]
    Fork(Fork),
    /// Put a session away: lists leave it out, nothing of it is lost
    #[command(after_help = examples::ARCHIVE)]
    Archive(Archive),
    /// Bring a session back from the archive
    #[command(after_help = examples::UNARCHIVE)]
    Unarchive(One),
    /// Move a session to the trash of the store
    #[command(after_help = examples::RM)]
    Rm(Named),
    /// Bring a removed session back out of the trash
    #[command(after_help = examples::RESTORE)]
    Restore(One),
    /// Look for damage in logs: exit 0 for none, 1 for any, 74 for what cannot be read
    #[command(after_help = examples::VERIFY)]
    Verify(Verify),
    /// Take note of damage in new segments; no byte of an old one changes
    #[command(after_help = examples::REPAIR)]
    Repair(Named),
    /// Write a session into one file that another machine can import
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Take in a session that was exported
    #[command(after_help = examples::IMPORT)]
    Import(Import),
    /// Remove what no session needs: blobs without a record, leftovers of dead processes, and
    /// what is older than the configuration keeps it
    #[command(after_help = examples::GC)]
    Gc(Gc),
}

/// List sessions, newest first.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only sessions of this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Only sessions of exactly this title
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Only sessions with this text in their title or at the beginning of their first prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// List the archived sessions instead
    #[arg(long, conflicts_with_all = ["cwd", "title", "search", "removed"])]
    pub(crate) archived: bool,
    /// List the sessions in the trash and those deleted from it instead
    #[arg(long, conflicts_with_all = ["cwd", "title", "search"])]
    pub(crate) removed: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Show a whole conversation.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Give a session a title that neither prompts nor the agent overwrite.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    /// The title: one line
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Make a new session that begins with this one's history.
///
/// The new one has its own title, costs and approvals from there on; neither session changes the
/// other.
#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    /// The last event they share, as `sessions show --json` numbers them [default: the newest end
    /// of a turn]
    #[arg(long, value_name = "CURSOR")]
    pub(crate) at: Option<u64>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Put a session away: lists leave it out, nothing of it is lost.
#[derive(Debug, Args)]
pub(crate) struct Archive {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    /// Leave it where it is and compress the part of its log that opening it does not read; what
    /// reads all of it, such as `show`, `export` or an editor's load, reads that as before
    #[arg(long)]
    pub(crate) older: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Look for damage in logs.
///
/// Exit code 0: none; 1: damage or an unfinished end was found; 74: something could not be read.
/// Without ids it also names what was set aside.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The sessions' ids, archived or not, or exact titles [default: all of both]
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<SessionName>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// One session.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The session's id
    #[arg(value_name = "ID")]
    pub(crate) session: SessionId,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// One session, by id or title.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Write a session into one file that another machine can import.
///
/// The file holds the log, its blobs and their keys: it is as private as the session.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session's id or its exact title
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    /// The file to make, which must not exist [default: ID.sessiond]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Take in a session that was exported: all of it, checked, or nothing.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Give the session this id instead of its own
    #[arg(long = "as", value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// Where the session's directory is on this machine: OLD and all below it is NEW here; the
    /// first that fits counts
    #[arg(long, value_name = "OLD=NEW", value_parser = remap)]
    pub(crate) remap: Vec<Remap>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// A directory there and its place here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remap {
    /// The path there.
    pub(crate) old: String,
    /// The path here.
    pub(crate) new: String,
}

fn remap(text: &str) -> Result<Remap, &'static str> {
    let parts = text.split_once('=');
    let absolute = parts.filter(|(old, new)| old.starts_with('/') && new.starts_with('/'));
    let (old, new) = absolute.ok_or("two absolute paths with a `=` between them are needed")?;
    let path = |path: &str| path.trim_end_matches('/').to_owned();
    let (old, new) = (path(old), path(new));
    Ok(Remap { old, new })
}

/// Remove what no session needs, and apply the configuration's `[retention]`.
///
/// Nothing else does either. Sessions in use, archived ones, and those that others were forked
/// from do not go because of their age.
#[derive(Debug, Args)]
pub(crate) struct Gc {
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete what has been in the trash for so many days, too [default: the configuration's
    /// `retention.trash_days`, else the trash stays]
    #[arg(long, value_name = "DAYS")]
    pub(crate) trash_days: Option<u32>,
    #[command(flatten)]
    pub(crate) format: Format,
}
