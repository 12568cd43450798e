//! The Agent trait: what drives something that thinks, seen from the engine.

pub(crate) mod alignment;
pub(crate) mod between;
mod error;
pub(crate) mod handover;
mod history;
mod opening;
mod parking;
mod withdrawal;

use std::{
    collections::HashSet,
    convert::Infallible,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use serde_json::Value;
use sessiond_protocol::{
    AgentInfo, AgentOption, Command, Content, ItemId, ItemKind, Marker, Mode, Outcome, PlanEntry,
    RequestBody, SessionId, Settings, Severity, ToolCall, Usage,
};
use tokio::sync::{mpsc, oneshot, watch};

pub use error::{AgentError, TurnOver};
pub use history::{Conversation, HistorySource};
pub use opening::{Endpoint, Opening};
pub use parking::Parking;
pub use withdrawal::Withdrawal;

use crate::core::Token;
pub(crate) use crate::report::{CompactionReport, TurnReport};

/// How many messages an agent may be ahead of the engine. Small, so that a slow client slows the
/// agent down within a screenful; large enough that a burst of deltas costs one wake-up.
pub const AGENT_AHEAD: usize = 128;

/// Makes agents of one configured kind.
#[async_trait]
pub trait AgentFactory: Send + Sync + 'static {
    /// What the agent offers; known without starting it.
    fn info(&self) -> AgentInfo;

    /// Makes ready for a session that a client is about to control, and says what the agent offers
    /// there. An agent that can only tell once it runs is started here, and taken up by
    /// [`open`](Self::open) of the same session.
    ///
    /// # Errors
    /// [`AgentError`] where it cannot be started: a new session is refused with it, a stored one is
    /// opened all the same, with what [`info`](Self::info) says.
    async fn prepare(&self, _opening: &Opening) -> Result<AgentInfo, AgentError> {
        Ok(self.info())
    }

    /// Opens an agent for a session.
    ///
    /// # Errors
    /// [`AgentError`] where it cannot be started; the turn that needed it fails.
    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError>;

    /// Whether its agents sum up a conversation ([`Agent::compact`]); asked before one is opened.
    fn can_compact(&self) -> bool {
        false
    }

    /// How a client's extensions reach the agent of this session, also while a turn runs; none where
    /// it takes none, or does not run.
    fn extensions(&self, _session: SessionId) -> Option<Arc<dyn Extensions>> {
        None
    }
}

/// An agent that is open for one session. One turn at a time.
#[async_trait]
pub trait Agent: Send + 'static {
    /// Runs a turn to its end. When `context` says cancelled it should return soon: after a grace
    /// it is dropped where it stands, and opened anew for the next turn. It is called again in the
    /// same turn, with what it did not take of what was added to the turn while it ran.
    ///
    /// # Errors
    /// [`AgentError`] where the turn failed; the session lives on.
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError>;

    /// Sums up the conversation so far, and goes on from that summary: what it covers is not part of
    /// what the agent knows any more. Only where [`AgentFactory::can_compact`]. Cancelled as a turn
    /// is; one that does not end well is followed by another agent, opened with what is in force.
    ///
    /// # Errors
    /// [`AgentError`] where it failed; nothing is compacted then. `unsupported` by default.
    async fn compact(
        &mut self,
        _conversation: HistorySource,
        _context: &TurnContext,
    ) -> Result<CompactionReport, AgentError> {
        Err(AgentError::unsupported("the agent cannot compact"))
    }

    /// Whether it can run no further turn, such as one whose process has ended: the next turn opens
    /// it anew.
    fn is_gone(&self) -> bool {
        false
    }
}

/// What an agent takes that the waist does not know (`extension`).
#[async_trait]
pub trait Extensions: Send + Sync {
    /// Asks the agent.
    ///
    /// # Errors
    /// [`AgentError`] where the agent refused or is gone.
    async fn request(&self, method: String, params: Value) -> Result<Value, AgentError>;

    /// Tells the agent.
    async fn notify(&self, method: String, params: Value);
}

/// What an agent lets be known in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Emit {
    /// More of what it says. A message ends where anything but text follows.
    Text(String),
    /// More of what it thinks.
    Thought(String),
    /// A picture, a sound or another block that is no text, which it says or thinks: an item by itself.
    Content(ItemKind, Content),
    /// What it says or thinks next is another message.
    MessageEnd,
    /// A tool call changed: the call, whole.
    CallChanged(ItemId, Box<ToolCall>),
    /// More output of a running tool call.
    CallOutput(ItemId, String),
    /// A tool call ended: the call, whole, with a final status.
    CallEnded(ItemId, Box<ToolCall>),
    /// The plan, whole.
    Plan(Vec<PlanEntry>),
    /// Context and cost.
    Usage(Usage),
    /// A title for the session; ignored once the user has chosen one.
    Title(String),
    /// Something the user should know: the first line says it, what follows says more.
    Notice(Severity, String),
    /// The agent's slash commands, all of them.
    Commands(Vec<Command>),
    /// The agent's modes, all of them.
    Modes(Vec<Mode>),
    /// The agent has changed its mode by itself.
    Mode(String),
    /// The agent's options with their values, all of them.
    Options(Vec<AgentOption>),
    /// Something of the agent's protocol that the waist does not know: its name and params.
    Extension(String, Value),
}

