//! The rig: a core with all that an actor does around it, a log that can be cut off, an agent and
//! clients that do as an interleaving says.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use sessiond_protocol::{
    Accepted, Event, EventFrame, ForkPoint, ItemId, Marker, OnDisconnect, PersistenceState,
    RequestFrame, Standing, SubmissionId, TurnId, TurnOutcome, Verdict,
};

use super::{
    Broken,
    act::Act,
    books::{Books, View},
    ensure,
    model::{Model, Promise, UNATTENDED},
    verdict::{Around, Taken, must_sync},
    watch::Goes,
};
use crate::{
    agent::{AgentError, Emit, TurnReport},
    core::{
        Cause, ConnId, Core, Effect, Input, Moment, Step, Sync, Token, Urgent,
        tests::fixture::{Counter, digests, header, info, session},
    },
};

/// Who controls the session when nobody in particular does.
pub(super) const SOMEBODY: ConnId = ConnId(0);

/// Where the agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Absent,
    Running,
    /// Dropped at that time, and not gone.
    Dropped(Duration),
}

/// Effects that wait for an append, or for effects before them.
pub(super) struct Held {
    /// Records up to which the log must have it, and how.
    append: Option<(usize, Sync)>,
    effects: Vec<Effect>,
}

pub(super) struct Rig {
    pub(super) persistence: PersistenceState,
    pub(super) core: Core,
    pub(super) ids: Counter,
    pub(super) now: Duration,
    pub(super) log: Vec<EventFrame>,
    /// Records that are acknowledged, and those that a loss of power spares.
    pub(super) written: usize,
    pub(super) synced: usize,
    pub(super) held: VecDeque<Held>,
    /// What was handed to the log.
    pub(super) books: Books,
    /// What clients were shown.
    pub(super) shown: Books,
    pub(super) model: Model,
    pub(super) agent: Agent,
    /// Whether the actor has stopped.
    pub(super) stopped: bool,
    /// How often each submission of this process got a receipt.
    pub(super) receipts: HashMap<SubmissionId, u32>,
    pub(super) submissions: u32,
    /// The turns of this process that had to wait, and who asked for them.
    pub(super) queued: Vec<(ConnId, SubmissionId, TurnId)>,
    /// The client that is attached, whether or not the session still takes anything.
    pub(super) client: Option<ConnId>,
    pub(super) tokens: u64,
    /// What was asked of clients.
    pub(super) asked: Vec<(ConnId, RequestFrame)>,
    /// The calls that the agent knows.
    pub(super) calls: Vec<ItemId>,
    /// What a load shows of how a dead process left the session.
    pub(super) closings: Vec<EventFrame>,
    /// Whether the next record is what the run attests.
    pub(super) attests: bool,
    /// Whether nobody has come since the log was read.
    pub(super) fresh: bool,
    pub(super) incarnation: u64,
    /// After how many records a process came to its end.
    pub(super) deaths: Vec<usize>,
    /// What the log says of where it comes from.
    pub(super) parent: Option<ForkPoint>,
    pub(super) forks: u32,
}

impl Rig {
    pub(super) fn new(persistence: PersistenceState) -> Result<Self, Broken> {
        let stands = (persistence, 1, Standing::default());
        let mut rig = Self {
            persistence,
            core: Core::new(session(), "/w".into(), info(), stands),
            ids: Counter(0),
            now: Duration::ZERO,
            log: Vec::new(),
            written: 0,
            synced: 0,
            held: VecDeque::new(),
            books: Books::new(View::Log),
            shown: Books::new(View::Client),
            model: Model::default(),
            agent: Agent::Absent,
            stopped: false,
            receipts: HashMap::new(),
            submissions: 0,
            queued: Vec::new(),
            client: None,
            tokens: 0,
            asked: Vec::new(),
            calls: Vec::new(),
            closings: Vec::new(),
            attests: false,
            fresh: false,
            incarnation: 1,
            deaths: Vec::new(),
            parent: None,
            forks: 0,
        };
        rig.core.learn(digests());
        let cause = Cause {
            conn: SOMEBODY,
            id: rig.submission()?,
        };
        rig.attached(SOMEBODY, OnDisconnect::Cancel, 0)?;
        let header = Box::new(header());
        rig.take(Input::Created { cause, header })?;
        Ok(rig)
    }

