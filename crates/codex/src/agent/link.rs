//! The process of Codex and our side of the conversation with it.

use std::path::Path;

use sessiond_engine::{AgentError, Hold};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::{self, Judged, Keeper, Program};
use sessiond_wire::rpc::{Inbound, PARSE_ERROR, Peer, RpcFrame, parse_unversioned};
use sessiond_wire::{BadLine, Line};
use tokio::sync::mpsc;

/// What comes from Codex, in the order in which it wrote it.
pub(super) type Incoming = program::Incoming<Inbound>;

/// Members that only a message has: a line with one of them that cannot be read was cut.
const MEMBERS: [&str; 3] = ["\"method\":", "\"result\":", "\"error\":"];

/// A running Codex. Dropping it ends the process with all that it started.
#[derive(Debug)]
pub(super) struct Link {
    /// Our side of the conversation.
    pub(super) peer: Peer,
    program: Program<RpcFrame>,
}

impl Link {
    /// Starts Codex in a directory.
    ///
    /// # Errors
    /// [`AgentError`]: unavailable. That the program cannot be run is told by the end of what comes.
    pub(super) fn open(
        command: &AgentCommand,
        cwd: &Path,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), AgentError> {
        let (program, incoming) = Program::open(command, cwd, judge).map_err(|why| {
            let name = &command.name;
            AgentError::unavailable(format!("the agent `{name}` could not be started: {why}"))
        })?;
        let peer = Peer::new(program.queue().clone());
        Ok((Self { peer, program }, incoming))
    }

    /// Whether the process has ended, or is being ended.
    pub(super) fn is_over(&self) -> bool {
        self.program.is_over()
    }

    /// Something that sees that it has ended.
    pub(super) fn over(&self) -> Over {
        Over {
            over: self.program.over(),
            peer: self.peer.clone(),
        }
    }

    /// How many lines it wrote to its stderr; all of them where it has ended.
    pub(super) async fn complaints(&mut self) -> u64 {
        self.program.complaints().await
    }

    /// Something of a turn that is kept until the process has ended, where the turn is left before.
    pub(super) fn keeper(&self, hold: Hold) -> Keeper {
        self.program.keeper(hold)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.peer.close();
    }
}

/// The mark that the process has ended.
#[derive(Debug, Clone)]
pub(super) struct Over {
    over: program::Over<RpcFrame>,
    peer: Peer,
}

impl Over {
    /// Whether it has.
    pub(super) fn is_over(&self) -> bool {
        self.over.is_over()
    }

    /// It has: what it was asked is not answered any more.
    pub(super) fn end(&self) {
        self.over.end();
        self.peer.close();
    }
}

/// What a line of Codex is. Codex leaves `jsonrpc` out (codex.md B1).
fn judge(line: Line) -> Judged<Inbound> {
    let text = match line {
        Line::Text(text) => text,
        Line::Bad(BadLine::NotUtf8) => return Judged::Bad,
        Line::Bad(BadLine::TooLong { .. }) => return Judged::Broken,
    };
    match parse_unversioned(&text) {
        Inbound::Invalid { error, .. } if error.code() == PARSE_ERROR => {
            // Noise has no members of a message; the rest of one may.
            if MEMBERS.iter().any(|member| text.contains(member)) {
                Judged::Broken
            } else {
                Judged::Bad
            }
        }
        Inbound::Invalid { .. } | Inbound::Ignore => Judged::Bad,
        message => Judged::Message(message),
    }
}

#[cfg(test)]
mod tests;