/// How an agent lets its session know something between turns, and of things that belong to none:
/// titles, commands, modes, options, usage, notices, extensions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Updates {
    pub(crate) to_session: mpsc::WeakSender<Emit>,
}

impl Updates {
    /// Updates that nobody hears of, for an agent that is opened outside of an engine.
    #[must_use]
    pub fn unheard() -> Self {
        Self {
            to_session: mpsc::channel(1).0.downgrade(),
        }
    }

    /// Lets something be known. What belongs to a turn is passed over. Waits while the session is
    /// behind (bounded).
    ///
    /// # Errors
    /// [`TurnOver`]: the session is gone.
    pub async fn send(&self, emit: Emit) -> Result<(), TurnOver> {
        let to_session = self.to_session.upgrade().ok_or(TurnOver)?;
        to_session.send(emit).await.map_err(|_| TurnOver)
    }

    /// Returns once the session is gone: what was made ready for it is of no use any more.
    pub async fn gone(&self) {
        if let Some(to_session) = self.to_session.upgrade() {
            to_session.closed().await;
        }
    }
}

/// Where a session gets what its agent says between turns.
#[derive(Debug)]
pub(crate) struct Mailbox {
    /// Kept, so that there is always somebody who could send.
    sender: mpsc::Sender<Emit>,
    receiver: mpsc::Receiver<Emit>,
}

impl Mailbox {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(AGENT_AHEAD);
        Self { sender, receiver }
    }

    /// The agent's end; it does not keep the session open.
    pub(crate) fn updates(&self) -> Updates {
        Updates {
            to_session: self.sender.downgrade(),
        }
    }

    /// The next thing that the agent says. Loses nothing when dropped while it waits.
    pub(crate) async fn recv(&mut self) -> Emit {
        match self.receiver.recv().await {
            Some(emit) => emit,
            // Cannot be: a sender is here.
            None => std::future::pending().await,
        }
    }
}

/// What travels from an agent to its session.
#[derive(Debug)]
pub(crate) enum FromAgent {
    Emit(Emit),
    CallStarted(Box<ToolCall>, oneshot::Sender<Announced>),
    CallsEnded(oneshot::Sender<()>),
    Ask(
        Option<ItemId>,
        RequestBody,
        oneshot::Sender<Outcome>,
        Asking,
    ),
    /// What was asked before is taken back.
    TakeBack(Asking),
    TakeSteers(oneshot::Sender<Vec<Vec<Content>>>),
    Record(Marker, oneshot::Sender<()>),
}

/// Names a question from when the session has taken it in: until then nothing can be said about it.
pub(crate) type Asking = Arc<OnceLock<Token>>;

/// What becomes of a call that was announced.
#[derive(Debug, Clone, PartialEq)]
pub enum Announced {
    /// It may run, once the user has allowed it where that is needed.
    Run(ItemId),
    /// The same, with this input in place of what was announced.
    RunWith(ItemId, Value),
    /// It does not run, for this reason, and has ended: nothing more is said about it.
    Denied(String),
}

/// A turn as its agent sees it: emit, ask, record, take what is added, and see cancellation.
pub struct TurnContext {
    pub(crate) to_session: mpsc::Sender<FromAgent>,
    pub(crate) cancelled: watch::Receiver<bool>,
    /// Counts what was added to the turn.
    pub(crate) steered: watch::Receiver<u64>,
    /// How much of it was taken.
    pub(crate) taken: AtomicU64,
    pub(crate) settings: watch::Receiver<Settings>,
    /// The calls that a client wants stopped.
    pub(crate) stopped: watch::Receiver<HashSet<ItemId>>,
    pub(crate) hold: Hold,
}

/// Something of a turn that runs: the turn does not end before it is dropped (TASK-4).
#[derive(Debug, Clone)]
pub struct Hold {
    /// Never sent on; the receiver sees when the last one is gone.
    pub(crate) _held: mpsc::Sender<Infallible>,
}

