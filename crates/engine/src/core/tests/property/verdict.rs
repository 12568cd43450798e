//! What a step did, in a form that can be compared, and what must hold of every step.

use sessiond_protocol::{
    Event, EventFrame, Item, Outcome, Receipt, RequestFrame, RequestId, TurnId,
};

use super::{Broken, ensure, model::Model};
use crate::core::{ConnId, Effect, Step, Token, Urgent};

/// What a step did.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Where its records begin.
    pub(super) since: usize,
    pub(super) urgent: Vec<Urgent>,
    pub(super) records: usize,
    pub(super) receipts: Vec<Receipt>,
    pub(super) requests: Vec<(ConnId, RequestFrame)>,
    closed: Vec<(ConnId, RequestId)>,
    pub(super) replies: Vec<(Token, Outcome)>,
    pub(super) refused: Vec<ConnId>,
    /// Agents that are started, and how many blocks their prompts have.
    pub(super) started: Vec<(TurnId, usize)>,
    pub(super) steers: Vec<(Token, usize)>,
    /// What else the agent was told.
    done: Vec<Token>,
    /// Everything but records and events.
    pub(super) others: usize,
}

impl Taken {
    pub(super) fn of(step: &Step, since: usize) -> Self {
        let mut taken = Self {
            since,
            urgent: step.urgent.clone(),
            records: step.append.len(),
            ..Self::default()
        };
        for effect in &step.then {
            taken.others += usize::from(!matches!(effect, Effect::Deliver(_)));
            match effect {
                Effect::Receipt(_, receipt) => taken.receipts.push(receipt.clone()),
                Effect::Request(conn, frame) => taken.requests.push((*conn, frame.clone())),
                Effect::RequestClosed(conn, id) => taken.closed.push((*conn, *id)),
                Effect::Reply(token, outcome) => taken.replies.push((*token, outcome.clone())),
                Effect::Refused(conn, _) => taken.refused.push(*conn),
                Effect::StartAgent { turn, prompt } => taken.started.push((*turn, prompt.len())),
                Effect::Steers(token, steers) => taken.steers.push((*token, steers.len())),
                Effect::Started(token, _)
                | Effect::StartedWith(token, ..)
                | Effect::Denied(token, _)
                | Effect::RecordDone(token) => taken.done.push(*token),
                Effect::Deliver(_)
                | Effect::Steered
                | Effect::Settings
                | Effect::StopCall(_)
                | Effect::Stop => {}
            }
        }
        taken
    }

    /// Whether nothing came of the input.
    pub(super) fn is_nothing(&self) -> bool {
        self.records == 0 && self.urgent.is_empty() && self.others == 0
    }

    /// Takes questions, answers and whatever else the agent waits for into the model.
    pub(super) fn keep(
        &self,
        model: &mut Model,
        (records, asking): (&[EventFrame], Option<Token>),
    ) -> Result<(), Broken> {
        if let Some(token) = asking {
            model.waited.insert(token.0);
        }
        let before: Vec<RequestId> = model.asks.keys().copied().collect();
        for (conn, id) in &self.closed {
            // What is asked and settled in one step was never open.
            ensure!(
                before.contains(id),
                "a request is settled before it was asked"
            );
            let asked = model.settled(*conn, *id)?;
            let closed = records.iter().find_map(|frame| match &frame.event {
                Event::RequestClosed {
                    request, refused, ..
                } if request == id => Some(*refused),
                _ => None,
            });
            let expected = asked.frame.body.is_durable().then_some(asked.refused());
            ensure!(closed == expected, "its record says {closed:?} of it");
            model.reasked.push(asked);
        }
        for (token, _) in &self.replies {
            let waited = model.waited.remove(&token.0);
            ensure!(waited, "a question of the agent is answered once");
            model.reasked.retain(|asked| asked.token != *token);
        }
        for (conn, frame) in &self.requests {
            model.asked((*conn, frame), asking)?;
        }
        ensure!(model.reasked.is_empty(), "a question is dropped");
        Ok(())
    }

    /// Whether the agent was told that what it waits for is recorded.
    pub(super) fn told(&self, token: Token) -> bool {
        self.done == [token]
    }
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