    pub(super) fn act(&mut self, act: &Act) -> Result<(), Broken> {
        match *act {
            Act::Attach {
                conn,
                on_disconnect,
                answers,
                place,
            } => self.attach(ConnId(conn.into()), (on_disconnect, answers), place),
            Act::View { conn, place } => self.view(ConnId(conn.into()), place),
            Act::Meddle(conn, what) => self.meddle(ConnId(conn.into()), what),
            Act::Disconnect(conn) => self.disconnect(ConnId(conn.into())),
            Act::Pass(milliseconds) => self.pass(Duration::from_millis(milliseconds.into())),
            Act::Day => self.pass(UNATTENDED),
            Act::Acknowledge(appends) => (0..appends).try_for_each(|_| self.acknowledge()),
            Act::Checkpoint if self.core.is_between_turns() && !self.stopped => {
                self.take(Input::Checkpoint).map(drop)
            }
            Act::Checkpoint => Ok(()),
            Act::Die(death) => self.die(death),
            Act::Fork(which, said) => self.fork(which, said),
            Act::Insist => self.insist(),
            Act::Condense => self.condense(),
            Act::Allow(what) => self.allow(what),
            Act::Review(word) => self.review(word),
            Act::Forsake => self.forsake(),
            Act::Swap {
                on_disconnect,
                answers,
            } => self.swap(on_disconnect, answers),
            Act::Answer { which, how } => self.answer(which, how),
            Act::Withdraw(which, whose) => self.withdraw(which, whose),
            Act::Note(note) => self.note(note),
            ref act if self.submits(act) => self.submit(act),
            ref act => self.agent_acts(act),
        }
    }

    /// The next submission's id.
    pub(super) fn submission(&mut self) -> Result<SubmissionId, Broken> {
        self.submissions += 1;
        let id: SubmissionId = format!("s{}", self.submissions).try_into()?;
        self.receipts.insert(id.clone(), 0);
        Ok(id)
    }

    pub(super) fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The turns that live: those of a dead process are none.
    pub(super) fn turns(&self) -> (Option<TurnId>, Vec<TurnId>) {
        if self.books.is_stale() {
            return (None, Vec::new());
        }
        let waiting = self.books.waiting.iter().map(|(turn, _)| *turn);
        (self.books.active, waiting.collect())
    }

    /// The records since a place in the log.
    pub(super) fn records(&self, since: usize) -> &[EventFrame] {
        self.log.get(since..).unwrap_or_default()
    }

    /// One step of the core, with all that must hold of it.
    pub(super) fn take(&mut self, input: Input) -> Result<Taken, Broken> {
        let asking = match &input {
            Input::Asked { token, .. } | Input::CallStarted { token, .. } => Some(*token),
            _ => None,
        };
        let goes = match &input {
            Input::Disconnected { .. } => Goes::Client,
            _ => Goes::Nobody,
        };
        let now = Moment {
            elapsed: self.now,
            at: "2026-01-01T00:00:00.000Z".into(),
        };
        let (since, before) = (self.log.len(), self.books.active);
        let live = self.turns().0;
        let (stopping, steers) = (self.model.stopping.is_some(), self.model.steers);
        let step = self.core.step(input, &now, &mut self.ids);
        self.record(&step)?;
        let taken = Taken::of(&step, since);
        let around = Around {
            records: self.log.get(since..).unwrap_or_default(),
            asking,
            now: self.now,
            stopping,
            steers,
        };
        taken.keep(&mut self.model, &around)?;
        if before.is_some() && self.books.active != before {
            ensure!(
                self.model.waited.is_empty(),
                "the agent still waits for something"
            );
        }
        self.requests_agree()?;
        self.opened_as_asked(since)?;
        self.closed(&taken)?;
        let ended = live.is_some() && self.turns().0 != live;
        self.let_go(&taken, if ended { Goes::Turn } else { goes })?;
        let records = self.log.get(since..).unwrap_or_default();
        self.model.rights_recorded(records)?;
        if !self.log.is_empty() {
            self.model.rights_agree(&self.core.standing)?;
            self.books.marks_agree(&self.core.standing)?;
        }
        let never_ran = self.urgent(&step);
        self.hold(step)?;
        let (active, waiting) = self.turns();
        ensure!(
            active.is_some() || waiting.is_empty(),
            "turns wait for nothing"
        );
        if never_ran && self.core.is_stopping() {
            self.agent_done(Err(AgentError::failed("never ran")))?;
        }
        Ok(taken)
    }

