//! Turns: at most one is active (SQEQ-2), each ends exactly once, after all else of it (SQEQ-3).

use std::time::Duration;

use sessiond_protocol::{
    ClosedBecause, Content, Cursor, Event, EventFrame, Hook, Item, ItemKind, Keyed, Queued,
    SessionId, Standing, Stop, Stream, Stretch, SubmissionId, Titler, ToolStatus, TurnConfig,
    TurnEnded, TurnId, TurnOutcome, Usage, WaitingTurn, WireError, prompt_item,
};

use super::{
    Effect, INTERRUPT_GRACE, REAP_LIMIT, Stepping, Token, Urgent,
    hooks::Waits,
    stream::{Growing, MessageEnd, ephemeral, text_started},
};
use crate::agent::{AgentError, TurnReport};

/// The active turn.
#[derive(Debug)]
pub(super) struct ActiveTurn {
    pub(super) id: TurnId,
    pub(super) cause: Option<SubmissionId>,
    pub(super) phase: Phase,
    /// What is being summed up, in a compaction.
    pub(super) covers: Option<Stretch>,
    /// The message that streams.
    pub(super) message: Option<Growing>,
    /// The tool output that streams.
    pub(super) outputs: Vec<Growing>,
    /// What was added to the turn and the agent has not taken.
    pub(super) steers: Vec<Vec<Content>>,
    /// What the agent waits with until nobody has a say any more about a call.
    pub(super) barriers: Vec<Token>,
    /// How often a hook has made it go on.
    pub(super) continued: u32,
    /// What was used before the agent was started again for input it had not taken.
    used: Option<Usage>,
}

/// How far the active turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    /// The agent was told to stop; at the deadline it is dropped.
    Cancelling {
        deadline: Duration,
    },
    /// The agent was dropped, its tools are being killed; at the deadline they are left.
    Dropped {
        deadline: Duration,
    },
}

impl ActiveTurn {
    pub(super) fn deadline(&self) -> Option<Duration> {
        let growing = self
            .message
            .iter()
            .chain(&self.outputs)
            .filter_map(Growing::deadline);
        let cancelling = match self.phase {
            Phase::Running => None,
            Phase::Cancelling { deadline } | Phase::Dropped { deadline } => Some(deadline),
        };
        growing.chain(cancelling).min()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.phase != Phase::Running
    }

    pub(super) fn is_dropping(&self) -> bool {
        matches!(self.phase, Phase::Dropped { .. })
    }

    /// What is in flight, for a client that attaches now.
    pub(super) fn snapshot(&self, session: SessionId, snapshot: &mut Vec<EventFrame>) {
        for growing in self.message.iter().chain(&self.outputs) {
            if growing.kind != ItemKind::ToolCall {
                let started = text_started(growing.kind);
                snapshot.push(ephemeral(session, self.id, Some(growing.item), started));
            }
            if let Some(delta) = growing.unstored() {
                snapshot.push(ephemeral(session, self.id, Some(growing.item), delta));
            }
        }
    }
}

impl ActiveTurn {
    /// All that is in flight, for a client that was not shown how it began: calls, text, questions.
    pub(super) fn in_flight(
        &self,
        session: SessionId,
        standing: &Standing,
        in_flight: &mut Vec<EventFrame>,
    ) {
        for open in &standing.open {
            let Item::ToolCall(call) = &open.item else {
                continue;
            };
            let item = Item::ToolCall(call.clone());
            let started = Event::ItemStarted { item };
            in_flight.push(ephemeral(session, self.id, Some(open.id), started));
            if !open.output.is_empty() {
                let printed = Event::ItemDelta {
                    stream: Stream::Output,
                    offset: 0,
                    text: open.output.clone(),
                };
                in_flight.push(ephemeral(session, self.id, Some(open.id), printed));
            }
        }
        for output in &self.outputs {
            let delta = output.unstored();
            in_flight
                .extend(delta.map(|delta| ephemeral(session, self.id, Some(output.item), delta)));
        }
        if let Some(message) = &self.message {
            let said = [text_started(message.kind), message.all()];
            in_flight
                .extend(said.map(|event| ephemeral(session, self.id, Some(message.item), event)));
        }
        for open in &standing.requests {
            let opened = Event::RequestOpened {
                request: open.id,
                body: open.body.clone(),
                digest: open.digest.clone(),
            };
            in_flight.push(ephemeral(session, self.id, open.item, opened));
        }
    }
}

