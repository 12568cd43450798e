//! A session as a connection of version 2 has it.

use std::collections::{HashMap, VecDeque};

use sessiond_protocol::{
    Command, Cursor, EventFrame, ItemId, Replay as Wanted, RequestId, SessionId, SessionView,
    TurnId,
};
use sessiond_wire::rpc::RawId;

use super::config::Config;
use super::replay::Replay;
use super::show::Show;
use super::state::{Idle, State};
use super::update::Update;
use crate::client::Client;

/// A session that is active on this connection, or is being resumed.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Whether the client may use it: it was created or resumed here, and not closed.
    pub(super) is_active: bool,
    pub(super) config: Config,
    pub(super) commands: Vec<Command>,
    /// The open items of the active turn.
    pub(super) show: Show,
    /// The turn that is active.
    pub(super) turn: Option<TurnId>,
    /// The prompts that are not part of the conversation yet, by the turns that they will be.
    pub(super) prompts: HashMap<TurnId, Vec<RawId>>,
    /// What the user is asked, each with the item it is about.
    asked: Vec<(RequestId, Option<ItemId>)>,
    /// Whether the client was told that all waits for the user.
    is_blocked: bool,
    /// Resumes that are not answered, oldest first.
    resumes: VecDeque<Wanted>,
    past: Option<Past>,
    /// The newest durable event that came.
    cursor: Cursor,
}

/// What came for a resume that is not answered.
#[derive(Debug)]
pub(super) enum Past {
    /// The conversation, shown as it comes.
    Replay(Box<Replay>),
    /// What is in flight, to be shown behind the answer. Bounded by what the agent has open.
    InFlight(Vec<EventFrame>),
}

impl Session {
    /// A session that the client just made.
    pub(super) fn opened(view: &SessionView) -> Self {
        let mut session = Self::default();
        session.attached(view);
        session
    }

    /// Takes over how the session stands at attach.
    pub(super) fn attached(&mut self, view: &SessionView) {
        self.is_active = true;
        self.config = Config::of(view);
        self.commands.clone_from(&view.agent.commands);
        self.cursor = self.cursor.max(view.cursor);
        self.turn = view.turn;
        self.is_blocked = false;
    }

    /// Expects a resume: its end is the receipt.
    pub(super) fn begin_resume(&mut self, wanted: Wanted) {
        self.resumes.push_back(wanted);
    }

    /// The oldest resume is over; what it wanted, and what came for it.
    pub(super) fn end_resume(&mut self) -> (Wanted, Option<Past>) {
        let wanted = self.resumes.pop_front().unwrap_or_default();
        (wanted, self.past.take())
    }

    /// Whether nothing refers to it any more.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_active && self.resumes.is_empty()
    }

    /// Where an event belongs that is part of a resume; none where it is live. A session that is
    /// resumed again goes on live until its durable events begin anew.
    pub(super) fn past_of(&mut self, frame: &EventFrame) -> Option<&mut Past> {
        let is_known = frame.cursor.is_some_and(|cursor| cursor <= self.cursor);
        match self.resumes.front() {
            Some(Wanted::None) if !self.is_active => {
                let in_flight = || Past::InFlight(Vec::new());
                return Some(self.past.get_or_insert_with(in_flight));
            }
            Some(Wanted::All | Wanted::After(_)) if !self.is_active || is_known => {
                let replay = || Past::Replay(Box::default());
                return Some(self.past.get_or_insert_with(replay));
            }
            _ => {}
        }
        self.cursor = frame.cursor.unwrap_or(self.cursor);
        self.past.as_mut()
    }

    /// The user is asked something.
    pub(super) fn ask(&mut self, request: RequestId, item: Option<ItemId>) {
        self.asked.push((request, item));
    }

    /// A question is settled; tells whether it was the user's.
    pub(super) fn settled(&mut self, request: RequestId) -> bool {
        let open = self.asked.len();
        self.asked.retain(|(id, _)| *id != request);
        self.asked.len() < open
    }

    /// How it stands.
    pub(super) fn state(&self) -> State {
        match self.turn {
            None => State::Idle(Idle::default()),
            Some(_) if self.is_blocked => State::RequiresAction {},
            Some(_) => State::Running {},
        }
    }

    /// Tells the client where all of a turn begins to wait for the user, and where it goes on.
    pub(super) fn look(&mut self, client: &Client, session: SessionId) {
        let asked: Vec<_> = self.asked.iter().map(|(_, item)| *item).collect();
        let is_blocked = !asked.is_empty() && !self.show.runs_beside(&asked);
        self.block(client, session, is_blocked.into());
    }

    /// Something happens in the turn: not all of it waits.
    pub(super) fn moves(&mut self, client: &Client, session: SessionId) {
        self.block(client, session, Blocked::No);
    }

    fn block(&mut self, client: &Client, session: SessionId, blocked: Blocked) {
        let is_blocked = blocked == Blocked::Yes;
        if self.turn.is_some() && self.is_blocked != is_blocked {
            self.is_blocked = is_blocked;
            client.update(session, &Update::StateUpdate(self.state()));
        }
    }

    /// The turn begins.
    pub(super) fn begin(&mut self, client: &Client, session: SessionId, turn: TurnId) {
        self.turn = Some(turn);
        self.is_blocked = false;
        client.update(session, &Update::StateUpdate(self.state()));
    }

    /// The turn is over.
    pub(super) fn end(&mut self, client: &Client, session: SessionId, how: Idle) {
        self.show.end(client, session);
        self.turn = None;
        self.asked.clear();
        self.is_blocked = false;
        client.update(session, &Update::StateUpdate(State::Idle(how)));
    }
}

/// Whether all of a turn waits for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocked {
    Yes,
    No,
}

impl From<bool> for Blocked {
    fn from(is_blocked: bool) -> Self {
        if is_blocked {
            Blocked::Yes
        } else {
            Blocked::No
        }
    }
}