    fn record(&mut self, step: &Step) -> Result<(), Broken> {
        let must = step.append.iter().any(must_sync);
        ensure!(
            !must || step.sync == Sync::Synced,
            "not synced: {:?}",
            step.append
                .iter()
                .map(|f| f.event.kind())
                .collect::<Vec<_>>()
        );
        for frame in &step.append {
            let attests = matches!(frame.event, Event::Marker(Marker::Attest { .. }));
            if !matches!(frame.event, Event::Marker(Marker::Fork { .. })) {
                ensure!(
                    attests == self.attests,
                    "a run attests before all else, once a client (RESUME-5)"
                );
                self.attests = false;
            }
            if attests {
                self.model.policy_of(frame);
            } else if !self.closings.is_empty() {
                self.shown_closing(frame)?;
                self.model.policy_of(frame);
            } else {
                let waiting: BTreeSet<TurnId> = self.turns().1.into_iter().collect();
                self.model.recorded(frame, (self.books.active, &waiting))?;
            }
            self.books.apply(frame)?;
            self.log.push(frame.clone());
        }
        Ok(())
    }

    /// What a load showed is what is recorded first (RESUME-6).
    fn shown_closing(&mut self, frame: &EventFrame) -> Result<(), Broken> {
        let shown = self.closings.remove(0);
        let same = (shown.turn, shown.item, shown.event.kind())
            == (frame.turn, frame.item, frame.event.kind());
        ensure!(
            same,
            "{} was shown as {}",
            frame.event.kind(),
            shown.event.kind()
        );
        Ok(())
    }

    /// A close ends with its receipts, and nothing happens after it.
    fn closed(&mut self, taken: &Taken) -> Result<(), Broken> {
        if self.model.closing.is_empty() || self.turns().0.is_some() {
            return Ok(());
        }
        let answered = taken.receipts.iter().map(|receipt| &receipt.id);
        let closing = std::mem::take(&mut self.model.closing);
        ensure!(
            answered.eq(closing.iter()),
            "closes are answered at the end"
        );
        ensure!(taken.stop, "a session that is closed is let go");
        self.model.controller = None;
        self.model.closed = true;
        Ok(())
    }

    /// Whether an agent was dropped that never ran.
    fn urgent(&mut self, step: &Step) -> bool {
        let mut never_ran = false;
        for urgent in &step.urgent {
            match urgent {
                Urgent::DropAgent if self.agent == Agent::Absent => never_ran = true,
                Urgent::DropAgent => self.agent = Agent::Dropped(self.now),
                Urgent::ForgetAgent => self.agent = Agent::Absent,
                Urgent::CancelAgent | Urgent::Closing => {}
            }
        }
        never_ran
    }

    fn hold(&mut self, step: Step) -> Result<(), Broken> {
        let append = (!step.append.is_empty()).then_some((self.log.len(), step.sync));
        if append.is_none() && self.held.is_empty() {
            return self.perform(step.then);
        }
        let effects = step.then;
        self.held.push_back(Held { append, effects });
        Ok(())
    }

    /// The log acknowledges the oldest append.
    fn acknowledge(&mut self) -> Result<(), Broken> {
        let Some(held) = self.held.pop_front() else {
            return Ok(());
        };
        if self.stopped {
            // The actor is gone; nobody does this.
            let said = |effect: &Effect| matches!(effect, Effect::Receipt(..));
            let unsaid = held.effects.iter().any(said);
            ensure!(!unsaid, "a submission is taken and never answered");
            return Ok(());
        }
        if let Some((records, sync)) = held.append {
            self.written = records;
            if sync == Sync::Synced {
                self.synced = records;
            }
        }
        self.perform(held.effects)?;
        while self.held.front().is_some_and(|held| held.append.is_none()) {
            let effects = self.held.pop_front().map(|held| held.effects);
            self.perform(effects.unwrap_or_default())?;
        }
        Ok(())
    }

