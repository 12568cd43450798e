//! Prompts: when they become part of the conversation, and how they are taken back.

use agent_client_protocol_schema::v2::{CancelSessionNotification, PromptResponse};
use serde_json::value::RawValue;
use sessiond_protocol::{
    Content, IfBusy, Op, Queued, SessionId, TurnEnded, TurnId, TurnOutcome, TurnStage, prompt_item,
};
use sessiond_wire::rpc::{ErrorObject, RawId, cancelled_id};

use super::awaited::{Awaited, Wish};
use super::face::Face;
use super::session::Session;
use super::state::{Idle, failure};
use super::{params, replay};
use crate::compaction;
use crate::params::read;
use crate::refusal::request_cancelled;

impl Face {
    /// A prompt while a turn runs waits its turn, and for its answer as long.
    pub(super) fn prompt(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked = params::prompt(params)?;
        let (session, state) = self.active(&asked.session_id)?;
        if compaction::is_asked(&asked.prompt, &state.commands) {
            let awaited = Awaited::Compact {
                id: id.clone(),
                session,
                prompt: asked.prompt,
                wish: Wish::Run,
            };
            return self.submit(awaited, Some(session), Op::SessionCompact {});
        }
        let op = Op::TurnStart {
            input: asked.prompt,
            if_busy: IfBusy::Queue,
            idempotency_key: asked.key,
        };
        let awaited = Awaited::Prompt {
            id: id.clone(),
            session,
            wish: Wish::Run,
        };
        self.submit(awaited, Some(session), op)
    }

    /// `session/cancel`: the active turn and those that wait. Idle or unknown sessions are passed
    /// over in silence (SQEQ-4).
    pub(super) fn cancel(&mut self, params: &RawValue) {
        let Ok(asked) = read::<CancelSessionNotification>(Some(params)) else {
            return;
        };
        if let Ok((session, _)) = self.active(&asked.session_id.0) {
            self.interrupt(session, (None, Queued::Cancel));
        }
    }

    /// The process is to end: what runs and waits here is stopped, and told by its end.
    pub(crate) fn stop_all(&mut self) {
        let sessions: Vec<SessionId> = self.sessions.keys().copied().collect();
        for session in sessions {
            self.interrupt(session, (None, Queued::Cancel));
        }
    }

    /// Whether a prompt has no answer yet, or its turn was not told to be over.
    pub(crate) fn has_prompts(&self) -> bool {
        let is_prompt =
            |awaited: &Awaited| matches!(awaited, Awaited::Prompt { .. } | Awaited::Compact { .. });
        let goes_on = |state: &Session| state.turn.is_some() || !state.prompts.is_empty();
        self.submissions.awaited().any(is_prompt) || self.sessions.values().any(goes_on)
    }

    /// `$/cancel_request`: of a prompt that waits, only that; of what goes to the agent, that is told
    /// so. Other requests answer by themselves.
    pub(super) fn cancel_request(&mut self, params: &RawValue) {
        let Some(asked) = cancelled_id(params) else {
            return;
        };
        let turn = self.sessions.iter().find_map(|(session, state)| {
            let of = |(turn, ids): (&TurnId, &Vec<RawId>)| ids.contains(&asked).then_some(*turn);
            Some((*session, state.prompts.iter().find_map(of)?))
        });
        if let Some((session, turn)) = turn {
            return self.interrupt(session, (Some(turn), Queued::Keep));
        }
        for awaited in self.submissions.awaited_mut() {
            if let Awaited::Prompt { id, wish, .. } | Awaited::Compact { id, wish, .. } = awaited
                && *id == asked
            {
                *wish = Wish::Cancel;
            }
        }
        self.submissions.withdraw(|awaited| match awaited {
            Awaited::Extension { id, wish, .. } if *id == asked => {
                *wish = Wish::Cancel;
                true
            }
            _ => false,
        });
    }

    /// A prompt has its turn: its message will be the turn's first.
    pub(super) fn turn_named(
        &mut self,
        (id, wish): (RawId, Wish),
        session: SessionId,
        (turn, stage): (TurnId, TurnStage),
    ) {
        if stage == TurnStage::Begun {
            return self.inserted(&id, turn);
        }
        let Some(state) = self.sessions.get_mut(&session) else {
            return self.client.fail(&id, &request_cancelled());
        };
        state.prompts.entry(turn).or_default().push(id);
        if wish == Wish::Cancel {
            self.interrupt(session, (Some(turn), Queued::Keep));
        }
    }

    /// A compaction has its turn. No log keeps the command: it is shown now, and in no replay.
    pub(super) fn compacts(
        &mut self,
        (id, wish): (&RawId, Wish),
        session: SessionId,
        (turn, prompt): (TurnId, &[Content]),
    ) {
        if !self.sessions.contains_key(&session) {
            return self.client.fail(id, &request_cancelled());
        }
        replay::say(&self.client, (session, prompt_item(turn)), prompt);
        self.inserted(id, turn);
        if wish == Wish::Cancel {
            self.interrupt(session, (Some(turn), Queued::Keep));
        }
    }

    /// The user said something: it is shown, and if it is a turn's prompt its request is answered.
    /// That of a turn which never began is not shown.
    pub(super) fn said(
        &mut self,
        session: SessionId,
        turn: Option<TurnId>,
        (item, content): (sessiond_protocol::ItemId, &[Content]),
    ) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let Some(turn) = turn.filter(|turn| state.turn == Some(*turn)) else {
            return;
        };
        replay::say(&self.client, (session, item), content);
        if item == prompt_item(turn) {
            for id in state.prompts.remove(&turn).unwrap_or_default() {
                self.inserted(&id, turn);
            }
        }
    }

    /// The active turn, or one that waited, is over.
    pub(super) fn turn_ended(&mut self, session: SessionId, turn: TurnId, ended: &TurnEnded) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let refused = match ended.outcome {
            TurnOutcome::Cancelled => request_cancelled(),
            _ => failure(ended, session),
        };
        for id in state.prompts.remove(&turn).unwrap_or_default() {
            self.client.fail(&id, &refused);
        }
        if state.turn == Some(turn) {
            state.end(&self.client, session, Idle::after(ended, session));
        }
    }

    fn inserted(&mut self, id: &RawId, turn: TurnId) {
        let message = prompt_item(turn).to_string();
        self.client.answer(id, &PromptResponse::new(message));
    }
}
