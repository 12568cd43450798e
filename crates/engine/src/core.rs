//! The session core: a pure state machine. Inputs go in one at a time, a [`Step`] comes out; time
//! and fresh ids are given to it. Nothing here does I/O, so tables of inputs test all of it.

mod asks;
mod attest;
mod binding;
mod busy;
mod called;
mod clients;
mod close;
mod compaction;
mod conversation;
mod digest;
mod given;
mod hooks;
mod keys;
mod offers;
mod settings;
mod step;
mod stream;
mod telling;
mod title;
mod turns;
mod withdrawal;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use sessiond_protocol::{
    Accepted, AgentInfo, Cursor, ErrorCode, Event, EventFrame, InForce, ItemId, Op, Persistence,
    PersistenceState, Receipt, RequestId, RequestKind, SessionChanged, SessionId, SessionOpened,
    SessionView, Standing, SubmissionId, TurnId, Verdict, WireError, limits,
};

pub(crate) use binding::Refusal;
pub(crate) use conversation::unfit_item;
pub(crate) use step::{Cause, ConnId, Effect, Input, Mint, Moment, Step, Sync, Token, Urgent};

use asks::Ask;
use clients::Controller;
use close::Closing;
pub(crate) use keys::Digests;
use turns::ActiveTurn;

/// How long an agent may take to stop by itself before it is dropped. A client that closes its
/// side waits two seconds for the process to end; this leaves half of that for the rest.
pub(crate) const INTERRUPT_GRACE: Duration = Duration::from_secs(1);

/// How long the tools of a dropped agent may take to be gone. A guard gives up on a tree that it
/// cannot kill after five seconds.
pub(crate) const REAP_LIMIT: Duration = Duration::from_secs(6);

/// How long a client has to answer a hook.
pub(crate) const HOOK_LIMIT: Duration = Duration::from_secs(limits::HOOK_SECONDS);

/// Text that was shown is stored at most this much later (LOG-17).
pub(crate) const PARTIAL_AFTER: Duration = Duration::from_millis(100);

/// What the core knows of its session.
#[derive(Debug)]
pub(crate) struct Core {
    session: SessionId,
    cwd: String,
    info: AgentInfo,
    persistence: PersistenceState,
    /// The epoch that this run's records have.
    incarnation: u64,
    standing: Standing,
    /// Recorded before anything else is: what the run attests, and what a dead process, or the parent
    /// of a fork, left open (RESUME-5, LOG-17, RESUME-6).
    closings: Vec<EventFrame>,
    controller: Option<Controller>,
    /// The kinds of question that wait for the next controller, where the last one detached.
    awaited: Vec<RequestKind>,
    /// The clients that look on.
    viewers: HashSet<ConnId>,
    turn: Option<ActiveTurn>,
    /// Who asked for the turns that wait, as far as they were asked for in this run.
    queued_by: Vec<(TurnId, ConnId)>,
    /// Waiting turns that an interrupt has ended; they go when the active one has gone.
    doomed: Vec<TurnId>,
    asks: HashMap<RequestId, Ask>,
    /// The store's keys for digests of input; none before an idempotency key needs them.
    digests: Option<Digests>,
    closing: Closing,
    /// What is recorded behind the header of a new session.
    given: Option<SessionChanged>,
    /// Whether this run has recorded anything.
    touched: bool,
    /// Room for the effects of a step: there is a step for each piece of a streamed text.
    spare: Vec<Effect>,
}

/// One step under way: the core, the moment, and what has come of it so far.
pub(crate) struct Stepping<'a> {
    core: &'a mut Core,
    now: &'a Moment,
    mint: &'a mut dyn Mint,
    step: Step,
}

impl Core {
    /// A core over a session that stands so; `cwd` is where this run works, `persistence` what it
    /// keeps, `incarnation` its lease epoch.
    pub(crate) fn new(
        session: SessionId,
        cwd: String,
        mut info: AgentInfo,
        (persistence, incarnation, mut standing): (PersistenceState, u64, Standing),
    ) -> Self {
        // What was set before is in force, where the agent still takes it.
        info.set_options(&standing.options);
        let closings = standing.closings(session);
        standing.let_go();
        Self {
            session,
            cwd,
            info,
            persistence,
            incarnation,
            standing,
            closings,
            controller: None,
            awaited: Vec::new(),
            viewers: HashSet::new(),
            turn: None,
            queued_by: Vec::new(),
            doomed: Vec::new(),
            asks: HashMap::new(),
            digests: None,
            closing: Closing::Open,
            given: None,
            touched: false,
            spare: Vec::new(),
        }
    }

