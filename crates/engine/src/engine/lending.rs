//! Servers that live in a session's client, for programs that stand for them beside an agent.
//!
//! Who may ask is who may connect: the socket is this user's alone, and whoever has it could take the
//! session over as well. Over a network nobody asks.

use serde_json::json;
use sessiond_protocol::{
    Accepted, ErrorCode, RequestBody, SessionId, SubmissionId, Verdict, WireError,
};
use tokio::sync::mpsc::error::TrySendError;

use super::connection::{Reach, Serving};
use crate::actor::{Command, not_open};

/// The method whose answer is known before anybody is asked.
const LIST: &str = "tools/list";

impl Serving {
    /// Answers what a server offers; leaves everything else to its session, which asks the client.
    pub(super) fn call(&mut self, id: SubmissionId, session: SessionId, body: RequestBody) {
        let called = self.called(&id, session, body);
        let verdict = match called {
            Ok(None) => return,
            Ok(Some(known)) => Verdict::Accepted(known),
            Err(error) => Verdict::Error(error.about(session)),
        };
        self.outlet.verdict(id, verdict);
    }

    fn called(
        &mut self,
        id: &SubmissionId,
        session: SessionId,
        body: RequestBody,
    ) -> Result<Option<Accepted>, WireError> {
        let RequestBody::Mcp { server, method, .. } = &body else {
            return Err(WireError::new(
                ErrorCode::Invalid,
                "this is no call of a server",
            ));
        };
        if self.reach == Reach::Network {
            let message = "servers of a client are not for clients on the network";
            return Err(WireError::new(ErrorCode::Refused, message));
        }
        let tools = {
            let lent = self.inner.lent();
            lent.get(&session)
                .and_then(|lent| lent.get(server))
                .cloned()
        };
        let Some(tools) = tools else {
            let message = "the session's client gave no server of this name";
            return Err(WireError::new(ErrorCode::NotFound, message));
        };
        if method == LIST {
            let mcp = json!({ "tools": tools });
            return Ok(Some(Accepted::Mcp { mcp }));
        }
        let sender = self.inner.sessions().get(&session).cloned();
        let Some(sender) = sender else {
            return Err(not_open(session));
        };
        self.attached.insert(session);
        let command = Command::Call {
            outlet: self.outlet.clone(),
            id: id.clone(),
            body,
        };
        match sender.try_send(command) {
            Ok(()) => Ok(None),
            Err(TrySendError::Full(_)) => {
                let message = "the session has more commands waiting than it takes";
                Err(WireError::new(ErrorCode::QueueFull, message))
            }
            Err(TrySendError::Closed(_)) => Err(not_open(session)),
        }
    }
}
