//! The stage of a turn: its context, the place it works in, and what it has said so far.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sessiond_engine::{Emit, TurnContext, TurnOver, TurnReport};
use sessiond_mcp::Servers;
use sessiond_protocol::{Stop, Usage};
use sessiond_wire::process::SupervisorExe;

use crate::parse;
use crate::step::Step;

/// What the steps of one turn share.
pub(crate) struct Stage<'a> {
    /// The turn, as the engine shows it.
    pub(crate) context: &'a TurnContext,
    /// The session's working directory, absolute.
    pub(crate) cwd: &'a Path,
    /// Runs commands.
    pub(crate) supervisor: &'a SupervisorExe,
    /// The session's MCP servers.
    pub(crate) servers: &'a mut Servers,
    in_message: bool,
    usage: Option<Usage>,
}

impl<'a> Stage<'a> {
    /// The stage of a turn that begins.
    pub(crate) fn new(
        context: &'a TurnContext,
        cwd: &'a Path,
        supervisor: &'a SupervisorExe,
        servers: &'a mut Servers,
    ) -> Self {
        Self {
            context,
            cwd,
            supervisor,
            servers,
            in_message: false,
            usage: None,
        }
    }

    /// Whether the turn is being cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.context.is_cancelled()
    }

    /// Says a text. What two steps say in one message stands on lines of its own.
    pub(crate) async fn say(&mut self, text: &str) -> Result<(), TurnOver> {
        self.begin_text().await?;
        self.say_more(text).await
    }

    /// Begins a text that comes in pieces.
    pub(crate) async fn begin_text(&mut self) -> Result<(), TurnOver> {
        if self.in_message {
            self.say_more("\n").await
        } else {
            Ok(())
        }
    }

    /// Says the next piece of a text.
    pub(crate) async fn say_more(&mut self, piece: impl Into<String>) -> Result<(), TurnOver> {
        self.in_message = true;
        self.context.say(piece).await
    }

    /// Lets something be known that is not text; it ends the message before it.
    pub(crate) async fn emit(&mut self, emit: Emit) -> Result<(), TurnOver> {
        self.end_message();
        if let Emit::Usage(usage) = &emit {
            self.usage = Some(*usage);
        }
        self.context.emit(emit).await
    }

    /// Notes that something else than text follows.
    pub(crate) fn end_message(&mut self) {
        self.in_message = false;
    }

    /// The steps that were added to the turn since the last time (`turn.steer`).
    pub(crate) async fn steered(&self) -> Result<Vec<Step>, TurnOver> {
        let steers = self.context.take_steers().await?;
        Ok(steers
            .iter()
            .flat_map(|blocks| parse::prompt(blocks))
            .collect())
    }

    /// Waits; wakes at once when the turn is being cancelled (SQEQ-4).
    pub(crate) async fn sleep(&self, wait: Duration) {
        tokio::select! {
            biased;
            () = self.context.cancelled() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }

    /// The absolute form of a path of the script.
    pub(crate) fn resolve(&self, path: &str) -> String {
        // Through `components`, so that `./a` and `a` are one pattern for grants. `..` stays: where
        // it leads depends on links.
        let path: PathBuf = self.cwd.join(path).components().collect();
        path.to_string_lossy().into_owned()
    }

    /// The report of a turn that ends here.
    pub(crate) fn report(&self, stop: Stop) -> TurnReport {
        TurnReport {
            stop,
            usage: self.usage,
        }
    }
}
