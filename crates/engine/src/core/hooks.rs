//! Hooks: the controlling client has a say before a prompt, before and after a tool call, and before
//! the end of a turn. Nothing of what a hook is about happens before its answer is on stable storage.

use sessiond_protocol::{
    Content, ErrorCode, Event, Hook, Item, ItemId, Outcome, RequestBody, RequestKind, Stop,
    ToolCall, ToolContent, ToolStatus, TurnOutcome, WireError, limits,
};

use super::{Cause, Effect, Stepping, Token};
use crate::agent::TurnReport;

/// What waits for the settlement of a request.
#[derive(Debug)]
pub(super) enum Waits {
    /// The agent, for what it asked.
    Agent(Token),
    /// Whoever asked a server of the client, for the receipt.
    Caller(Cause),
    /// A prompt, for the agent to get it.
    Prompt(Vec<Content>),
    /// A call, for it to run.
    Call(Token, ItemId, Box<ToolCall>),
    /// What the agent does after a call.
    AfterCall,
    /// The end of the turn.
    Stop(TurnReport),
}

impl Waits {
    /// Whether no agent runs while it waits.
    fn is_between(&self) -> bool {
        matches!(self, Waits::Prompt(_) | Waits::Stop(_))
    }
}

impl Stepping<'_> {
    /// Lets the client have its say, if it wants one; what waits goes on otherwise.
    pub(super) fn raise(&mut self, item: Option<ItemId>, hook: Hook, waits: Waits) {
        let answers = self.core.answers(RequestKind::Hook) && !self.is_cancelling();
        match (self.turn_id(), self.controller_conn()) {
            (Some(turn), Some(conn)) if answers => {
                self.open_ask((turn, Some(conn)), item, (RequestBody::Hook(hook), waits));
            }
            _ => self.hooked(waits, Outcome::Passed),
        }
    }

    /// Goes on with what waited. Whatever is no clear word is no opinion.
    pub(super) fn hooked(&mut self, waits: Waits, outcome: Outcome) {
        match waits {
            Waits::Agent(token) => self.push(Effect::Reply(token, outcome)),
            Waits::Caller(cause) => self.call_settled(&cause, outcome),
            // Nothing begins any more: the turn ends as cancelled.
            Waits::Prompt(_) | Waits::Stop(_) if self.is_cancelling() => {}
            Waits::Prompt(input) => self.prompted(input, outcome),
            Waits::Call(token, item, call) => self.call_decided((token, item), call, outcome),
            Waits::AfterCall => self.after_call(outcome),
            Waits::Stop(report) => self.stop_decided(report, outcome),
        }
    }

    fn prompted(&mut self, input: Vec<Content>, outcome: Outcome) {
        let Some(turn) = self.turn_id() else { return };
        let prompt = match outcome {
            Outcome::Denied { reason } => {
                let error = WireError::new(ErrorCode::Refused, reason);
                let (outcome, stop) = (TurnOutcome::Failed, Some(Stop::Refusal));
                return self.finish_turn(outcome, stop, None, Some(error));
            }
            Outcome::Changed { input: changed } => content(&changed).unwrap_or(input),
            _ => input,
        };
        self.push(Effect::StartAgent { turn, prompt });
    }

    fn call_decided(
        &mut self,
        (token, item): (Token, ItemId),
        mut call: Box<ToolCall>,
        outcome: Outcome,
    ) {
        let turn = self.turn_id();
        match outcome {
            Outcome::Cancelled if self.is_cancelling() => {
                let reason = "the turn was cancelled".to_owned();
                self.deny((token, item), call, (ToolStatus::Cancelled, reason));
            }
            Outcome::Denied { reason } => {
                self.deny((token, item), call, (ToolStatus::Failed, reason));
            }
            Outcome::Changed { input } => {
                call.input.clone_from(&input);
                self.record(turn, Some(item), Event::ItemChanged { call });
                self.push(Effect::StartedWith(token, item, input));
            }
            _ => self.push(Effect::Started(token, item)),
        }
    }

    /// A call that does not run ends here; its agent is told so.
    fn deny(
        &mut self,
        (token, item): (Token, ItemId),
        mut call: Box<ToolCall>,
        (status, reason): (ToolStatus, String),
    ) {
        call.status = status;
        call.content
            .push(ToolContent::text(format!("Not run: {reason}")));
        let item_ = Item::ToolCall(call);
        self.record(self.turn_id(), Some(item), Event::ItemEnded { item: item_ });
        self.push(Effect::Denied(token, reason));
    }

    fn after_call(&mut self, outcome: Outcome) {
        if let Outcome::Denied { reason } = outcome
            && let Some(turn) = &mut self.core.turn
        {
            turn.steers.push(vec![Content::text(reason)]);
            self.push(Effect::Steered);
        }
        if self.core.is_after_call() {
            return;
        }
        let waiting = self.core.turn.as_mut().map(|turn| &mut turn.barriers);
        for token in waiting.map(std::mem::take).unwrap_or_default() {
            self.push(Effect::RecordDone(token));
        }
    }

    /// The agent waits until nobody has a say any more about the calls that it has ended.
    pub(super) fn after_calls(&mut self, token: Token) {
        let after = self.core.is_after_call();
        match &mut self.core.turn {
            Some(turn) if after => turn.barriers.push(token),
            _ => self.push(Effect::RecordDone(token)),
        }
    }

    /// Before a turn ends well. Whether its end waits for that.
    pub(super) fn may_stop(&mut self, report: TurnReport) -> bool {
        let continued = self.core.turn.as_ref().map_or(0, |turn| turn.continued);
        if continued >= limits::CONTINUATIONS
            || self.is_cancelling()
            || !self.core.answers(RequestKind::Hook)
        {
            return false;
        }
        let stop = report.stop;
        self.wind_up(TurnOutcome::Completed);
        self.raise(None, Hook::Stop { stop, continued }, Waits::Stop(report));
        true
    }

    fn stop_decided(&mut self, report: TurnReport, outcome: Outcome) {
        let Some(active) = &mut self.core.turn else {
            return;
        };
        if let Outcome::Denied { reason } = outcome {
            active.continued += 1;
            // What was added to the turn meanwhile comes with it.
            active.steers.insert(0, vec![Content::text(reason)]);
        }
        if !self.go_on(report.usage) {
            let outcome = TurnOutcome::Completed;
            self.finish_turn(outcome, Some(report.stop), report.usage, None);
        }
    }

    /// Whether the turn waits for a hook and no agent runs.
    pub(super) fn is_between(&self) -> bool {
        self.core.asks.values().any(|ask| ask.waits.is_between())
    }
}

/// Whether an answer fits a hook.
pub(super) fn fits(hook: &Hook, outcome: &Outcome) -> bool {
    match (hook, outcome) {
        (_, Outcome::Passed | Outcome::Denied { .. }) => true,
        (Hook::Prompt { .. }, Outcome::Changed { input }) => content(input).is_some(),
        (Hook::BeforeTool { .. }, Outcome::Changed { .. }) => true,
        _ => false,
    }
}

/// A prompt out of an answer; an empty one is none.
fn content(input: &serde_json::Value) -> Option<Vec<Content>> {
    let content: Option<Vec<Content>> = serde::Deserialize::deserialize(input).ok();
    content.filter(|content| !content.is_empty())
}
