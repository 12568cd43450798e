//! The real binary, driven from outside: private directories, raw lines, deadlines, SIGKILL.

mod behind;
mod claude;
mod claude_behind;
mod codex;
mod codex_behind;
mod ended;
mod files;
mod home;
mod host;
mod killed;
mod list;
mod log;
mod native;
mod replay;
mod server;
mod watch;

pub(crate) use behind::{
    END, answered, behind, heard, in_shell, in_shell_with, inner, notices, peer, request, serve,
    serve_as, update,
};
pub(crate) use claude::{Claude, PROGRAM, user};
pub(crate) use claude_behind::{FOLDER, claude_behind, claude_in_shell, claude_peer};
pub(crate) use codex::Codex;
pub(crate) use codex_behind::{asked_of_codex, codex_behind, codex_in_shell, codex_peer, tells};
pub(crate) use ended::Ended;
pub(crate) use files::Files;
pub(crate) use home::{Finished, Home, finish};
pub(crate) use host::{face, holder, kill, start};
pub(crate) use killed::{pid, runs, sessiond_is_killed_in_a_turn, the_agent_is_killed_in_a_turn};
pub(crate) use list::{listed, listed_in, only_session};
pub(crate) use log::{append, opened};
pub(crate) use native::{Native, hello, submission};
pub(crate) use replay::{Part, Replay};
pub(crate) use server::{Permissions, Server};
pub(crate) use watch::{alive, children_of, eventually, is_root};

use std::time::Duration;

/// Longest wait for anything that should happen at once: what it takes on a busy machine, many
/// times over. A test that needs it all has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