    /// Takes one input.
    pub(crate) fn step(&mut self, input: Input, now: &Moment, mint: &mut dyn Mint) -> Step {
        let step = Step {
            then: std::mem::take(&mut self.spare),
            ..Step::default()
        };
        let mut stepping = Stepping {
            core: self,
            now,
            mint,
            step,
        };
        let policy = stepping.core.standing.policy;
        stepping.take(input);
        if stepping.core.standing.policy != policy {
            stepping.reconsider_asks();
        }
        stepping.step
    }

    /// Takes back the list of a step's effects, all of them performed.
    pub(crate) fn take_back(&mut self, mut performed: Vec<Effect>) {
        performed.clear();
        if self.spare.capacity() == 0 {
            self.spare = performed;
        }
    }

    /// When the next [`Input::Tick`] is due.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let turn = self.turn.as_ref().and_then(ActiveTurn::deadline);
        turn.into_iter().chain(self.questions_end()).min()
    }

    /// The session as an attaching client sees it.
    pub(crate) fn view(&self) -> SessionView {
        SessionView {
            session: self.session,
            cwd: self.cwd.clone(),
            title: self.standing.title.clone(),
            agent: self.info.clone(),
            mode: self.standing.mode.clone(),
            roots: self.standing.roots.clone(),
            cursor: self.standing.cursor,
            turn: self.active_turn(),
            used: self.standing.used,
            attestation: self.attestation().cloned().map(Box::new),
        }
    }

    /// The newest durable event.
    pub(crate) fn cursor(&self) -> Cursor {
        self.standing.cursor
    }

    /// Which events are the conversation in force.
    pub(crate) fn in_force(&self) -> InForce {
        self.standing.in_force()
    }

    /// What an attach shows after the durable events: what will close by the next append, or what
    /// is in flight now. Events without a cursor.
    pub(crate) fn snapshot(&self) -> Vec<EventFrame> {
        // The receipt shows the attestation.
        let mut snapshot = self.closings.clone();
        snapshot.retain(|frame| !attest::is_attestation(frame));
        if let Some(turn) = &self.turn {
            turn.snapshot(self.session, &mut snapshot);
        }
        snapshot
    }

    /// What is in flight, from its beginning, for a client that has seen nothing of it. Events
    /// without a cursor.
    pub(crate) fn in_flight(&self) -> Vec<EventFrame> {
        let mut in_flight = Vec::new();
        if let Some(turn) = &self.turn {
            turn.in_flight(self.session, &self.standing, &mut in_flight);
        }
        in_flight
    }

    /// The active turn.
    pub(crate) fn active_turn(&self) -> Option<TurnId> {
        self.turn.as_ref().map(|turn| turn.id)
    }

    /// Whether the active turn is being stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        self.turn.as_ref().is_some_and(ActiveTurn::is_stopping)
    }

    /// Whether the agent of the active turn was dropped, and what it left is going.
    pub(crate) fn is_dropping(&self) -> bool {
        self.turn.as_ref().is_some_and(ActiveTurn::is_dropping)
    }

    /// The turns that have not ended, as clients know them.
    pub(crate) fn open_turns(&self) -> Vec<TurnId> {
        self.active_turn()
            .into_iter()
            .chain(self.standing.waiting.iter().map(|w| w.id))
            .collect()
    }

    /// Whether no turn runs, and what earlier runs left open is recorded: a time for a checkpoint.
    pub(crate) fn is_between_turns(&self) -> bool {
        let is_settled = self.turn.is_none() && self.closings.is_empty();
        // What is recorded behind the close would keep the last receipts waiting.
        self.touched && is_settled && !self.is_closed()
    }

    /// The submission that asked for a turn that has not ended, where one of this run did.
    pub(crate) fn cause_of(&self, turn: TurnId) -> Option<SubmissionId> {
        if let Some(active) = self.turn.as_ref().filter(|active| active.id == turn) {
            return active.cause.clone();
        }
        let mut waiting = self.standing.waiting.iter();
        let waiting = waiting.find(|waiting| waiting.id == turn);
        waiting.and_then(|waiting| waiting.cause.clone())
    }

    /// The requests that wait for an answer, oldest first.
    pub(crate) fn open_requests(&self) -> Vec<RequestId> {
        let mut open: Vec<RequestId> = self.asks.keys().copied().collect();
        open.sort_unstable();
        open
    }

    /// Whether the session can be let go: it is closed, or nothing runs and nobody is there.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed() || self.idle_and_alone()
    }

    /// Whether the session was closed: nothing happens in it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closing.is_closed()
    }

    /// Whether nothing runs and nobody is there: the session can be let go.
    fn idle_and_alone(&self) -> bool {
        self.turn.is_none() && self.standing.waiting.is_empty() && self.is_abandoned()
    }
}

