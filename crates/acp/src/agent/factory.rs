//! The agent as the engine knows it: made ready when a client takes control, taken up by the first
//! turn.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use sessiond_engine::between::{Left, Voice};
use sessiond_engine::{Agent, AgentError, AgentFactory, Extensions, Opening};
use sessiond_protocol::{AgentId, AgentInfo, SessionId};
use sessiond_wire::process::AgentCommand;

use super::between::Between;
use super::downstream::{Downstream, Gone};
use super::handle::Handle;
use super::native::Native;
use super::start::{Started, start};

/// Any agent that speaks ACP, as configured.
#[derive(Clone)]
pub struct AcpAgent {
    shared: Arc<Shared>,
}

struct Shared {
    command: AgentCommand,
    seats: Mutex<Seats>,
}

#[derive(Default)]
struct Seats {
    /// Counts the starts: an end that comes late must not take a newer start for its own.
    starts: u64,
    by_session: HashMap<SessionId, Seat>,
}

/// A session that an agent runs for.
struct Seat {
    start: u64,
    native: Weak<Native>,
    /// Started, and not taken up by a turn yet.
    parked: Option<Parked>,
}

struct Parked {
    started: Started,
    between: Between,
}

impl fmt::Debug for AcpAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AcpAgent")
            .field(&self.shared.command)
            .finish()
    }
}

impl AcpAgent {
    /// An agent that this command starts.
    pub fn new(command: AgentCommand) -> Self {
        Self {
            shared: Arc::new(Shared {
                command,
                seats: Mutex::default(),
            }),
        }
    }

    fn offered(&self, started: &Started) -> AgentInfo {
        let offers = started.native.offers();
        AgentInfo {
            id: AgentId {
                name: self.shared.command.name.clone(),
                version: started.introduction.version.clone(),
            },
            modes: offers.modes_from_current(),
            options: offers.options.clone(),
            commands: offers.commands.clone(),
        }
    }

    /// Seats an agent that was started, in place of any other; what is to be done once its session
    /// is gone.
    fn seat(&self, started: &Started, session: SessionId) -> (u64, Gone) {
        let mut seats = self.shared.seats();
        seats.starts += 1;
        let start = seats.starts;
        let seat = Seat {
            start,
            native: Arc::downgrade(&started.native),
            parked: None,
        };
        seats.by_session.insert(session, seat);
        let shared = Arc::downgrade(&self.shared);
        let gone = move || {
            if let Some(shared) = shared.upgrade() {
                shared.leave(session, start);
            }
        };
        (start, Arc::new(gone))
    }
}

impl Shared {
    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, session: SessionId, start: u64) {
        let mut seats = self.seats();
        let is_it = |seat: &Seat| seat.start == start;
        if seats.by_session.get(&session).is_some_and(is_it) {
            seats.by_session.remove(&session);
        }
    }

    fn take_parked(&self, session: SessionId) -> Option<Parked> {
        let mut seats = self.seats();
        seats.by_session.get_mut(&session)?.parked.take()
    }
}

#[async_trait]
impl AgentFactory for AcpAgent {
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
        drop(self.shared.take_parked(opening.session));
        let mut started = start(&self.shared.command, opening).await?;
        let info = self.offered(&started);
        let session = opening.session;
        let (start, gone) = self.seat(&started, session);
        let (_, nothing) = tokio::sync::mpsc::channel(1);
        let incoming = std::mem::replace(&mut started.incoming, nothing);
        let held = std::mem::take(&mut started.notices);
        let left = Left { incoming, held };
        let native = started.native.clone();
        let between = Between::begin(native, left, Voice::Held, move || gone());
        let mut seats = self.shared.seats();
        if let Some(seat) = seats.by_session.get_mut(&session)
            && seat.start == start
        {
            seat.parked = Some(Parked { started, between });
        }
        Ok(info)
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let session = opening.session;
        let mut ready = None;
        if let Some(Parked {
            mut started,
            between,
        }) = self.shared.take_parked(session)
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
        let (_, gone) = self.seat(&started, session);
        let downstream = Downstream::bind(&self.shared.command, started, opening, gone).await?;
        Ok(Box::new(downstream))
    }

    fn extensions(&self, session: SessionId) -> Option<Arc<dyn Extensions>> {
        let seats = self.shared.seats();
        let native = seats.by_session.get(&session)?.native.upgrade()?;
        Some(Arc::new(Handle { native }))
    }
}
