//! The agent as the engine knows it: made ready when a client takes control, taken up by the first
//! turn.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use sessiond_engine::between::{Left, Voice};
use sessiond_engine::{Agent, AgentError, AgentFactory, Opening, Parking};
use sessiond_protocol::{AgentId, AgentInfo};
use sessiond_wire::process::AgentCommand;

use super::between::Between;
use super::downstream::{Downstream, Gone};
use super::start::{Started, start};

/// The Claude CLI, as configured.
#[derive(Clone)]
pub struct ClaudeAgent {
    shared: Arc<Shared>,
}

struct Shared {
    command: AgentCommand,
    parked: Parking<Parked>,
}

/// Started, and not taken up by a turn yet.
struct Parked {
    started: Started,
    between: Between,
}

impl fmt::Debug for ClaudeAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClaudeAgent")
            .field(&self.shared.command)
            .finish()
    }
}

impl ClaudeAgent {
    /// An agent that this command starts: the CLI with the flags that the user wants; those that make
    /// it speak stream-json come behind them.
    #[must_use]
    pub fn new(command: AgentCommand) -> Self {
        Self {
            shared: Arc::new(Shared {
                command,
                parked: Parking::default(),
            }),
        }
    }

    fn offered(&self, started: &Started) -> AgentInfo {
        let offers = started.native.offers();
        AgentInfo {
            id: AgentId {
                name: self.shared.command.name.clone(),
                version: offers.version.clone(),
            },
            modes: offers.modes.clone(),
            options: offers.options.clone(),
            commands: offers.commands.clone(),
        }
    }
}

#[async_trait]
impl AgentFactory for ClaudeAgent {
    /// What it offers is known only once it runs.
    fn info(&self) -> AgentInfo {
        AgentInfo {
            id: AgentId {
                name: self.shared.command.name.clone(),
                version: None,
            },
            modes: Vec::new(),
            options: Vec::new(),
            commands: Vec::new(),
        }
    }

    async fn prepare(&self, opening: &Opening) -> Result<AgentInfo, AgentError> {
        // One that was made ready for a run of the session before is of no use.
        drop(self.shared.parked.take(opening.session));
        let mut started = start(&self.shared.command, opening).await?;
        let info = self.offered(&started);
        let session = opening.session;
        let (_, nothing) = tokio::sync::mpsc::channel(1);
        let left = Left {
            incoming: std::mem::replace(&mut started.incoming, nothing),
            held: std::mem::take(&mut started.notices),
        };
        self.shared.parked.park(session, |gone| {
            let between = Between::begin(started.native.clone(), left, Voice::Held, gone);
            Parked { started, between }
        });
        Ok(info)
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let mut ready = None;
        if let Some(Parked {
            mut started,
            between,
        }) = self.shared.parked.take(opening.session)
            && let Some(left) = between.end().await
            && !started.program.is_over()
        {
            started.incoming = left.incoming;
            started.notices = left.held;
            ready = Some(started);
        }
        let started = match ready {
            Some(started) => started,
            None => start(&self.shared.command, &opening).await?,
        };
        // Only what is parked is known here; a bound one goes with its session.
        let gone: Gone = Arc::new(|| {});
        let downstream = Downstream::bind(&self.shared.command, started, (opening, gone)).await?;
        Ok(Box::new(downstream))
    }
}
