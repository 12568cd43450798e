//! The way out to the program.

use serde_json::{Value, json};
use sessiond_protocol::SessionId;
use sessiond_wire::OutQueue;
use uuid::Uuid;

use super::prompt::Prompt;
use super::serve::States;
use crate::line::{Delta, OutFrame};
use crate::message;

/// What goes to the program, in the order of the calls here.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) queue: OutQueue<OutFrame>,
    /// The session that frames name.
    pub(super) session: SessionId,
    states: States,
}

impl Output {
    pub(super) fn new(queue: OutQueue<OutFrame>, session: SessionId, states: States) -> Self {
        Self {
            queue,
            session,
            states,
        }
    }

    /// A frame that is no message of the session: control.
    pub(super) fn control(&self, frame: Value) {
        self.queue.push(OutFrame::of(frame));
    }

    /// A message with a `uuid` that says what it shows.
    pub(super) fn message(&self, uuid: Uuid, kind: &str, members: Value) {
        let frame = message::frame(self.session, uuid, kind, members);
        self.queue.push(OutFrame::of(frame));
    }

    /// A message that shows nothing that is kept.
    pub(super) fn passing(&self, kind: &str, members: Value) {
        self.message(Uuid::now_v7(), kind, members);
    }

    /// A `system` message.
    pub(super) fn system(&self, subtype: &str, members: Value) {
        let frame = message::system(self.session, subtype, members);
        self.queue.push(OutFrame::of(frame));
    }

    /// More text of a block.
    pub(super) fn delta(&self, delta: Delta) {
        self.queue.push(OutFrame::Delta(delta));
    }

    /// Where a prompt is that the program has named: queued, started, completed, cancelled.
    pub(super) fn lifecycle(&self, prompt: &Prompt, state: &str) {
        if let Some(uuid) = &prompt.uuid {
            let members = json!({ "command_uuid": uuid, "state": state });
            self.passing("command_lifecycle", members);
        }
    }

    /// What the session is at, where the SDK reads that (claude.md 5.4).
    pub(super) fn state(&self, state: &str) {
        if self.states == States::Told {
            let members = json!({ "state": state, "sdk_host_only": true });
            self.system("session_state_changed", members);
        }
    }
}
