//! Events of the engine, as the client gets them: for a resume, or as they happen.

use agent_client_protocol_schema::v2::{
    AvailableCommandsUpdate, ConfigOptionUpdate, SessionUpdate,
};
use serde_json::Value;
use sessiond_protocol::{Event, EventFrame, Item, SessionChanged, SessionId, Stream};

use super::config::commands;
use super::face::Face;
use super::replay::damage;
use super::session::Past;
use super::update::Update;

impl Face {
    /// Takes in an event.
    pub(super) fn event(&mut self, frame: EventFrame) {
        let Some(state) = self.sessions.get_mut(&frame.session) else {
            return;
        };
        match state.past_of(&frame) {
            Some(Past::Replay(replay)) => replay.apply(&self.client, frame),
            Some(Past::InFlight(frames)) => frames.push(frame),
            None => self.happen(frame),
        }
    }

    /// Something happens now.
    pub(super) fn happen(&mut self, frame: EventFrame) {
        let session = frame.session;
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let client = &self.client;
        match frame.event {
            Event::TurnStarted { .. } => {
                if let Some(turn) = frame.turn {
                    state.begin(client, session, turn);
                }
            }
            Event::TurnEnded(ended) => {
                if let Some(turn) = frame.turn {
                    self.turn_ended(session, turn, &ended);
                }
            }
            Event::ItemEnded {
                item: Item::UserMessage { content },
            } => {
                if let Some(item) = frame.item {
                    self.said(session, frame.turn, (item, &content));
                }
            }
            Event::SessionChanged(change) => {
                self.session_changed(session, &change, frame.at.as_deref());
            }
            Event::Usage(usage) => {
                client.update(session, &Update::UsageUpdate((&usage).into()));
            }
            Event::Notice {
                severity,
                title,
                description,
            } => {
                let notice = Update::Notice {
                    severity,
                    title: &title,
                    description: description.as_deref(),
                };
                client.update(session, &notice);
            }
            Event::Damage { length, .. } => damage(client, session, length),
            Event::Extension { method, params } => self.pass_on(session, &method, params),
            // What a later run records about a turn that is over was shown when it was resumed.
            _ if frame.turn.is_some() && frame.turn == state.turn => {
                let is_text = matches!(
                    frame.event,
                    Event::ItemDelta {
                        stream: Stream::Text,
                        ..
                    }
                );
                let is_call = matches!(
                    frame.event,
                    Event::ItemStarted { .. } | Event::ItemChanged { .. } | Event::ItemEnded { .. }
                );
                state.show.apply(client, frame);
                if is_text {
                    state.moves(client, session);
                } else if is_call {
                    state.look(client, session);
                }
            }
            _ => {}
        }
    }

    fn session_changed(
        &mut self,
        session: SessionId,
        change: &SessionChanged,
        updated_at: Option<&str>,
    ) {
        // What the client sets is told with the answer to that request.
        let is_asked = self
            .awaited
            .values()
            .any(|awaited| awaited.configures(session));
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let client = &self.client;
        if let Some(title) = &change.title {
            state.title.clone_from(title);
            client.update(session, &Update::SessionInfoUpdate { title, updated_at });
        }
        if let Some(changed) = &change.commands {
            state.commands.clone_from(changed);
            let all = AvailableCommandsUpdate::new(commands(changed));
            client.update(session, &SessionUpdate::AvailableCommandsUpdate(all));
        }
        if state.config.apply(change) && !is_asked {
            let all = ConfigOptionUpdate::new(state.config.list());
            client.update(session, &SessionUpdate::ConfigOptionUpdate(all));
        }
    }

    /// Passes something on that only the client and the agent understand, about this session. What
    /// the protocol names itself is not passed from another version of it.
    fn pass_on(&self, session: SessionId, method: &str, mut params: Value) {
        if !method.starts_with('_') {
            return;
        }
        about(session, &mut params);
        if self.client.peer().notify(method, &params).is_err() {
            tracing::error!("an extension could not be written");
        }
    }
}

/// Makes params about this session, where they name one.
pub(super) fn about(session: SessionId, params: &mut Value) {
    if let Some(id) = params.get_mut("sessionId") {
        *id = Value::String(session.to_string());
    }
}
