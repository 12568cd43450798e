//! Events of the engine, as far as they are for the client: replayed, live, or neither.

use sessiond_protocol::{Event, EventFrame, SessionChanged, SessionId, Severity};
use tokio::time::Instant;

use crate::face::Face;
use crate::negotiate::Notices;
use crate::replay::damage_sentence;
use crate::update::Update;

impl Face {
    /// Takes in an event. Outside of a request of the client nothing is said about a session.
    pub(crate) fn event(&mut self, frame: EventFrame, now: Instant) {
        let notices = self.notices();
        let session = frame.session;
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        if let Some(replay) = state.replay_of(&frame) {
            return replay.apply(&self.client, notices, frame);
        }
        if state.turns.is_empty() {
            return;
        }
        let client = &self.client;
        match frame.event {
            Event::TurnEnded(ended) => {
                if let Some(turn) = frame.turn {
                    self.turn_ended(session, turn, &ended);
                }
            }
            Event::SessionChanged(change) => {
                self.session_changed(session, &change, frame.at.as_deref());
            }
            Event::Usage(usage) => {
                let (used, size) = (usage.used, usage.size);
                client.update(session, &Update::UsageUpdate { used, size });
            }
            Event::Notice {
                severity,
                title,
                description,
            } if notices == Notices::Shown => {
                let notice = Update::Notice {
                    severity,
                    title: &title,
                    description: description.as_deref(),
                };
                client.update(session, &notice);
            }
            Event::Damage { length, .. } if notices == Notices::Shown => {
                let (severity, title) = (Severity::Warning, &*damage_sentence(length));
                client.update(
                    session,
                    &Update::Notice {
                        severity,
                        title,
                        description: None,
                    },
                );
            }
            _ if frame
                .turn
                .is_some_and(|turn| state.turns.contains_key(&turn)) =>
            {
                state.live.apply(client, frame, now);
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
        if let Some(title) = &change.title {
            self.client
                .update(session, &Update::SessionInfoUpdate { title, updated_at });
        }
        let Some(mode) = change.mode.as_deref() else {
            return;
        };
        // A mode that the client sets is told with the answer to that request.
        let is_asked = self
            .awaited
            .values()
            .any(|awaited| awaited.sets(session, mode));
        let state = self.sessions.get_mut(&session).filter(|_| !is_asked);
        if let Some(modes) = state.and_then(|state| state.modes.as_mut())
            && modes.has(mode)
            && modes.set(mode)
        {
            let current_mode_id = mode;
            let update = Update::CurrentModeUpdate { current_mode_id };
            self.client.update(session, &update);
            self.client.update(session, &modes.options_update());
        }
    }
}
