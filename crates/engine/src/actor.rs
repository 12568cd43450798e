//! One actor a session: it feeds the core, appends what the core records, and releases what
//! depends on an append only when the log has acknowledged it (LOG-5).

mod clients;
mod failure;
mod ids;
mod lag;
mod noting;
mod passing;
mod perform;
mod refusals;
mod rewinding;
mod running;
mod viewers;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use sessiond_index::Index;
use sessiond_log::{Durability, HolderState, Lease, LogError, NewRecord, Store, Ticket, Writer};
use sessiond_protocol::{
    AgentInfo, AttachMode, Content, DriftClass, Event, FoundBy, Loaded, Marker, OnDisconnect, Op,
    Outcome, PersistenceState, Receipt, Replay, RequestBody, RequestId, RequestKind, SessionId,
    Setup, SubmissionId, Surroundings, Verdict, WireError,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use crate::{
    agent::{AgentError, AgentFactory, Announced, Endpoint, FromAgent, Mailbox},
    core::{Cause, ConnId, Core, Effect, Input, Moment, REAP_LIMIT, Step, Sync, Token, Urgent},
    feed::Feed,
    outlet::Outlet,
    record::to_record,
    recovered::Recovered,
    report::Report,
};
pub(crate) use ids::Ids;
use lag::Lag;
use noting::Noting;
use passing::Passing;
pub(crate) use refusals::{being_closed, not_open, refusal};
use running::{Dropped, Running};
use viewers::FeedEnd;

/// Steps whose appends are not acknowledged yet, beyond which nothing more is taken from the agent.
/// The disk then slows the agent, not the memory.
const APPENDS_AHEAD: usize = 64;

/// Messages of the agent taken in one go, before commands of clients are looked at again.
const AGENT_BURST: usize = 64;

/// Bytes of records after which the end of a turn is followed by a checkpoint: what an opening
/// reads at most, but for one long turn. Some ten milliseconds of reading.
const CHECKPOINT_BYTES: u64 = 2 * 1024 * 1024;

/// What is asked of a session's actor.
#[derive(Debug)]
pub(crate) enum Command {
    Attach(Attach),
    Submit {
        outlet: Outlet,
        id: SubmissionId,
        op: Op,
    },
    /// Somebody asks a server that lives in the client.
    Call {
        outlet: Outlet,
        id: SubmissionId,
        body: RequestBody,
    },
    /// A client takes back what it submitted.
    Withdraw(Cause),
    Answer {
        outlet: Outlet,
        request: RequestId,
        digest: String,
        outcome: Outcome,
    },
    /// Somebody forks the session: that goes through its lease.
    Lend(oneshot::Sender<Arc<Lease>>),
    Disconnect(ConnId),
}

/// A client that wants to control the session, or to look on.
#[derive(Debug)]
pub(crate) struct Attach {
    pub(crate) outlet: Outlet,
    pub(crate) id: SubmissionId,
    pub(crate) replay: Replay,
    pub(crate) mode: AttachMode,
    pub(crate) answers: Vec<RequestKind>,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) found_by: FoundBy,
    pub(crate) accept: Vec<DriftClass>,
    /// None: what is recorded.
    pub(crate) setup: Option<Setup>,
}

/// What an actor is made of.
pub(crate) struct Parts {
    pub(crate) session: SessionId,
    pub(crate) surroundings: Surroundings,
    pub(crate) persistence: PersistenceState,
    pub(crate) store: Store,
    pub(crate) lease: Arc<Lease>,
    pub(crate) index: Index,
    pub(crate) factory: Arc<dyn AgentFactory>,
    /// What the agent offers here.
    pub(crate) info: AgentInfo,
    /// What its client gave the session.
    pub(crate) setup: Setup,
    /// What the agent says between turns.
    pub(crate) updates: Mailbox,
    /// How the agent reaches servers that live in the client.
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) inbox: mpsc::Receiver<Command>,
}

/// Effects that wait for an append, or for effects before them.
#[derive(Debug)]
struct Held {
    ticket: Option<Append>,
    effects: Vec<Effect>,
}