impl fmt::Debug for TurnContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnContext")
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl TurnContext {
    /// Lets something be known. Waits while the session's clients are behind (bounded), and at the end
    /// of a call until nobody has a say about it any more: what comes of that is there to be taken.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub async fn emit(&self, emit: Emit) -> Result<(), TurnOver> {
        let is_end = matches!(emit, Emit::CallEnded(..));
        self.send(FromAgent::Emit(emit)).await?;
        if !is_end {
            return Ok(());
        }
        let (reply, ended) = oneshot::channel();
        self.send(FromAgent::CallsEnded(reply)).await?;
        ended.await.map_err(|_| TurnOver)
    }

    /// Says more text.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub async fn say(&self, text: impl Into<String>) -> Result<(), TurnOver> {
        self.emit(Emit::Text(text.into())).await
    }

    /// Announces a tool call and says whether it may run. Returns only when its record is on stable
    /// storage, and what a client that has a say decided: whatever the call does comes after that
    /// (LOG-5).
    ///
    /// # Errors
    /// [`TurnOver`]: do not run the call, return at once.
    pub async fn start_call(&self, call: ToolCall) -> Result<Announced, TurnOver> {
        let (reply, started) = oneshot::channel();
        self.send(FromAgent::CallStarted(Box::new(call), reply))
            .await?;
        started.await.map_err(|_| TurnOver)
    }

    /// Asks the controlling client and waits for the answer that is bound to this question.
    /// [`Outcome::Unanswered`]: no client answers this kind, do it locally. While the turn is being
    /// cancelled everything but tidying up answers [`Outcome::Cancelled`].
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub async fn ask(&self, item: Option<ItemId>, body: RequestBody) -> Result<Outcome, TurnOver> {
        self.ask_unless(item, body, std::future::pending()).await
    }

    /// The same for a question that may be taken back: once `withdrawn` is done the client is told
    /// that nobody waits any more, and the answer is [`Outcome::Cancelled`] unless one came before.
    /// What was to be done for it, such as a file to be written, may have been done by then.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub async fn ask_unless(
        &self,
        item: Option<ItemId>,
        body: RequestBody,
        withdrawn: impl Future<Output = ()>,
    ) -> Result<Outcome, TurnOver> {
        let (reply, mut answer) = oneshot::channel();
        let asking = Asking::default();
        self.send(FromAgent::Ask(item, body, reply, asking.clone()))
            .await?;
        tokio::select! {
            biased;
            answer = &mut answer => return answer.map_err(|_| TurnOver),
            () = withdrawn => {}
        }
        self.send(FromAgent::TakeBack(asking)).await?;
        answer.await.map_err(|_| TurnOver)
    }

    /// Records a durable marker of the agent's own; returns when it is on stable storage.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub async fn record(&self, marker: Marker) -> Result<(), TurnOver> {
        let (reply, recorded) = oneshot::channel();
        self.send(FromAgent::Record(marker, reply)).await?;
        recorded.await.map_err(|_| TurnOver)
    }

    /// Returns once there is something to take that was added to the turn (`turn.steer`).
    pub async fn steered(&self) {
        let mut steered = self.steered.clone();
        let taken = || self.taken.load(Ordering::Acquire);
        // An error means the session is gone; whoever tries to take then hears of it.
        let _gone = steered.wait_for(|count| *count != taken()).await;
    }

    /// Takes what was added to the turn since the last time, in order; mostly nothing. It is part
    /// of the conversation already. What an agent leaves is its next prompt, in the same turn.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub async fn take_steers(&self) -> Result<Vec<Vec<Content>>, TurnOver> {
        let known = *self.steered.borrow();
        let taken = self.taken.load(Ordering::Acquire);
        if known == taken {
            return Ok(Vec::new());
        }
        let (reply, steers) = oneshot::channel();
        self.send(FromAgent::TakeSteers(reply)).await?;
        let steers = steers.await.map_err(|_| TurnOver)?;
        // More than was known may have come meanwhile; less did where another run of the agent
        // was told of it.
        let taken = known.max(taken + steers.len() as u64);
        self.taken.store(taken, Ordering::Release);
        Ok(steers)
    }

    /// Keeps the turn from ending while something runs that outlives a dropped agent, such as a
    /// process that is being killed: give it to whatever sees the end of that.
    pub fn hold(&self) -> Hold {
        self.hold.clone()
    }

    /// The mode and the options in force, and how they change while the turn runs.
    pub fn settings(&self) -> watch::Receiver<Settings> {
        self.settings.clone()
    }

    /// Returns once a client wants this call stopped.
    pub async fn call_stopped(&self, item: ItemId) {
        let mut stopped = self.stopped.clone();
        if stopped
            .wait_for(|calls| calls.contains(&item))
            .await
            .is_err()
        {
            // The session is gone, and nobody can want it any more.
            std::future::pending().await
        }
    }

    /// Whether a client wants this call stopped.
    pub fn is_call_stopped(&self, item: ItemId) -> bool {
        self.stopped.borrow().contains(&item)
    }

    /// Whether the turn is being cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Returns once the turn is being cancelled.
    pub async fn cancelled(&self) {
        let mut cancelled = self.cancelled.clone();
        // An error means the session is gone, which is the strongest way of being cancelled.
        let _gone = cancelled.wait_for(|cancelled| *cancelled).await;
    }

    async fn send(&self, message: FromAgent) -> Result<(), TurnOver> {
        self.to_session.send(message).await.map_err(|_| TurnOver)
    }
}
