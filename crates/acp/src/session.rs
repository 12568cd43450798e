//! A session as this connection has it.

use std::collections::{HashMap, HashSet};

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionUpdate,
    UnstructuredCommandInput,
};
use sessiond_protocol::{Command, Cursor, EventFrame, SessionView, TurnId};
use sessiond_wire::rpc::RawId;

use crate::choices::Choices;
use crate::live::Live;
use crate::replay::Replay;

/// A session that is active on this connection, or is being loaded.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Whether the client may use it: it was created or loaded here, and not closed.
    pub(crate) is_active: bool,
    pub(crate) choices: Choices,
    /// The agent's slash commands.
    pub(crate) commands: Vec<Command>,
    /// Whether the client has prompted it since it is active here.
    pub(crate) was_prompted: bool,
    /// Sessions of subagents that the client was told of.
    pub(crate) children: HashSet<String>,
    /// The open items of the running turn.
    pub(crate) live: Live,
    /// The turns that run or wait, each with the prompt that began it.
    pub(crate) turns: HashMap<TurnId, RawId>,
    /// Loads that are not answered.
    loads: usize,
    replay: Option<Replay>,
    /// The newest durable event that came.
    cursor: Cursor,
}

impl Session {
    /// A session that the client just made.
    pub(crate) fn opened(view: &SessionView) -> Self {
        let mut session = Self::default();
        session.attached(view);
        session
    }

    /// Takes over how the session stands at attach.
    pub(crate) fn attached(&mut self, view: &SessionView) {
        self.is_active = true;
        self.choices = Choices::of(&view.agent, view.mode.as_ref());
        self.commands.clone_from(&view.agent.commands);
        self.cursor = self.cursor.max(view.cursor);
    }

    /// Expects a replay: its end is the receipt of the load.
    pub(crate) fn begin_load(&mut self) {
        self.loads += 1;
    }

    /// The load is over; what was replayed, if anything was. Whether another load goes on, or the
    /// session is active, tells whether it is still of use.
    pub(crate) fn end_load(&mut self) -> Option<Replay> {
        self.loads = self.loads.saturating_sub(1);
        self.replay.take()
    }

    /// Whether nothing refers to it any more.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_active && self.loads == 0
    }

    /// The replay that this event is part of; none where it is live. A session that is loaded again
    /// goes on live until its durable events begin anew.
    pub(crate) fn replay_of(&mut self, frame: &EventFrame) -> Option<&mut Replay> {
        let is_known = frame.cursor.is_some_and(|cursor| cursor <= self.cursor);
        if self.loads > 0 && (!self.is_active || is_known) {
            return Some(self.replay.get_or_insert_default());
        }
        self.cursor = frame.cursor.unwrap_or(self.cursor);
        self.replay.as_mut()
    }
}

/// The slash commands of a session, as one update.
pub(crate) fn commands_update(commands: &[Command]) -> SessionUpdate {
    let available = commands.iter().map(|command| {
        let input = command.hint.clone().map(UnstructuredCommandInput::new);
        AvailableCommand::new(command.name.clone(), command.description.clone())
            .input(input.map(AvailableCommandInput::Unstructured))
    });
    SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(available.collect()))
}
