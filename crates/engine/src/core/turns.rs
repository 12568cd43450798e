//! Turns: at most one is active (SQEQ-2), each ends exactly once, after all else of it (SQEQ-3).

use std::time::Duration;

use sessiond_protocol::{
    Accepted, Content, ErrorCode, Event, EventFrame, IfBusy, Item, ItemKind, Queued, SessionId,
    Stop, SubmissionId, Titler, ToolStatus, TurnConfig, TurnEnded, TurnId, TurnOutcome,
    WaitingTurn, WireError, limits, prompt_item,
};

use super::{
    Cause, Effect, INTERRUPT_GRACE, Stepping, Urgent,
    stream::{Growing, MessageEnd, ephemeral, text_started},
};
use crate::agent::{AgentError, TurnReport};

/// The active turn.
#[derive(Debug)]
pub(super) struct ActiveTurn {
    pub(super) id: TurnId,
    pub(super) cause: Option<SubmissionId>,
    pub(super) phase: Phase,
    /// The message that streams.
    pub(super) message: Option<Growing>,
    /// The tool output that streams.
    pub(super) outputs: Vec<Growing>,
}

/// How far the active turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    /// The agent was told to stop; at the deadline it is dropped.
    Cancelling {
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
            Phase::Cancelling { deadline } => Some(deadline),
        };
        growing.chain(cancelling).min()
    }

    /// What is in flight, for a client that attaches now.
    pub(super) fn snapshot(&self, session: SessionId, snapshot: &mut Vec<EventFrame>) {
        for growing in self.message.iter().chain(&self.outputs) {
            if growing.kind != ItemKind::ToolCall {
                let started = text_started(growing.kind);
                snapshot.push(ephemeral(session, self.id, growing.item, started));
            }
            if let Some(delta) = growing.unstored() {
                snapshot.push(ephemeral(session, self.id, growing.item, delta));
            }
        }
    }
}

impl Stepping<'_> {
    pub(super) fn turn_start(&mut self, cause: Cause, input: Vec<Content>, if_busy: IfBusy) {
        if self.core.closing.is_some() {
            let error = WireError::new(ErrorCode::NotFound, "the session is being closed");
            return self.reject(&cause, error);
        }
        if input.is_empty() {
            let error = WireError::new(ErrorCode::Invalid, "a turn needs input");
            return self.reject(&cause, error);
        }
        let Some(active) = self.turn_id() else {
            let turn = self.mint.turn();
            self.accept(&cause, Accepted::Turn { turn });
            return self.begin(turn, Some(cause.id), input);
        };
        match if_busy {
            IfBusy::Reject => {
                let message = "a turn is active; interrupt it, or submit with if_busy queue";
                let mut error = WireError::new(ErrorCode::TurnActive, message);
                error.turn = Some(active);
                self.reject(&cause, error);
            }
            IfBusy::Queue if self.core.standing.waiting.len() >= limits::QUEUED_TURNS => {
                let message = format!("{} prompts wait already", limits::QUEUED_TURNS);
                self.reject(&cause, WireError::new(ErrorCode::QueueFull, message));
            }
            IfBusy::Queue => self.queue(cause, input),
        }
    }

    fn queue(&mut self, cause: Cause, input: Vec<Content>) {
        let turn = self.mint.turn();
        self.accept(&cause, Accepted::Turn { turn });
        let event = Event::TurnQueued { input };
        let session = self.core.session;
        let (turn, cause) = (Some(turn), Some(cause.id));
        let frame = EventFrame {
            session,
            cursor: None,
            turn,
            item: None,
            cause,
            at: None,
            event,
        };
        self.append(frame);
    }

    fn begin(&mut self, id: TurnId, cause: Option<SubmissionId>, input: Vec<Content>) {
        let phase = Phase::Running;
        let (message, outputs) = (None, Vec::new());
        self.core.turn = Some(ActiveTurn {
            id,
            cause,
            phase,
            message,
            outputs,
        });
        let standing = &self.core.standing;
        let config = TurnConfig {
            agent: self.core.info.id.name.clone(),
            version: self.core.info.id.version.clone(),
            model: None,
            mode: standing.mode.clone(),
            cwd: self.core.cwd.clone(),
            policy: standing.policy,
        };
        let base = standing.base;
        self.record(Some(id), None, Event::TurnStarted { base, config });
        self.prompt(id, input.clone());
        if let Some(text) = input.iter().find_map(Content::as_text) {
            self.title(text, Titler::Prompt);
        }
        self.push(Effect::StartAgent { prompt: input });
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
        let phase = self.core.turn.as_ref().map(|turn| turn.phase);
        matches!(phase, Some(Phase::Cancelling { .. }))
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
        let deadline = self.now.elapsed + INTERRUPT_GRACE;
        let Some(active) = &mut self.core.turn else {
            return;
        };
        if active.phase == Phase::Running {
            active.phase = Phase::Cancelling { deadline };
            // The agent sees the cancellation before its questions are dropped; otherwise it would
            // take the dropped question for a refusal and talk on.
            self.step.urgent.push(Urgent::CancelAgent);
            self.settle_all_asks();
        }
    }

    pub(super) fn drop_if_overdue(&mut self) {
        let phase = self.core.turn.as_ref().map(|turn| turn.phase);
        if let Some(Phase::Cancelling { deadline }) = phase
            && deadline <= self.now.elapsed
        {
            self.step.urgent.push(Urgent::DropAgent);
            self.agent_done(Err(AgentError::failed("the agent did not stop in time")));
        }
    }

    pub(super) fn agent_done(&mut self, result: Result<TurnReport, AgentError>) {
        if self.core.turn.is_none() {
            return;
        }
        let cancelled = self.is_cancelling();
        let (outcome, stop, usage, error) = match result {
            _ if cancelled => (TurnOutcome::Cancelled, None, None, None),
            Ok(report) => (
                TurnOutcome::Completed,
                Some(report.stop),
                report.usage,
                None,
            ),
            Err(failure) => {
                let error = WireError::new(failure.code, failure.message);
                (TurnOutcome::Failed, None, None, Some(error))
            }
        };
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
        self.settle_all_asks();
        self.end_open_calls(status, why);
        self.end_turn(outcome, stop, usage, error);
        self.end_doomed();
        self.begin_next();
        self.stop_if_done();
    }

    fn end_turn(
        &mut self,
        outcome: TurnOutcome,
        stop: Option<Stop>,
        usage: Option<sessiond_protocol::Usage>,
        error: Option<WireError>,
    ) {
        let id = self.turn_id();
        let bookmark = self.core.standing.cursor.next();
        self.record(
            id,
            None,
            Event::TurnEnded(TurnEnded {
                outcome,
                stop,
                usage,
                bookmark,
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

    fn end_waiting(&mut self, which: impl Fn(&WaitingTurn) -> bool) {
        for waiting in self.core.standing.waiting.clone() {
            if !which(&waiting) {
                continue;
            }
            self.prompt(waiting.id, waiting.input);
            let bookmark = self.core.standing.cursor.next();
            let (outcome, stop, usage, error) = (TurnOutcome::Cancelled, None, None, None);
            let ended = TurnEnded {
                outcome,
                stop,
                usage,
                bookmark,
                error,
            };
            self.record(Some(waiting.id), None, Event::TurnEnded(ended));
        }
    }

    fn begin_next(&mut self) {
        if let Some(next) = self.core.standing.waiting.first().cloned() {
            self.begin(next.id, next.cause, next.input);
        }
    }
}
