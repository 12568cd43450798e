//! What Codex says between turns.

use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_engine::between::Outside;
use sessiond_engine::{Emit, Updates};
use sessiond_wire::rpc::{Inbound, Peer, RawId};

use super::asks;
use super::said;
use super::thread::Thread;

/// Whoever listens to Codex between turns.
pub(super) type Between = sessiond_engine::between::Between<Inbound>;

impl Outside for Thread {
    type Message = Inbound;

    fn agent(&self) -> &str {
        &self.agent
    }

    fn updates(&self) -> &Updates {
        &self.updates
    }

    fn ended(&self) {
        self.over.end();
    }

    fn hear(&self, message: Inbound) -> Option<Vec<Emit>> {
        match message {
            Inbound::Notification { method, params } => {
                let said = said::read(&self.id, &method, params.as_deref());
                return self.noted(said, None);
            }
            Inbound::Request { id, method, params } => {
                outside(&self.requests.peer, &id, (&method, params.as_deref()));
            }
            message => self.answered(message),
        }
        Some(Vec::new())
    }
}

/// Answers a request that came while no turn runs: there is nobody to ask.
pub(super) fn outside(peer: &Peer, id: &RawId, (method, params): (&str, Option<&RawValue>)) {
    let params: Value = params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default();
    match asks::read(method, &params) {
        Ok(asked) => peer.respond(id, Ok(&asked.unasked())),
        Err(refused) => peer.refuse(Some(id), &refused),
    }
}