    pub(super) fn acknowledge_all(&mut self) -> Result<(), Broken> {
        while !self.held.is_empty() {
            self.acknowledge()?;
        }
        Ok(())
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Result<(), Broken> {
        for effect in effects {
            match effect {
                Effect::Deliver(frame) => self.shown.apply(&frame)?,
                Effect::Receipt(_, receipt) => {
                    let count = self.receipts.get_mut(&receipt.id);
                    *count.ok_or("a receipt for nothing")? += 1;
                    if let Verdict::Accepted(
                        Accepted::Turn { turn } | Accepted::Repeated { turn, .. },
                    ) = receipt.result
                    {
                        self.promise(turn);
                    }
                }
                Effect::Request(conn, frame) => self.asked.push((conn, frame)),
                Effect::StartAgent { turn, .. } | Effect::StartCompaction { turn } => {
                    self.start_agent(turn)?;
                }
                Effect::Started(_, item) | Effect::StartedWith(_, item, _) => self.calls.push(item),
                Effect::Stop => self.stopped = self.core.is_over(),
                Effect::RequestClosed(..)
                | Effect::Refused(..)
                | Effect::Denied(..)
                | Effect::Steered
                | Effect::Settings
                | Effect::StopCall(_)
                | Effect::Steers(..)
                | Effect::Reply(..)
                | Effect::RecordDone(_) => {}
            }
        }
        Ok(())
    }

    fn promise(&mut self, turn: TurnId) {
        let begun = self.log.iter().take(self.synced).any(|frame| {
            frame.turn == Some(turn) && matches!(frame.event, Event::TurnStarted { .. })
        });
        let promise = if begun {
            Promise::Begun
        } else {
            Promise::Queued
        };
        self.model.promised.insert(turn, promise);
    }

    fn start_agent(&mut self, turn: TurnId) -> Result<(), Broken> {
        let stored = self.log.iter().take(self.synced).any(|frame| {
            frame.turn == Some(turn) && matches!(frame.event, Event::TurnStarted { .. })
        });
        ensure!(
            stored,
            "an agent is started on a turn that is not stored (LOG-5)"
        );
        if self.core.active_turn() == Some(turn) {
            ensure!(self.agent == Agent::Absent, "two agents run");
            self.agent = Agent::Running;
        }
        Ok(())
    }

    /// The agent's turn returns.
    pub(super) fn agent_done(
        &mut self,
        result: Result<TurnReport, AgentError>,
    ) -> Result<(), Broken> {
        self.agent = Agent::Absent;
        let well = result.is_ok() && self.model.stopping.is_none();
        let goes_on = well && self.model.steers > 0;
        let asks = well && !goes_on && self.model.asks_to_stop();
        self.model.agent_ended = Some(match result {
            Ok(_) => TurnOutcome::Completed,
            Err(_) => TurnOutcome::Failed,
        });
        let before = self.books.active;
        let untaken = self.model.steers;
        let taken = self.take(Input::AgentDone(result))?;
        self.model.agent_ended = None;
        if goes_on {
            self.model.steers = 0;
            ensure!(
                self.books.active == before,
                "a turn with untaken input goes on"
            );
            ensure!(
                taken.started == [(before.ok_or("no turn")?, untaken)],
                "the agent is given what it did not take: {:?}",
                taken.started
            );
        } else if asks {
            ensure!(
                self.books.active == before && self.model.may_stop(),
                "a client has its say before a turn ends well, if it wants one"
            );
        } else {
            ensure!(self.books.active != before, "a turn ends with its agent");
        }
        Ok(())
    }

    pub(super) fn emit(&mut self, emit: Emit) -> Result<Taken, Broken> {
        self.take(Input::Emitted(emit))
    }
}
