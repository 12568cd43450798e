//! Prompts: their turns, their one answer, and how they are stopped.

use agent_client_protocol_schema::v1::{
    CancelNotification, PromptResponse, StopReason, Usage as AcpUsage,
};
use serde_json::value::RawValue;
use sessiond_protocol::{
    IfBusy, Op, Queued, SessionId, Stop, TurnEnded, TurnId, TurnOutcome, Usage,
};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, RawId, cancelled_id, error};

use crate::awaited::{Awaited, Purpose, Wish};
use crate::compaction;
use crate::face::Face;
use crate::params;
use crate::refusal::from_waist;

impl Face {
    /// A prompt while a turn runs waits its turn (acp.md 5.14).
    pub(crate) fn prompt(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked = params::prompt(params)?;
        let (session, state) = self.active(&asked.session_id)?;
        let op = if compaction::is_asked(&asked.prompt, &state.commands) {
            Op::SessionCompact {}
        } else {
            Op::TurnStart {
                input: asked.prompt,
                if_busy: IfBusy::Queue,
                idempotency_key: None,
            }
        };
        let awaited = Awaited::about(session, id, Purpose::Prompt(Wish::Run));
        self.submit(awaited, Some(session), op)
    }

    /// `session/cancel`: the active turn and those that wait. Idle or unknown sessions are passed
    /// over in silence (SQEQ-4).
    pub(crate) fn cancel(&mut self, params: &RawValue) {
        let Ok(asked) = params::read::<CancelNotification>(Some(params)) else {
            return;
        };
        if let Ok((session, _)) = self.active(&asked.session_id.0) {
            self.interrupt(session, (None, Queued::Cancel));
        }
    }

    /// The process is to end: what runs and waits here is stopped, and answered by its end.
    pub(crate) fn stop_all(&mut self) {
        let sessions: Vec<SessionId> = self.sessions.keys().copied().collect();
        for session in sessions {
            self.interrupt(session, (None, Queued::Cancel));
        }
    }

    /// Whether a prompt has no answer yet.
    pub(crate) fn has_prompts(&self) -> bool {
        let mut awaited = self.submissions.awaited();
        let is_prompt = |awaited: &Awaited| matches!(awaited.purpose, Purpose::Prompt(_));
        awaited.any(is_prompt) || self.sessions.values().any(|it| !it.turns.is_empty())
    }

    /// `$/cancel_request`: of a prompt, only its own turn; of what goes to the agent, that is told so.
    /// Other requests answer by themselves.
    pub(crate) fn cancel_request(&mut self, params: &RawValue) {
        let Some(asked) = cancelled_id(params) else {
            return;
        };
        let turn = self.sessions.iter().find_map(|(session, state)| {
            let turn = state.turns.iter().find(|(_, prompt)| **prompt == asked);
            turn.map(|(turn, _)| (*session, *turn))
        });
        if let Some((session, turn)) = turn {
            return self.interrupt(session, (Some(turn), Queued::Keep));
        }
        for awaited in self.submissions.awaited_mut() {
            if awaited.request.as_ref() == Some(&asked)
                && let Purpose::Prompt(wish) = &mut awaited.purpose
            {
                *wish = Wish::Cancel;
            }
        }
        self.submissions.withdraw(|awaited| {
            let is_it = awaited.request.as_ref() == Some(&asked);
            if let Purpose::Extension(wish) = &mut awaited.purpose
                && is_it
            {
                *wish = Wish::Cancel;
                return true;
            }
            false
        });
    }

    /// Answers the prompt of a turn, after all updates of the turn (acp.md 5.1).
    pub(crate) fn turn_ended(&mut self, session: SessionId, turn: TurnId, ended: &TurnEnded) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let Some(id) = state.turns.remove(&turn) else {
            return;
        };
        state.live.turn_ended(&self.client, session, turn);
        match answer(ended, session) {
            Ok(stop) => {
                let usage = ended.usage.as_ref().map(usage);
                let response = PromptResponse::new(stop).usage(usage);
                self.client.answer(&id, &response);
            }
            Err(error) => self.client.fail(&id, &error),
        }
    }
}

/// What the end of a turn is to its prompt. A cancelled one is never an error.
fn answer(ended: &TurnEnded, session: SessionId) -> Result<StopReason, ErrorObject> {
    match ended.outcome {
        TurnOutcome::Completed => Ok(match ended.stop {
            None | Some(Stop::EndTurn) => StopReason::EndTurn,
            Some(Stop::MaxTokens) => StopReason::MaxTokens,
            Some(Stop::MaxRequests) => StopReason::MaxTurnRequests,
            Some(Stop::Refusal) => StopReason::Refusal,
        }),
        TurnOutcome::Cancelled => Ok(StopReason::Cancelled),
        TurnOutcome::Failed | TurnOutcome::Interrupted | TurnOutcome::NotRun => {
            Err(match &ended.error {
                Some(failed) => from_waist(failed, &session.to_string()),
                None => error(INTERNAL_ERROR, "The turn failed"),
            })
        }
    }
}

/// What was used in the turn. The sum counts each kind, as the agent counts them.
fn usage(used: &Usage) -> AcpUsage {
    AcpUsage::new(total(used), used.input, used.output)
        .thought_tokens(used.thought)
        .cached_read_tokens(used.cached_read)
        .cached_write_tokens(used.cached_write)
}

/// All tokens of a turn, of every kind.
pub(crate) fn total(used: &Usage) -> u64 {
    let others = [used.thought, used.cached_read, used.cached_write];
    others
        .into_iter()
        .flatten()
        .chain([used.input, used.output])
        .fold(0, u64::saturating_add)
}