/// An append under way, or one that could not even be tried.
#[derive(Debug)]
enum Append {
    Waiting(Ticket),
    Failed(LogError),
}

/// Something an agent waits for.
#[derive(Debug)]
enum Waiter {
    Call(oneshot::Sender<Announced>),
    Steers(oneshot::Sender<Vec<Vec<Content>>>),
    Outcome(oneshot::Sender<Outcome>),
    Unit(oneshot::Sender<()>),
}

/// A session that is open in this process.
pub(crate) struct Actor {
    parts: Parts,
    core: Core,
    writer: Option<Writer>,
    /// Who controls the session.
    clients: HashMap<ConnId, Outlet>,
    /// Where the controller stands, while it has to acknowledge what it was sent.
    lag: Option<Lag>,
    /// Who asks servers of the client, attached to nothing.
    callers: HashMap<ConnId, Outlet>,
    /// Who looks on.
    viewers: HashMap<ConnId, Arc<Feed>>,
    feeds: JoinSet<FeedEnd>,
    running: Running,
    noting: Noting,
    held: VecDeque<Held>,
    /// Bytes of records behind the newest checkpoint.
    since_checkpoint: u64,
    /// What was read of the log when it was opened.
    loaded: Loaded,
    waiters: HashMap<Token, Waiter>,
    next_token: u64,
    passing: Passing,
    started: Instant,
    /// Whether the core has nothing left to do, unless somebody comes.
    let_go: bool,
    stopping: bool,
}

impl Actor {
    /// An actor over what the log says.
    pub(crate) fn new(parts: Parts, recovered: Recovered) -> Self {
        let Recovered {
            standing,
            next_seq,
            since_checkpoint,
            generation,
            loaded,
            ..
        } = recovered;
        let core = Core::new(
            parts.session,
            parts.surroundings.cwd.clone(),
            parts.info.clone(),
            (parts.persistence, generation.epoch + 1, standing),
        );
        Self {
            running: Running::default(),
            noting: Noting::new(parts.index.clone(), parts.session, next_seq),
            since_checkpoint,
            loaded,
            parts,
            core,
            writer: None,
            clients: HashMap::new(),
            callers: HashMap::new(),
            lag: None,
            viewers: HashMap::new(),
            feeds: JoinSet::new(),
            held: VecDeque::new(),
            waiters: HashMap::new(),
            next_token: 0,
            passing: Passing::default(),
            started: Instant::now(),
            let_go: false,
            stopping: false,
        }
    }

    /// Runs until the session is closed, or idle with nobody attached. Gives back the inbox: what
    /// is still in it is for the next actor.
    pub(crate) async fn run(mut self) -> mpsc::Receiver<Command> {
        while !self.stopping {
            self.turn_of_the_wheel().await;
            if std::mem::take(&mut self.let_go) {
                self.stopping |= self.core.is_over();
            }
        }
        self.let_viewers_go();
        self.running.drop_agent();
        self.running.gone(REAP_LIMIT).await;
        if let Some(writer) = &self.writer {
            // What matters was synced when it was acknowledged; a failure here loses nothing.
            if let Err(error) = writer.shutdown().await {
                tracing::warn!(code = error.code(), "the log could not be closed");
            }
        }
        self.noting.tell();
        self.parts.inbox
    }

