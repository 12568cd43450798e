//! The agent as the engine knows it: made ready when a client takes control, taken up by the first
//! turn.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use sessiond_engine::between::{Left, Voice};
use sessiond_engine::{Agent, AgentError, AgentFactory, Opening, Parking};
use sessiond_protocol::{AgentId, AgentInfo, AgentOption};
use sessiond_wire::process::AgentCommand;
use tokio::sync::mpsc;

use super::between::Between;
use super::downstream::Downstream;
use super::start::{Started, start};

/// The argument by which Codex speaks its protocol.
const APP_SERVER: &str = "app-server";

/// The real Codex, as configured.
#[derive(Clone)]
pub struct CodexAgent {
    shared: Arc<Shared>,
}

struct Shared {
    command: AgentCommand,
    parked: Parking<Parked>,
}

/// A Codex that was started, and not taken up by a turn yet.
struct Parked {
    started: Started,
    between: Between,
}

impl fmt::Debug for CodexAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CodexAgent")
            .field(&self.shared.command)
            .finish()
    }
}

impl CodexAgent {
    /// A Codex that this command starts: the program and its own options, to which what makes it an
    /// app-server is added unless it is there.
    pub fn new(mut command: AgentCommand) -> Self {
        if !command.args.iter().any(|arg| arg == APP_SERVER) {
            command.args.push(APP_SERVER.to_owned());
        }
        Self {
            shared: Arc::new(Shared {
                command,
                parked: Parking::default(),
            }),
        }
    }

    fn describe(&self, version: Option<String>, options: Vec<AgentOption>) -> AgentInfo {
        AgentInfo {
            id: AgentId {
                name: self.shared.command.name.clone(),
                version,
            },
            modes: Vec::new(),
            options,
            commands: Vec::new(),
        }
    }
}

#[async_trait]
impl AgentFactory for CodexAgent {
    /// What it offers is known only once it runs.
    fn info(&self) -> AgentInfo {
        self.describe(None, Vec::new())
    }

    async fn prepare(&self, opening: &Opening) -> Result<AgentInfo, AgentError> {
        let session = opening.session;
        // One that was made ready for a run of the session before is of no use, and holds the thread.
        drop(self.shared.parked.take(session));
        let mut started = start(&self.shared.command, opening).await?;
        let options = started.thread.offers().options().to_vec();
        let info = self.describe(started.version.clone(), options);
        let (_, nothing) = mpsc::channel(1);
        let incoming = std::mem::replace(&mut started.incoming, nothing);
        let held = std::mem::take(&mut started.notices);
        let left = Left { incoming, held };
        self.shared.parked.park(session, |gone| {
            let between = Between::begin(started.thread.clone(), left, Voice::Held, gone);
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
        let downstream = Downstream::bind(&self.shared.command, started, opening).await?;
        Ok(Box::new(downstream))
    }
}
