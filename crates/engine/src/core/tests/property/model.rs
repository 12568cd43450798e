//! The model: what a session that keeps its rules would do, as far as its client can tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sessiond_protocol::{
    Event, EventFrame, GrantEffect, Marker, OnDisconnect, Outcome, PermissionKind, RequestBody,
    RequestFrame, RequestId, RequestKind, SubmissionId, TurnId, TurnOutcome,
};

use super::{Broken, act::Place, ensure};
use crate::core::{ConnId, Token};

/// Who controls the session.
#[derive(Debug, Clone)]
pub(super) struct Controller {
    pub(super) conn: ConnId,
    pub(super) on_disconnect: OnDisconnect,
    pub(super) answers: Vec<RequestKind>,
}

/// How a turn was promised to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// It is on stable storage.
    Begun,
    /// It is written.
    Queued,
}

/// A key, what came under it, and the record that says so.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) key: u8,
    pub(super) text: u8,
    pub(super) turn: TurnId,
    pub(super) cursor: u64,
}

/// A question that is open.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) token: Token,
    pub(super) conn: ConnId,
    pub(super) frame: RequestFrame,
    /// The policy it was asked under.
    policy: u64,
    refused: u64,
}

/// What becomes of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    Reply(Outcome),
    Ask(ConnId),
}

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) controller: Option<Controller>,
    /// Since when the active turn is being stopped.
    pub(super) stopping: Option<Duration>,
    /// Inputs that the agent has not taken.
    pub(super) steers: usize,
    /// Turns that wait and must not begin.
    pub(super) doomed: BTreeSet<TurnId>,
    /// Turns that wait and end now.
    pub(super) named: BTreeSet<TurnId>,
    /// How the agent said that its turn ended, while that is dealt with.
    pub(super) agent_ended: Option<TurnOutcome>,
    /// Closes that wait.
    pub(super) closing: Vec<SubmissionId>,
    /// The session was let go.
    pub(super) closed: bool,
    pub(super) keys: Vec<Key>,
    pub(super) promised: BTreeMap<TurnId, Promise>,
    mode: String,
    grants: Vec<(String, GrantEffect)>,
    policy: u64,
    pub(super) asks: BTreeMap<RequestId, Asked>,
    /// Settled without a word to the agent: they are asked anew.
    pub(super) reasked: Vec<Asked>,
    /// What the agent waits for.
    pub(super) waited: BTreeSet<u64>,
}

impl Model {
    /// The model of a process that begins with these records.
    pub(super) fn reborn(&mut self, log: &[EventFrame]) {
        let survive = log.len() as u64;
        let mut keys = std::mem::take(&mut self.keys);
        keys.retain(|key| key.cursor <= survive);
        let promised = std::mem::take(&mut self.promised);
        *self = Self {
            keys,
            promised,
            ..Self::default()
        };
        log.iter().for_each(|frame| self.policy_of(frame));
    }

    pub(super) fn policy_of(&mut self, frame: &EventFrame) {
        match &frame.event {
            Event::SessionOpened(header) => self.mode = header.mode.clone().unwrap_or_default(),
            Event::SessionChanged(change) => {
                if let Some(mode) = &change.mode {
                    self.mode.clone_from(mode);
                    self.policy += 1;
                }
            }
            Event::Marker(Marker::Grant { grant }) => {
                self.grants.push((grant.pattern.clone(), grant.effect));
                self.policy += 1;
            }
            Event::Marker(Marker::Revoke {}) => self.revoke(),
            _ => {}
        }
    }

    fn revoke(&mut self) {
        self.grants
            .retain(|(_, effect)| *effect == GrantEffect::Deny);
        self.policy += 1;
    }

    /// The session goes on at another root: what was allowed is asked about again, and a mode that
    /// asks nobody does not carry over to where the client had to accept it (RESUME-8). At once.
    pub(super) fn moved(&mut self, place: Place) {
        self.revoke();
        if place == Place::Accepted && self.mode == "auto" {
            self.mode = "ask".into();
        }
    }

