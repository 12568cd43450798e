//! What a client asks, apart from what it answers and from what is no message at all.

use serde_json::value::RawValue;
use sessiond_wire::rpc::{Inbound, RawId};
use tokio::time::Instant;

use crate::client::Client;

/// A request or a notification of the client.
#[derive(Debug)]
pub(crate) enum Asked {
    Request {
        id: RawId,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
}

impl Client {
    /// Hands answers to the calls that wait for them, refuses what is no message, at a bounded rate
    /// where it names no request (WIRE-14), and gives back what is asked.
    pub(crate) fn sort(&mut self, inbound: Inbound, now: Instant) -> Option<Asked> {
        match inbound {
            Inbound::Request { id, method, params } => {
                return Some(Asked::Request { id, method, params });
            }
            Inbound::Notification { method, params } => {
                return Some(Asked::Notification { method, params });
            }
            Inbound::Response { id, result } => self.peer().accept(&id, result),
            Inbound::Invalid {
                id: Some(id),
                error,
            } => self.peer().refuse(Some(&id), &error),
            Inbound::Invalid { id: None, error } => {
                if self.admits_refusal(now) {
                    self.peer().refuse(None, &error);
                }
            }
            Inbound::Ignore => self.peer().ignore(),
        }
        None
    }
}