    async fn turn_of_the_wheel(&mut self) {
        let deadline = self.core.deadline().map(|elapsed| self.started + elapsed);
        let session = self.parts.session;
        // Who reads slowly slows the agent; who acknowledges slowly does not.
        let mut clients = self.clients.values();
        let behind = clients.find(|client| client.queue.is_full());
        let lagging = self.lag.as_ref();
        let lagging = lagging.and_then(|lag| self.clients.get(&lag.conn));
        // The end of what was dropped is waited for, not held up.
        let listening =
            self.core.is_dropping() || behind.is_none() && self.held.len() < APPENDS_AHEAD;
        tokio::select! {
            biased;
            command = self.parts.inbox.recv() => match command {
                Some(command) => self.command(command).await,
                None => self.stopping = true,
            },
            acknowledged = front_ticket(&mut self.held) => self.acknowledged(acknowledged).await,
            () = sleep_until(deadline) => self.input(Input::Tick),
            emit = self.parts.updates.recv(), if listening => self.input(Input::Noted(emit)),
            () = has_acknowledged(lagging, session), if lagging.is_some() => self.catch_up().await,
            message = self.running.recv(), if listening => self.heard(message),
            Some(ended) = self.feeds.join_next() => match ended {
                Ok(ended) => self.feed_ended(ended),
                Err(error) => tracing::error!(%error, "a feed broke down"),
            },
            () = room(behind), if behind.is_some() => {}
        }
    }

    fn heard(&mut self, message: running::Message) {
        match message {
            running::Message::Said(said) => {
                // What is taken in one go happens at one moment.
                let now = self.now();
                self.said(said, &now);
                for _ in 1..AGENT_BURST {
                    let Some(said) = self.running.try_recv() else {
                        break;
                    };
                    self.said(said, &now);
                }
            }
            running::Message::Done(result) => {
                // Nobody is left to be told what the agent waited for.
                self.waiters.clear();
                self.input(match result {
                    Ok(Report::Compaction(report)) => Input::Compacted(report),
                    Ok(Report::Turn(report)) => Input::AgentDone(Ok(report)),
                    Err(error) => Input::AgentDone(Err(error)),
                });
            }
        }
    }

    fn said(&mut self, said: FromAgent, now: &Moment) {
        let input = match said {
            FromAgent::Emit(emit) => Input::Emitted(emit),
            FromAgent::CallStarted(call, reply) => {
                let token = self.wait(Waiter::Call(reply));
                Input::CallStarted { call, token }
            }
            FromAgent::Ask(item, body, reply, asking) => {
                let token = *asking.get_or_init(|| self.wait(Waiter::Outcome(reply)));
                Input::Asked { item, body, token }
            }
            FromAgent::TakeBack(asking) => match asking.get() {
                Some(token) => Input::TakenBack { token: *token },
                None => return,
            },
            FromAgent::CallsEnded(reply) => {
                let token = self.wait(Waiter::Unit(reply));
                Input::CallsEnded { token }
            }
            FromAgent::TakeSteers(reply) => {
                let token = self.wait(Waiter::Steers(reply));
                Input::TakeSteers { token }
            }
            FromAgent::Record(marker, reply) => {
                let token = self.wait(Waiter::Unit(reply));
                Input::Recorded { marker, token }
            }
        };
        self.input_at(input, now);
    }

    fn wait(&mut self, waiter: Waiter) -> Token {
        let token = Token(self.next_token);
        self.next_token += 1;
        self.waiters.insert(token, waiter);
        token
    }

    fn input(&mut self, input: Input) {
        let now = self.now();
        self.input_at(input, &now);
    }

    fn input_at(&mut self, input: Input, now: &Moment) {
        self.step(input, now);
        if self.since_checkpoint > CHECKPOINT_BYTES && self.core.is_between_turns() {
            self.since_checkpoint = 0;
            self.step(Input::Checkpoint, now);
        }
    }

    fn now(&self) -> Moment {
        Moment {
            elapsed: self.started.elapsed(),
            at: timestamp(),
        }
    }

    fn step(&mut self, input: Input, now: &Moment) {
        let step = self.core.step(input, now, &mut Ids);
        self.apply(step);
    }

    fn apply(&mut self, mut step: Step) {
        let mut never_ran = false;
        for urgent in &step.urgent {
            match urgent {
                Urgent::CancelAgent => self.running.cancel(),
                Urgent::DropAgent => never_ran = self.running.drop_agent() == Dropped::Idle,
                Urgent::ForgetAgent => self.running.forget(),
                Urgent::Closing => self.say_closing(),
            }
        }
        let ticket = (!step.append.is_empty()).then(|| self.append(&mut step));
        if ticket.is_none() && self.held.is_empty() {
            for effect in step.then.drain(..) {
                self.perform(effect);
            }
            self.core.take_back(step.then);
        } else {
            self.held.push_back(Held {
                ticket,
                effects: step.then,
            });
        }
        if never_ran && self.core.is_stopping() {
            let message = "the agent was stopped before it began";
            self.input(Input::AgentDone(Err(AgentError::failed(message))));
        }
    }

