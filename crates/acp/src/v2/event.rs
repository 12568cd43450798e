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
use crate::extension::{is_extension, of_session};

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
                let is_said = matches!(
                    frame.event,
                    Event::ItemDelta {
                        stream: Stream::Text,
                        ..
                    } | Event::ItemContent { .. }
                );
                let is_call = matches!(
                    frame.event,
                    Event::ItemStarted { .. } | Event::ItemChanged { .. } | Event::ItemEnded { .. }
                );
                state.show.apply(client, frame);
                if is_said {
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
            .submissions
            .awaited()
            .any(|awaited| awaited.configures(session));
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let client = &self.client;
        if let Some(title) = &change.title {
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

    /// Something of the agent's protocol that is for this client.
    fn pass_on(&mut self, session: SessionId, method: &str, params: Value) {
        match method {
            "session/update" => self.pass_update(session, params),
            "elicitation/complete" => {
                let name = params.get("elicitationId").and_then(Value::as_str);
                if name.is_some_and(|name| self.questions.completed(name)) {
                    self.client.tell(method, &params);
                }
            }
            _ if is_extension(method) => self.client.tell(method, &of_session(params, session)),
            _ => {}
        }
    }

    /// An update that the waist does not know, if it is one of those that both versions write the
    /// same. The others are another version's, and so is what a child session shows.
    fn pass_update(&self, session: SessionId, mut params: Value) {
        let update = params.get_mut("update").map(Value::take);
        let update = update.map(serde_json::from_value::<SessionUpdate>);
        if let Some(Ok(
            update @ (SessionUpdate::PlanUpdate(_)
            | SessionUpdate::PlanRemoved(_)
            | SessionUpdate::CompactionUpdate(_)
            | SessionUpdate::CompactionSummaryChunk(_)),
        )) = update
        {
            self.client.update(session, &update);
        }
    }
}
