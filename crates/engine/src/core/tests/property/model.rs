//! The model: what a session that keeps its rules would do, as far as its client can tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sessiond_protocol::{
    AgentOption, Event, EventFrame, ForkPoint, GrantEffect, Marker, OnDisconnect, OptionSetting,
    Outcome, PermissionKind, RequestBody, RequestFrame, RequestId, RequestKind, SessionId,
    Standing, SubmissionId, TurnId, TurnOutcome,
};

use super::{
    Broken,
    act::Place,
    ensure,
    hooks::{self, Waits, Word},
    verdict::Around,
    watch::is_question,
};
use crate::core::{ConnId, HOOK_LIMIT};

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
    pub(super) waits: Waits,
    /// None while it waits for somebody to control the session.
    pub(super) conn: Option<ConnId>,
    /// When it waits no longer.
    pub(super) until: Option<Duration>,
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
    /// It waits for the next controller.
    Wait,
}

/// How long a question waits for somebody to control the session.
pub(super) const UNATTENDED: Duration = Duration::from_secs(24 * 60 * 60);

/// Rights that went, and that no record says yet.
#[derive(Debug, Clone, Copy, Default)]
struct Owed {
    grants: bool,
    mode: bool,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) controller: Option<Controller>,
    /// Who looks on.
    pub(super) viewers: BTreeSet<u64>,
    /// The kinds of question that wait for the next controller.
    pub(super) awaited: Vec<RequestKind>,
    /// How often a hook has made the turn go on.
    pub(super) continued: u32,
    /// What the client says to a hook, while that is dealt with.
    pub(super) word: Option<(RequestId, Word)>,
    /// The agent waits with these for who has a say about its calls.
    pub(super) barriers: BTreeSet<u64>,
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
    pub(super) mode: String,
    /// The options that the agent of this process has said.
    pub(super) offered: Vec<AgentOption>,
    /// The values of options that are in force.
    pub(super) settings: Vec<OptionSetting>,
    /// The mode that the session began with.
    first_mode: String,
    /// The newest parent that the log names.
    parent: Option<SessionId>,
    pub(super) grants: Vec<(String, GrantEffect)>,
    policy: u64,
    /// What must be recorded of the rights that the run does not go on with.
    owed: Owed,
    pub(super) asks: BTreeMap<RequestId, Asked>,
    /// Settled without a word to the agent: they are asked anew.
    pub(super) reasked: Vec<Asked>,
    /// What the agent waits for.
    pub(super) waited: BTreeSet<u64>,
}

impl Model {
    /// The model of a process that begins with these records, and what the log itself says of where
    /// it comes from.
    pub(super) fn reborn(&mut self, log: &[EventFrame], parent: Option<&ForkPoint>) {
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
        if let Some(parent) = parent
            && self.parent != Some(parent.session)
        {
            self.forked(parent.session);
        }
    }

    pub(super) fn policy_of(&mut self, frame: &EventFrame) {
        match &frame.event {
            Event::SessionOpened(header) => {
                self.first_mode = header.mode.clone().unwrap_or_default();
                self.mode.clone_from(&self.first_mode);
            }
            Event::SessionChanged(change) => {
                if let Some(mode) = &change.mode {
                    self.mode.clone_from(mode);
                    self.policy += 1;
                }
                if let Some(options) = &change.options {
                    self.settings = options.iter().map(AgentOption::setting).collect();
                }
            }
            Event::Marker(Marker::Grant { grant }) => {
                self.grants.push((grant.pattern.clone(), grant.effect));
                self.policy += 1;
            }
            Event::Marker(Marker::Revoke {}) => self.revoke(),
            Event::Marker(Marker::Fork { parent, .. }) => self.forked(*parent),
            _ => {}
        }
    }

    /// History is content, not authority: a fork has nothing of what its parent's user allowed, and
    /// the mode that the session began with (RESUME-8).
    fn forked(&mut self, parent: SessionId) {
        self.parent = Some(parent);
        self.grants.clear();
        self.mode.clone_from(&self.first_mode);
        self.policy += 1;
    }

    /// What the session goes on with is no more and no less than its user has allowed (RESUME-8).
    pub(super) fn rights_agree(&self, standing: &Standing) -> Result<(), Broken> {
        let mode = standing.mode.as_deref();
        ensure!(
            mode == Some(self.mode.as_str()),
            "{mode:?} is the mode, not {}",
            self.mode
        );
        let grants = standing.grants.iter();
        let same = grants.map(|grant| (&grant.pattern, grant.effect)).eq(self
            .grants
            .iter()
            .map(|(pattern, effect)| (pattern, *effect)));
        ensure!(same, "{:?}, not {:?}", standing.grants, self.grants);
        let options = &standing.options;
        ensure!(
            *options == self.settings,
            "{options:?} are in force, not {:?}",
            self.settings
        );
        Ok(())
    }

