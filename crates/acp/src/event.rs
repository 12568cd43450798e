//! Events of the engine, as far as they are for the client: replayed, live, or neither.

use sessiond_protocol::{Event, EventFrame, Item, SessionChanged, SessionId, Severity};
use tokio::time::Instant;

use crate::compaction;
use crate::face::Face;
use crate::negotiate::Notices;
use crate::replay::damage_sentence;
use crate::session::commands_update;
use crate::update::Update;

impl Face {
    /// Takes in an event. What belongs to a turn is told while its prompt is unanswered, what belongs
    /// to none whenever the session is active.
    pub(crate) fn event(&mut self, frame: EventFrame, now: Instant) {
        let (notices, gates) = (self.notices(), self.gates());
        let session = frame.session;
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        if let Some(replay) = state.replay_of(&frame) {
            return replay.apply(&self.client, gates, frame);
        }
        if !state.is_active {
            return;
        }
        let turn = frame.turn.filter(|turn| state.turns.contains_key(turn));
        let client = &self.client;
        match frame.event {
            Event::TurnEnded(ended) => {
                if let Some(turn) = turn {
                    self.turn_ended(session, turn, &ended);
                }
            }
            Event::SessionChanged(change) => {
                self.session_changed(session, &change, frame.at.as_deref());
            }
            Event::Usage(usage) => client.update(session, &Update::usage(&usage)),
            Event::Notice {
                severity,
                title,
                description,
            } if notices == Notices::Shown => {
                let (title, description) = (&*title, description.as_deref());
                let notice = Update::Notice {
                    severity,
                    title,
                    description,
                };
                client.update(session, &notice);
            }
            Event::Damage { length, .. } if notices == Notices::Shown => {
                let notice = Update::Notice {
                    severity: Severity::Warning,
                    title: &damage_sentence(length),
                    description: None,
                };
                client.update(session, &notice);
            }
            Event::ItemEnded {
                item: Item::Compaction(summed_up),
            } => {
                if let Some(id) = frame.item {
                    compaction::tell(client, gates, (session, id), &summed_up);
                }
            }
            Event::Extension { method, params } => {
                self.extension_event(session, &method, params);
            }
            _ if turn.is_some() => state.live.apply(client, frame, now),
            _ => {}
        }
    }

    /// What changed about a session is told whenever it changes: it is no part of a turn.
    fn session_changed(
        &mut self,
        session: SessionId,
        change: &SessionChanged,
        updated_at: Option<&str>,
    ) {
        if let Some(title) = &change.title {
            self.client
                .update(session, &Update::SessionInfoUpdate { title, updated_at });
        }
        // What the client sets is told with the answer to that request.
        let is_asked = self
            .submissions
            .awaited()
            .any(|awaited| awaited.configures(session));
        let gates = self.gates();
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        if let Some(commands) = &change.commands {
            state.commands.clone_from(commands);
            self.client.update(session, &commands_update(commands));
        }
        let changed = state.choices.change(change);
        if is_asked {
            return;
        }
        if let Some(current_mode_id) = state.choices.mode().filter(|_| changed.mode) {
            let update = Update::CurrentModeUpdate { current_mode_id };
            self.client.update(session, &update);
        }
        if changed.options {
            let update = state.choices.update(gates);
            self.client.update(session, &update);
        }
    }
}
