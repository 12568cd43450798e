//! What a step did, in a form that can be compared, and what must hold of every step.

use std::time::Duration;

use sessiond_protocol::{
    Event, EventFrame, Item, ItemId, Outcome, Receipt, RequestFrame, RequestId, TurnId,
};

use super::{Broken, ensure, hooks::Waits, model::Model};
use crate::core::{ConnId, Effect, Step, Sync, Token, Urgent};

/// What an agent is told of a call that it has announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Run,
    /// With another input.
    RunWith,
    Denied,
}

/// What was around a step.
#[derive(Debug)]
pub(super) struct Around<'a> {
    /// What it recorded.
    pub(super) records: &'a [EventFrame],
    /// What the agent waits with for an answer.
    pub(super) asking: Option<Token>,
    pub(super) now: Duration,
    /// Whether the active turn was being stopped.
    pub(super) stopping: bool,
    /// Inputs that the agent had not taken.
    pub(super) steers: usize,
}

/// What a step did.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Where its records begin.
    pub(super) since: usize,
    pub(super) urgent: Vec<Urgent>,
    pub(super) sync: Sync,
    pub(super) records: usize,
    pub(super) receipts: Vec<Receipt>,
    pub(super) requests: Vec<(ConnId, RequestFrame)>,
    closed: Vec<(ConnId, RequestId)>,
    pub(super) replies: Vec<(Token, Outcome)>,
    pub(super) refused: Vec<ConnId>,
    /// Agents that are started, and how many blocks their prompts have.
    pub(super) started: Vec<(TurnId, usize)>,
    /// Compactions that are started.
    pub(super) compacted: Vec<TurnId>,
    pub(super) steers: Vec<(Token, usize)>,
    /// What the agent was told of calls.
    pub(super) calls: Vec<(Token, Told)>,
    /// What else the agent was told.
    done: Vec<Token>,
    /// Calls that are told to stop, and how many questions were answered before that.
    pub(super) stops: Vec<(ItemId, usize)>,
    /// How often the agent is told what is in force.
    pub(super) settings: usize,
    /// Whether the session may be let go.
    pub(super) stop: bool,
    /// Everything but records and events.
    pub(super) others: usize,
}

impl Taken {
    pub(super) fn of(step: &Step, since: usize) -> Self {
        let mut taken = Self {
            since,
            urgent: step.urgent.clone(),
            sync: step.sync,
            records: step.append.len(),
            ..Self::default()
        };
        for effect in &step.then {
            taken.others += usize::from(!matches!(effect, Effect::Deliver(_)));
            match effect {
                Effect::Receipt(_, receipt) => taken.receipts.push(receipt.clone()),
                Effect::Request(conn, frame) => taken.requests.push((*conn, frame.clone())),
                Effect::RequestClosed(conn, id, _) => taken.closed.push((*conn, *id)),
                Effect::Reply(token, outcome) => taken.replies.push((*token, outcome.clone())),
                Effect::Refused(conn, _) => taken.refused.push(*conn),
                Effect::StartAgent { turn, prompt } => taken.started.push((*turn, prompt.len())),
                Effect::StartCompaction { turn } => taken.compacted.push(*turn),
                Effect::Steers(token, steers) => taken.steers.push((*token, steers.len())),
                Effect::Started(token, _) => taken.calls.push((*token, Told::Run)),
                Effect::StartedWith(token, ..) => taken.calls.push((*token, Told::RunWith)),
                Effect::Denied(token, _) => taken.calls.push((*token, Told::Denied)),
                Effect::RecordDone(token) => taken.done.push(*token),
                Effect::Stop => taken.stop = true,
                Effect::StopCall(item) => taken.stops.push((*item, taken.replies.len())),
                Effect::Settings => taken.settings += 1,
                Effect::Deliver(_) | Effect::Steered => {}
            }
        }
        taken
    }

    /// Whether nothing came of the input.
    pub(super) fn is_nothing(&self) -> bool {
        self.records == 0 && self.urgent.is_empty() && self.others == 0
    }