    fn revoke(&mut self) {
        self.grants
            .retain(|(_, effect)| *effect == GrantEffect::Deny);
        self.policy += 1;
    }

    /// The session goes on at another root: what was allowed is asked about again, and a mode that
    /// asks nobody does not carry over to where the client had to accept it (RESUME-8). At once.
    pub(super) fn moved(&mut self, place: Place) {
        let mut grants = self.grants.iter();
        self.owed = Owed {
            grants: grants.any(|(_, effect)| *effect == GrantEffect::Allow),
            mode: place == Place::Accepted && self.mode == "auto",
        };
        self.revoke();
        if self.owed.mode {
            self.mode = "ask".into();
        }
    }

    /// A run that goes on with fewer rights says so with the first that it records: the next one
    /// reads it there.
    pub(super) fn rights_recorded(&mut self, records: &[EventFrame]) -> Result<(), Broken> {
        if records.is_empty() {
            return Ok(());
        }
        let owed = std::mem::take(&mut self.owed);
        let mut events = records.iter().map(|frame| &frame.event);
        let revoked = |event: &Event| matches!(event, Event::Marker(Marker::Revoke {}));
        ensure!(
            !owed.grants || events.clone().any(revoked),
            "the grants that went are in no record"
        );
        let asks = |event: &Event| match event {
            Event::SessionChanged(change) => change.mode.as_deref() == Some("ask"),
            _ => false,
        };
        ensure!(
            !owed.mode || events.any(asks),
            "the mode that went is in no record"
        );
        Ok(())
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
                self.continued = 0;
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
            None if self.awaited.contains(&body.kind()) => Fate::Wait,
            _ => Fate::Reply(Self::fallback(body.kind())),
        }
    }

    /// What the agent hears where nobody answers.
    pub(super) fn fallback(kind: RequestKind) -> Outcome {
        match kind {
            RequestKind::Permission => Outcome::Cancelled,
            RequestKind::Elicitation | RequestKind::ElicitationUrl => Outcome::Declined,
            RequestKind::Hook => Outcome::Passed,
            _ => Outcome::Unanswered,
        }
    }

    /// A request went out, or waits for whom it can go out to.
    pub(super) fn asked(
        &mut self,
        (conn, frame): (Option<ConnId>, &RequestFrame),
        around: &Around<'_>,
    ) -> Result<(), Broken> {
        let anew = self.reasked.iter().position(|a| a.frame.body == frame.body);
        let waits = match anew {
            Some(at) => {
                let before = self.reasked.remove(at);
                ensure!(before.frame.id != frame.id, "asked anew under the same id");
                ensure!(
                    before.frame.digest != frame.digest,
                    "asked anew, bound as before"
                );
                before.waits
            }
            None => hooks::waits(&frame.body, around.asking)?,
        };
        if let (Waits::Agent(token) | Waits::Call(token), None) = (waits, anew) {
            self.waited.insert(token.0);
        }
        let limit = match (&frame.body, conn) {
            (RequestBody::Hook(_), _) => Some(HOOK_LIMIT),
            (_, None) => Some(UNATTENDED),
            _ => None,
        };
        let asked = Asked {
            waits,
            conn,
            until: limit.map(|limit| around.now + limit),
            policy: self.policy,
            refused: 0,
            frame: frame.clone(),
        };
        let new = self.asks.insert(asked.frame.id, asked).is_none();
        ensure!(new, "two requests of one id");
        Ok(())
    }

    /// What is open is open for who controls the session, or is a question that waits.
    pub(super) fn asks_agree(&self) -> Result<(), Broken> {
        let controls = self.controller.as_ref().map(|client| client.conn);
        for asked in self.asks.values() {
            ensure!(
                asked.conn == controls,
                "{:?} is asked of {:?}, and {controls:?} controls",
                asked.frame.id,
                asked.conn
            );
            let kind = asked.frame.body.kind();
            ensure!(
                controls.is_some() || is_question(kind),
                "{kind:?} waits for nobody"
            );
        }
        Ok(())
    }

    /// The requests that wait no longer.
    pub(super) fn overdue(&self, now: Duration) -> BTreeSet<RequestId> {
        let over = |asked: &&Asked| asked.until.is_some_and(|until| until <= now);
        let over = self.asks.values().filter(over);
        over.map(|asked| asked.frame.id).collect()
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
        let bound = asked.is_some_and(|a| a.conn == Some(conn) && a.frame.digest == digest);
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
    pub(super) fn settled(&mut self, conn: Option<ConnId>, id: RequestId) -> Result<Asked, Broken> {
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