impl Stepping<'_> {
    /// Begins a turn; `keyed` where nothing has recorded its key yet.
    pub(super) fn begin(
        &mut self,
        (id, cause): (TurnId, Option<SubmissionId>),
        input: Vec<Content>,
        keyed: Option<Keyed>,
    ) {
        self.begin_task((id, cause), keyed, None);
        self.prompt(id, input.clone());
        if let Some(text) = input.iter().find_map(Content::as_text) {
            self.title(text, Titler::Prompt);
        }
        let hook = Hook::Prompt {
            input: input.clone(),
        };
        self.raise(None, hook, Waits::Prompt(input));
    }

    /// Makes a turn the active one; `covers` where it is a compaction.
    pub(super) fn begin_task(
        &mut self,
        (id, cause): (TurnId, Option<SubmissionId>),
        keyed: Option<Keyed>,
        covers: Option<Stretch>,
    ) {
        self.core.turn = Some(ActiveTurn {
            id,
            cause,
            phase: Phase::Running,
            covers,
            message: None,
            outputs: Vec::new(),
            steers: Vec::new(),
            barriers: Vec::new(),
            continued: 0,
            used: None,
        });
        // What that changes of the policy is part of what the turn runs with.
        self.record_closings();
        let standing = &self.core.standing;
        let config = TurnConfig {
            agent: self.core.info.id.name.clone(),
            version: self.core.info.id.version.clone(),
            model: None,
            mode: standing.mode.clone(),
            cwd: self.core.cwd.clone(),
            permission: Some(self.core.policy()),
            policy: standing.policy,
        };
        let base = standing.begins_after();
        let started = Event::TurnStarted {
            base,
            config,
            keyed,
        };
        self.record(Some(id), None, started);
    }

    fn prompt(&mut self, turn: TurnId, content: Vec<Content>) {
        let item = Item::UserMessage { content };
        self.record(
            Some(turn),
            Some(prompt_item(turn)),
            Event::ItemEnded { item },
        );
    }

    pub(super) fn is_cancelling(&self) -> bool {
        self.core.is_stopping()
    }

    /// Stops a turn; doing it twice, or with nothing to stop, changes nothing (SQEQ-4).
    pub(super) fn interrupt(&mut self, turn: Option<TurnId>, queued: Queued) {
        if queued == Queued::Cancel {
            self.core
                .doomed
                .extend(self.core.standing.waiting.iter().map(|waiting| waiting.id));
        }
        if let Some(id) = turn.filter(|id| self.turn_id() != Some(*id)) {
            self.end_waiting(|waiting| waiting.id == id);
            return;
        }
        // There is no agent to wait for where a hook is asked between its runs.
        let grace = if self.is_between() {
            Duration::ZERO
        } else {
            INTERRUPT_GRACE
        };
        let deadline = self.now.elapsed + grace;
        let Some(active) = &mut self.core.turn else {
            return;
        };
        if active.phase == Phase::Running {
            active.phase = Phase::Cancelling { deadline };
            // The agent sees the cancellation before its questions are dropped; otherwise it would
            // take the dropped question for a refusal and talk on.
            self.step.urgent.push(Urgent::CancelAgent);
            self.settle_all_asks(ClosedBecause::TurnCancelled);
        }
    }

    /// The second phase of an interrupt (TASK-4): the agent is dropped, and its turn ends when the
    /// last of its tools is gone, or with an unknown outcome when that takes too long.
    pub(super) fn drop_if_overdue(&mut self) {
        let now = self.now.elapsed;
        let Some(active) = &mut self.core.turn else {
            return;
        };
        match active.phase {
            Phase::Cancelling { deadline } if deadline <= now => {
                let deadline = now + REAP_LIMIT;
                active.phase = Phase::Dropped { deadline };
                self.step.urgent.push(Urgent::DropAgent);
            }
            Phase::Dropped { deadline } if deadline <= now => {
                self.step.urgent.push(Urgent::ForgetAgent);
                self.end_open_calls(
                    ToolStatus::Unknown,
                    "Outcome unknown: it could not be stopped in time.",
                );
                self.agent_done(Err(AgentError::failed("the agent did not stop in time")));
            }
            Phase::Running | Phase::Cancelling { .. } | Phase::Dropped { .. } => {}
        }
    }

    pub(super) fn agent_done(&mut self, result: Result<TurnReport, AgentError>) {
        let Some(active) = &mut self.core.turn else {
            return;
        };
        let used = active.used.take();
        if active.covers.is_some() {
            // It may have forgotten what nothing stands for now.
            self.step.urgent.push(Urgent::DropAgent);
        }
        let cancelled = self.is_cancelling();
        let (outcome, stop, usage, error) = match result {
            _ if cancelled => (TurnOutcome::Cancelled, None, None, None),
            Ok(report) => {
                let usage = Usage::in_all(used, report.usage);
                if self.go_on(usage) || self.may_stop(TurnReport { usage, ..report }) {
                    return;
                }
                (TurnOutcome::Completed, Some(report.stop), usage, None)
            }
            Err(failure) => {
                let error = WireError::from(failure);
                (TurnOutcome::Failed, None, None, Some(error))
            }
        };
        self.finish_turn(outcome, stop, usage, error);
    }

    /// Ends the active turn with all that is open in it, and begins what waits.
    pub(super) fn finish_turn(
        &mut self,
        outcome: TurnOutcome,
        stop: Option<Stop>,
        usage: Option<Usage>,
        error: Option<WireError>,
    ) {
        self.wind_up(outcome);
        self.end_turn(outcome, stop, usage, error);
        self.end_doomed();
        self.begin_next();
        self.stop_if_done();
    }

    /// Closes what the agent has left open.
    pub(super) fn wind_up(&mut self, outcome: TurnOutcome) {
        let (end, status, why) = match outcome {
            TurnOutcome::Completed => (
                MessageEnd::Whole,
                ToolStatus::Unknown,
                "The agent told no result of this call.",
            ),
            TurnOutcome::Cancelled => (
                MessageEnd::Cut,
                ToolStatus::Cancelled,
                "Stopped: the turn was cancelled.",
            ),
            _ => (
                MessageEnd::Cut,
                ToolStatus::Failed,
                "Stopped: the turn failed.",
            ),
        };
        self.end_message(end);
        self.settle_all_asks(ClosedBecause::TurnEnded);
        self.end_open_calls(status, why);
    }

    /// Whether the turn goes on: input that was accepted while the agent was coming to its end, and
    /// that it did not take, is not lost.
    pub(super) fn go_on(&mut self, used: Option<Usage>) -> bool {
        let Some(active) = &mut self.core.turn else {
            return false;
        };
        let prompt: Vec<Content> = std::mem::take(&mut active.steers)
            .into_iter()
            .flatten()
            .collect();
        if prompt.is_empty() {
            return false;
        }
        active.used = used;
        let turn = active.id;
        self.wind_up(TurnOutcome::Completed);
        self.push(Effect::StartAgent { turn, prompt });
        true
    }

    fn end_turn(
        &mut self,
        outcome: TurnOutcome,
        stop: Option<Stop>,
        usage: Option<Usage>,
        error: Option<WireError>,
    ) {
        let id = self.turn_id();
        self.record(
            id,
            None,
            Event::TurnEnded(TurnEnded {
                outcome,
                stop,
                usage,
                // It is its own cursor, which it gets when it is appended.
                bookmark: Cursor::START,
                error,
            }),
        );
        self.core.turn = None;
    }

    /// Ends the waiting turns that an interrupt named before the active one ended.
    fn end_doomed(&mut self) {
        let doomed = std::mem::take(&mut self.core.doomed);
        self.end_waiting(|waiting| doomed.contains(&waiting.id));
    }

    pub(super) fn end_waiting(&mut self, which: impl Fn(&WaitingTurn) -> bool) {
        for waiting in self.core.standing.waiting.clone() {
            if !which(&waiting) {
                continue;
            }
            self.prompt(waiting.id, waiting.input);
            let (outcome, stop, usage, error) = (TurnOutcome::Cancelled, None, None, None);
            let ended = TurnEnded {
                outcome,
                stop,
                usage,
                // It is its own cursor, which it gets when it is appended.
                bookmark: Cursor::START,
                error,
            };
            self.record(Some(waiting.id), None, Event::TurnEnded(ended));
        }
    }

    fn begin_next(&mut self) {
        if let Some(next) = self.core.standing.waiting.first().cloned() {
            self.begin((next.id, next.cause), next.input, None);
        }
    }
}