impl Stepping<'_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Created { cause, header } => self.created(&cause, header),
            Input::Given(setup) => self.given(&setup),
            Input::Settle => self.record_closings(),
            Input::Resumed { arrival, loaded } => self.resumed(*arrival, loaded),
            Input::Checkpoint => {
                let marker = self.core.standing.checkpoint();
                self.record(None, None, Event::Marker(marker));
            }
            Input::Attached {
                conn,
                answers,
                on_disconnect,
            } => self.attached(conn, answers, on_disconnect),
            Input::Viewed { conn } => drop(self.core.viewers.insert(conn)),
            Input::Submitted { cause, op } => self.submitted(cause, op),
            Input::Rewind { cause, to, course } => self.rewind(&cause, to, &course),
            Input::Titled(title, by) => self.title(&title, by),
            Input::Told(telling) => self.told(telling),
            Input::Kept(marker) => self.record(None, None, Event::Marker(marker)),
            Input::Withdrawn(cause) => self.withdrawn(&cause),
            Input::TakenBack { token } => self.taken_back(token),
            Input::Answered {
                conn,
                request,
                digest,
                outcome,
            } => {
                self.answered(conn, request, &digest, outcome);
            }
            Input::Emitted(emit) => self.emitted(emit),
            Input::Noted(emit) => self.noted(emit),
            Input::CallStarted { call, token } => self.call_started(call, token),
            Input::Asked { item, body, token } => self.asked(item, body, token),
            Input::Called { cause, body } => self.called(cause, body),
            Input::CallsEnded { token } => self.after_calls(token),
            Input::TakeSteers { token } => self.take_steers(token),
            Input::Recorded { marker, token } => {
                self.record(self.turn_id(), None, Event::Marker(marker));
                self.push(Effect::RecordDone(token));
            }
            Input::AgentDone(result) => self.agent_done(result),
            Input::Compacted(report) => self.compacted(report),
            Input::Disconnected { conn } => self.disconnected(conn),
            Input::Tick => self.tick(),
        }
    }

    /// The header is the first record; the receipt and everything else comes after it is stored.
    fn created(&mut self, cause: &Cause, header: Box<SessionOpened>) {
        let at = self.step.then.len();
        self.record(None, None, Event::SessionOpened(header));
        if let Some(given) = self.core.given.take() {
            self.record(None, None, Event::SessionChanged(given));
        }
        let accepted = Accepted::Session(Box::new(self.core.view()));
        let receipt = Receipt {
            id: cause.id.clone(),
            result: Verdict::Accepted(accepted),
        };
        // A client learns the session's id before anything about the session.
        self.step
            .then
            .insert(at, Effect::Receipt(cause.conn, receipt));
    }

    fn submitted(&mut self, cause: Cause, op: Op) {
        if self.core.is_closed() {
            return self.reject(&cause, closed());
        }
        if let Some(error) = self.only_looks_on(cause.conn) {
            return self.reject(&cause, error);
        }
        match op {
            Op::TurnStart {
                input,
                if_busy,
                idempotency_key,
            } => self.turn_start(cause, input, (if_busy, idempotency_key)),
            Op::TurnSteer { input, turn } => self.turn_steer(cause, input, turn),
            Op::TurnInterrupt { turn, queued } => {
                self.interrupt(turn, queued);
                self.accept(&cause, Accepted::Done {});
            }
            Op::SessionConfigure { mode, options } => self.configure(&cause, mode, &options),
            Op::CallCancel { item } => self.cancel_call(&cause, item),
            Op::SessionRename { title } => self.rename(&cause, &title),
            Op::SessionRelocate { cwd } => self.relocate(&cause, cwd),
            Op::SessionClear {} => self.clear(&cause),
            Op::SessionCompact {} => self.compact(cause),
            Op::SessionAppend { items } => self.append_items(&cause, items),
            Op::SessionClose {} => self.close(cause),
            Op::SessionNew(_)
            | Op::SessionResume(_)
            | Op::SessionList(_)
            | Op::SessionStatus {}
            | Op::AgentOptions { .. }
            | Op::SessionRead { .. }
            | Op::SessionFork { .. }
            | Op::SessionImport { .. }
            | Op::SessionRewind { .. }
            | Op::SessionDetach {}
            | Op::SessionArchive {}
            | Op::SessionUnarchive {}
            | Op::SessionDelete {}
            | Op::SessionRestore {}
            | Op::Extension { .. }
            | Op::McpRequest { .. }
            | Op::Shutdown {} => self.reject(
                &cause,
                WireError::new(
                    ErrorCode::Invalid,
                    "this operation names no open session; leave `session` out",
                ),
            ),
        }
    }

    fn turn_id(&self) -> Option<TurnId> {
        self.core.turn.as_ref().map(|turn| turn.id)
    }

    fn push(&mut self, effect: Effect) {
        self.step.then.push(effect);
    }

    fn accept(&mut self, cause: &Cause, accepted: Accepted) {
        let receipt = Receipt {
            id: cause.id.clone(),
            result: Verdict::Accepted(accepted),
        };
        self.push(Effect::Receipt(cause.conn, receipt));
    }

    fn reject(&mut self, cause: &Cause, error: WireError) {
        let error = error.about(self.core.session);
        let receipt = Receipt {
            id: cause.id.clone(),
            result: Verdict::Error(error),
        };
        self.push(Effect::Receipt(cause.conn, receipt));
    }

    /// Makes an event happen: a durable one is numbered, appended and delivered after the append;
    /// an ephemeral one is only delivered.
    fn record(&mut self, turn: Option<TurnId>, item: Option<ItemId>, event: Event) {
        let durable = event.persistence(self.core.persistence) != Persistence::Never;
        let cause = turn.and_then(|turn| self.core.cause_of(turn));
        let frame = EventFrame {
            turn,
            item,
            cause,
            ..EventFrame::new(self.core.session, event)
        };
        if durable {
            self.append(frame)
        } else {
            self.push(Effect::Deliver(frame))
        }
    }

    /// Records what has to be recorded before all else.
    fn record_closings(&mut self) {
        for frame in std::mem::take(&mut self.core.closings) {
            self.append_now(frame);
        }
    }

    fn append(&mut self, frame: EventFrame) {
        self.record_closings();
        self.append_now(frame);
    }

    fn append_now(&mut self, mut frame: EventFrame) {
        if frame.event.persistence(self.core.persistence) == Persistence::Synced {
            self.step.sync = Sync::Synced;
        }
        let cursor = self.core.standing.cursor.next();
        frame.cursor = Some(cursor);
        if let Event::TurnEnded(ended) = &mut frame.event {
            // Known only now: other records may have to come first.
            ended.bookmark = cursor;
        }
        frame.at = Some(self.now.at.clone());
        self.core.standing.apply(&frame);
        self.core.touched = true;
        self.step.append.push(frame.clone());
        self.push(Effect::Deliver(frame));
    }

    fn tick(&mut self) {
        self.flush_partials();
        self.give_up_questions();
        self.drop_if_overdue();
    }

    /// Ends the actor when a close has nothing left to wait for, or when nobody is there.
    fn stop_if_done(&mut self) {
        if self.finish_close() || self.core.idle_and_alone() {
            self.push(Effect::Stop);
        }
    }
}

/// What is submitted to a session that is being closed is too late.
fn closed() -> WireError {
    WireError::new(ErrorCode::NotFound, "the session is being closed")
}