    /// Says in the owner record that the session is about to be free (contract.md, "a claim waits
    /// for a holder that says it is closing").
    fn say_closing(&self) {
        if let Err(error) = self.parts.lease.set_state(HolderState::Closing) {
            // A rival that is not told to wait is told that the session is busy: a nuisance only.
            tracing::warn!(code = error.code(), "the owner record could not be written");
        }
    }

    /// Hands the records to the log. A failure to do so is the ticket's, like any other.
    fn append(&mut self, step: &mut Step) -> Append {
        let is_checkpoint = is_checkpoint(step);
        let durability = match step.sync {
            Sync::Written => Durability::Written,
            Sync::Synced => Durability::Synced,
        };
        // Each event goes once it is a record: a long message is there often enough.
        let events = step.append.drain(..);
        let records: Result<Vec<NewRecord>, WireError> =
            events.map(|event| to_record(&event)).collect();
        let Ok(mut records) = records else {
            return Append::Failed(LogError::InvalidRecord("event is not JSON"));
        };
        let bytes = records.iter().map(|record| record.data.len() as u64);
        self.since_checkpoint += bytes.sum::<u64>();
        let checkpoint = is_checkpoint.then(|| records.pop()).flatten();
        match self.writer() {
            Ok(writer) => Append::Waiting(match checkpoint {
                Some(record) => writer.checkpoint(record),
                None => writer.append(records, durability),
            }),
            Err(error) => Append::Failed(error),
        }
    }

    fn writer(&mut self) -> Result<&Writer, LogError> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            none => Ok(none.insert(self.parts.lease.writer()?)),
        }
    }

    async fn acknowledged(&mut self, result: Result<(), LogError>) {
        let Some(held) = self.held.pop_front() else {
            return;
        };
        if let Err(error) = result {
            self.held.push_front(held);
            return self.log_failed(&error).await;
        }
        held.effects
            .into_iter()
            .for_each(|effect| self.perform(effect));
        while let Some(held) = self.held.pop_front_if(|held| held.ticket.is_none()) {
            held.effects
                .into_iter()
                .for_each(|effect| self.perform(effect));
        }
    }

    fn reject(outlet: &Outlet, id: SubmissionId, error: WireError) {
        outlet.receipt(Receipt {
            id,
            result: Verdict::Error(error),
        });
    }
}

/// Whether the step records a checkpoint; such a step records nothing else.
fn is_checkpoint(step: &Step) -> bool {
    let is_one = |event: &Event| matches!(event, Event::Marker(Marker::Checkpoint { .. }));
    matches!(step.append.as_slice(), [frame] if is_one(&frame.event))
}

pub(crate) fn timestamp() -> String {
    // Milliseconds, as people read them; the log orders by seq, not by time (LOG-14).
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}

async fn front_ticket(held: &mut VecDeque<Held>) -> Result<(), LogError> {
    match held.front_mut().and_then(|held| held.ticket.as_mut()) {
        Some(Append::Waiting(ticket)) => ticket.await.map(|_| ()),
        Some(Append::Failed(error)) => Err(error.clone()),
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

async fn room(behind: Option<&Outlet>) {
    if let Some(client) = behind {
        client.queue.ready().await;
    }
}

/// Waits until a client that lags has room for more, or is gone.
async fn has_acknowledged(lagging: Option<&Outlet>, session: SessionId) {
    if let Some(client) = lagging {
        client.has_acknowledged(session).await;
    }
}

/// How long a closing process keeps trying to end its sessions well.
pub(crate) const DRAIN: Duration = Duration::from_millis(1800);