    /// Takes questions, answers and whatever else the agent waits for into the model.
    pub(super) fn keep(&self, model: &mut Model, around: &Around<'_>) -> Result<(), Broken> {
        self.settle(model, around)?;
        for (token, _) in &self.replies {
            let waited = model.waited.remove(&token.0);
            let now = around.asking == Some(*token);
            ensure!(waited || now, "a question of the agent is answered once");
            let waits = Waits::Agent(*token);
            model.reasked.retain(|asked| asked.waits != waits);
        }
        let calls = self.calls.iter().map(|(token, _)| token);
        for token in calls.chain(&self.done) {
            model.waited.remove(&token.0);
            model.barriers.remove(&token.0);
        }
        for (conn, frame) in &self.requests {
            let limit = frame.deadline.is_some();
            let hook = frame.body.kind() == sessiond_protocol::RequestKind::Hook;
            ensure!(limit == hook, "hooks have a deadline, and nothing else");
            model.asked((Some(*conn), frame), around)?;
        }
        for frame in around.records {
            if let Some(frame) = waiting(frame)
                && !model.asks.contains_key(&frame.id)
                && !self.is_settled_at_once(frame.id, around)
            {
                model.asked((None, &frame), around)?;
            }
        }
        ensure!(model.reasked.is_empty(), "a question is dropped");
        self.hooks_agree(model, around.records)?;
        model.asks_agree()
    }

    /// Whether a request was opened and closed by the same step.
    fn is_settled_at_once(&self, id: RequestId, around: &Around<'_>) -> bool {
        let closes = |frame: &EventFrame| matches!(&frame.event, Event::RequestClosed { request, .. } if *request == id);
        around.records.iter().any(closes)
    }

    /// What was open and is so no more.
    fn settle(&self, model: &mut Model, around: &Around<'_>) -> Result<(), Broken> {
        let told = self.closed.iter().map(|(conn, id)| (Some(*conn), *id));
        // Nobody is told of the end of what waited for somebody; its record says it.
        let untold = around
            .records
            .iter()
            .filter_map(|frame| match &frame.event {
                Event::RequestClosed { request, .. } => {
                    let asked = model.asks.get(request)?;
                    asked.conn.is_none().then_some((None, *request))
                }
                _ => None,
            });
        let ends: Vec<_> = told.chain(untold).collect();
        for (conn, id) in ends {
            // What is asked and settled in one step was never open.
            ensure!(
                model.asks.contains_key(&id),
                "a request is settled before it was asked"
            );
            let asked = model.settled(conn, id)?;
            let closed = around.records.iter().find_map(|frame| match &frame.event {
                Event::RequestClosed {
                    request, refused, ..
                } if *request == id => Some(*refused),
                _ => None,
            });
            let expected = asked.frame.body.is_durable().then_some(asked.refused());
            ensure!(closed == expected, "its record says {closed:?} of it");
            match asked.waits {
                Waits::Agent(_) => model.reasked.push(asked),
                _ => self.hook_settled(model, &asked, around)?,
            }
        }
        Ok(())
    }

    /// Whether the agent was told that what it waits for is recorded, or that its call may run.
    pub(super) fn told(&self, token: Token) -> bool {
        self.done == [token] && self.calls.is_empty()
            || self.done.is_empty() && self.calls == [(token, Told::Run)]
    }
}

/// A request as its record opens it.
fn waiting(frame: &EventFrame) -> Option<RequestFrame> {
    let Event::RequestOpened {
        request,
        body,
        digest,
    } = &frame.event
    else {
        return None;
    };
    Some(RequestFrame {
        id: *request,
        session: frame.session,
        turn: frame.turn?,
        item: frame.item,
        body: body.clone(),
        digest: digest.clone(),
        deadline: None,
    })
}

/// What must be on stable storage before anything depends on it (contract.md "written when").
pub(super) fn must_sync(frame: &EventFrame) -> bool {
    match &frame.event {
        Event::ItemStarted { item } => matches!(item, Item::ToolCall(_)),
        Event::SessionOpened(_)
        | Event::SessionClosed {}
        | Event::TurnStarted { .. }
        | Event::TurnEnded(_)
        | Event::RequestOpened { .. }
        | Event::RequestClosed { .. }
        | Event::Marker(_) => true,
        _ => false,
    }
}
