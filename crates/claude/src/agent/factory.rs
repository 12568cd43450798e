//! The agent as the engine knows it: made ready when a client takes control, taken up by the first
//! turn.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sessiond_engine::{Agent, AgentError, AgentFactory, Opening};
use sessiond_protocol::{AgentId, AgentInfo, SessionId};
use sessiond_wire::process::AgentCommand;

use super::between::{Between, Left, Voice};
use super::downstream::{Downstream, Gone};
use super::start::{Started, start};

/// The Claude CLI, as configured.
#[derive(Clone)]
pub struct ClaudeAgent {
    shared: Arc<Shared>,
}

struct Shared {
    command: AgentCommand,
    parked: Mutex<ParkedBySession>,
}

#[derive(Default)]
struct ParkedBySession {
    /// Counts the starts: an end that comes late must not take a newer start for its own.
    starts: u64,
    by_session: HashMap<SessionId, (u64, Parked)>,
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
                parked: Mutex::default(),
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

impl Shared {
    fn parked(&self) -> MutexGuard<'_, ParkedBySession> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, session: SessionId) -> Option<Parked> {
        let taken = self.parked().by_session.remove(&session);
        taken.map(|(_, parked)| parked)
    }

    /// The session of a start is gone.
    fn leave(&self, session: SessionId, start: u64) {
        let mut parked = self.parked();
        let is_it = parked
            .by_session
            .get(&session)
            .is_some_and(|(it, _)| *it == start);
        if is_it {
            parked.by_session.remove(&session);
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
        drop(self.shared.take(opening.session));
        let mut started = start(&self.shared.command, opening).await?;
        let info = self.offered(&started);
        let session = opening.session;
        let (_, nothing) = tokio::sync::mpsc::channel(1);
        let left = Left {
            incoming: std::mem::replace(&mut started.incoming, nothing),
            held: std::mem::take(&mut started.notices),
        };
        let mut parked = self.shared.parked();
        parked.starts += 1;
        let start = parked.starts;
        let shared = Arc::downgrade(&self.shared);
        let gone = move || {
            if let Some(shared) = shared.upgrade() {
                shared.leave(session, start);
            }
        };
        let between = Between::begin(started.native.clone(), left, Voice::Held, gone);
        let ready = Parked { started, between };
        parked.by_session.insert(session, (start, ready));
        Ok(info)
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let mut ready = None;
        if let Some(Parked {
            mut started,
            between,
        }) = self.shared.take(opening.session)
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
