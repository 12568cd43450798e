//! What a client that acknowledges is sent: never more than a window that it has not acknowledged.

use serde_json::Value;

use super::session::{Shared, State};
use crate::fault::on;

/// Durable events that may be unacknowledged.
pub(super) const WINDOW: u64 = 512;

/// How far a client that acknowledges has come.
pub(super) struct Progress {
    acknowledged: u64,
    sent: u64,
}

impl Progress {
    /// Of a client that has everything up to a cursor.
    pub(super) fn at(cursor: u64) -> Self {
        Self {
            acknowledged: cursor,
            sent: cursor,
        }
    }
}

impl Shared {
    /// Sends an event, unless the client is at the edge of its window.
    pub(super) fn deliver(&self, state: &mut State, frame: &Value) {
        let cursor = frame["cursor"].as_u64();
        let Some(progress) = &mut state.progress else {
            return self.wire.send(frame.clone());
        };
        let window = if on("sqeq-edge-early") { 100 } else { WINDOW };
        let newest = cursor.unwrap_or(progress.sent);
        let waits = newest > progress.sent + 1 || newest > progress.acknowledged + window;
        if waits && !on("sqeq-edge-ignored") {
            return;
        }
        if let Some(cursor) = cursor {
            progress.sent = cursor;
        }
        self.wire.send(frame.clone());
    }

    /// Takes an acknowledgement, and sends what waited for it.
    pub(super) fn acknowledged(&self, cursor: u64) {
        let mut state = self.lock();
        let newest = Self::next(&state).saturating_sub(1);
        let Some(progress) = &mut state.progress else {
            return;
        };
        progress.acknowledged = progress.acknowledged.max(cursor);
        if on("sqeq-edge-forgets") {
            progress.sent = newest;
            return;
        }
        for frame in self.recorded() {
            let next = state.progress.as_ref().map_or(0, |so_far| so_far.sent + 1);
            if frame["cursor"] == next {
                self.deliver(&mut state, &frame);
            }
        }
    }

    /// Whether events wait for an acknowledgement.
    pub(super) fn at_edge(&self) -> bool {
        let state = self.lock();
        let newest = Self::next(&state).saturating_sub(1);
        state
            .progress
            .as_ref()
            .is_some_and(|progress| progress.sent < newest)
    }
}
