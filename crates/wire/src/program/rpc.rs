//! A program that speaks JSON-RPC, and our side of the conversation with it.

use std::path::Path;

use tokio::sync::mpsc;

use super::{Incoming, Judged, Keeper, Over, Program};
use crate::lines::{BadLine, Line};
use crate::process::AgentCommand;
use crate::rpc::{Inbound, PARSE_ERROR, Peer, RpcFrame};

/// A running program that speaks JSON-RPC. Dropping it ends the process with all that it started.
#[derive(Debug)]
pub struct RpcProgram {
    /// Our side of the conversation.
    pub peer: Peer,
    program: Program<RpcFrame>,
}

impl RpcProgram {
    /// Starts a program in a directory; `judge` says what its lines are.
    ///
    /// # Errors
    /// Why it could not be started. That the program cannot be run is told by the end of what comes.
    pub fn open(
        command: &AgentCommand,
        cwd: &Path,
        judge: fn(Line) -> Judged<Inbound>,
    ) -> Result<(Self, mpsc::Receiver<Incoming<Inbound>>), String> {
        let (program, incoming) = Program::open(command, cwd, judge)?;
        let peer = Peer::new(program.queue().clone());
        Ok((Self { peer, program }, incoming))
    }

    /// Whether the process has ended, or is being ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.program.is_over()
    }

    /// Something that sees that it has ended.
    #[must_use]
    pub fn over(&self) -> RpcOver {
        RpcOver {
            over: self.program.over(),
            peer: self.peer.clone(),
        }
    }

    /// How many lines it wrote to its stderr; all of them where it has ended.
    pub async fn complaints(&mut self) -> u64 {
        self.program.complaints().await
    }

    /// Something of a turn that is kept until the process has ended, where the turn is left before.
    pub fn keeper(&self, hold: impl Send + 'static) -> Keeper {
        self.program.keeper(hold)
    }
}

impl Drop for RpcProgram {
    fn drop(&mut self) {
        self.peer.close();
    }
}

/// The mark that the process has ended.
#[derive(Debug, Clone)]
pub struct RpcOver {
    over: Over<RpcFrame>,
    peer: Peer,
}

impl RpcOver {
    /// Whether it has.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.is_over()
    }

    /// It has: what it was asked is not answered any more.
    pub fn end(&self) {
        self.over.end();
        self.peer.close();
    }
}

/// What a line is of a program whose messages `parse` reads (WIRE-14). Of what cannot be read, `is_part`
/// tells the rest of a message from noise.
pub fn judge_rpc(
    line: Line,
    parse: fn(&str) -> Inbound,
    is_part: fn(&str) -> bool,
) -> Judged<Inbound> {
    let text = match line {
        Line::Text(text) => text,
        Line::Bad(BadLine::NotUtf8) => return Judged::Bad,
        Line::Bad(BadLine::TooLong { .. }) => return Judged::Broken,
    };
    match parse(&text) {
        Inbound::Invalid { error, .. } if error.code() == PARSE_ERROR => {
            if is_part(&text) {
                Judged::Broken
            } else {
                Judged::Bad
            }
        }
        Inbound::Invalid { .. } | Inbound::Ignore => Judged::Bad,
        message => Judged::Message(message),
    }
}