    /// Takes in a record of the session, which must be one that this model expects.
    pub(super) fn recorded(
        &mut self,
        frame: &EventFrame,
        (active, waiting): (Option<TurnId>, &BTreeSet<TurnId>),
    ) -> Result<(), Broken> {
        self.policy_of(frame);
        let Some(turn) = frame.turn else {
            return Ok(());
        };
        match &frame.event {
            Event::TurnEnded(ended) if active == Some(turn) => {
                let expected = match self.stopping.take() {
                    Some(_) => Some(TurnOutcome::Cancelled),
                    None => self.agent_ended,
                };
                ensure!(
                    expected == Some(ended.outcome),
                    "{:?} is the end, not {expected:?}",
                    ended.outcome
                );
                self.steers = 0;
            }
            Event::TurnEnded(_) if waiting.contains(&turn) => {
                let ends = self.doomed.contains(&turn) || self.named.contains(&turn);
                ensure!(ends, "a turn that waited ends for no reason");
            }
            Event::TurnStarted { .. } => {
                ensure!(!self.doomed.contains(&turn), "a cancelled turn begins");
            }
            _ => {}
        }
        Ok(())
    }

    /// What policy says to a permission question, if it decides.
    fn decides(&self, pattern: &str) -> Option<PermissionKind> {
        let granted = self.grants.iter().rev().find(|(known, _)| known == pattern);
        let granted = granted.map(|(_, effect)| *effect);
        match (granted, self.mode.as_str()) {
            (Some(GrantEffect::Deny), _) | (_, "read-only") => Some(PermissionKind::RejectOnce),
            (Some(GrantEffect::Allow), _) | (_, "auto") => Some(PermissionKind::AllowOnce),
            _ => None,
        }
    }

    /// What becomes of a question that is asked now.
    pub(super) fn fate(&self, body: &RequestBody) -> Fate {
        if self.stopping.is_some() && !body.is_cleanup() {
            return Fate::Reply(Outcome::Cancelled);
        }
        if let RequestBody::Permission(permission) = body
            && let Some(kind) = self.decides(&permission.pattern)
        {
            let option = kind.id().to_owned();
            return Fate::Reply(Outcome::Selected { option });
        }
        match &self.controller {
            Some(client) if client.answers.contains(&body.kind()) => Fate::Ask(client.conn),
            _ => Fate::Reply(match body.kind() {
                RequestKind::Permission => Outcome::Cancelled,
                RequestKind::Elicitation => Outcome::Declined,
                _ => Outcome::Unanswered,
            }),
        }
    }

    /// A request went out.
    pub(super) fn asked(
        &mut self,
        (conn, frame): (ConnId, &RequestFrame),
        asking: Option<Token>,
    ) -> Result<(), Broken> {
        let anew = self.reasked.iter().position(|a| a.frame.body == frame.body);
        let token = match anew {
            Some(at) => {
                let before = self.reasked.remove(at);
                ensure!(before.frame.id != frame.id, "asked anew under the same id");
                ensure!(
                    before.frame.digest != frame.digest,
                    "asked anew, bound as before"
                );
                before.token
            }
            None => asking.ok_or("a request that nobody asked")?,
        };
        let frame = frame.clone();
        let asked = Asked {
            token,
            conn,
            policy: self.policy,
            refused: 0,
            frame,
        };
        let new = self.asks.insert(asked.frame.id, asked).is_none();
        ensure!(new, "two requests of one id");
        Ok(())
    }

    /// Whether an answer to an open request counts, and why not.
    pub(super) fn admits(
        &self,
        conn: ConnId,
        request: RequestId,
        digest: &str,
        fits: Fits,
    ) -> bool {
        let asked = self.asks.get(&request);
        let bound = asked.is_some_and(|a| a.conn == conn && a.frame.digest == digest);
        bound && fits == Fits::Yes
    }

    /// An answer was refused.
    pub(super) fn refused(&mut self, request: RequestId) {
        if let Some(asked) = self.asks.get_mut(&request) {
            asked.refused += 1;
        }
    }

    /// An answer counted.
    pub(super) fn admitted(&self, request: RequestId) -> Result<(), Broken> {
        let asked = self
            .asks
            .get(&request)
            .ok_or("an answer to nothing counted")?;
        let authorises = asked.frame.body.kind() == RequestKind::Permission;
        ensure!(
            !authorises || asked.policy == self.policy,
            "an authorisation of another policy counted (WIRE-8)"
        );
        Ok(())
    }

    /// A request was settled, as far as its client is concerned.
    pub(super) fn settled(&mut self, conn: ConnId, id: RequestId) -> Result<Asked, Broken> {
        let asked = self
            .asks
            .remove(&id)
            .ok_or("a request is settled that is not open")?;
        ensure!(asked.conn == conn, "another client is told of it");
        Ok(asked)
    }
}

impl Asked {
    /// How many answers its end must own up to.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }
}

/// Whether an answer is one to its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fits {
    Yes,
    No,
}
