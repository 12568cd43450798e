//! Servers of the client, asked by somebody beside the agent: a program that the agent started in
//! their place. It is attached to nothing; what it asks is part of the turn, and recorded with it.

use sessiond_protocol::{Accepted, ErrorCode, Outcome, RequestBody, RequestKind, WireError};

use super::{Cause, ConnId, Core, Stepping, asks::Ask, hooks::Waits};

/// How many such requests may wait for the client at a time. An agent calls tools by the dozen at
/// most; beyond that the caller is told to ask again.
pub(crate) const OPEN_CALLS: usize = 64;

impl Ask {
    fn caller(&self) -> Option<&Cause> {
        match &self.waits {
            Waits::Caller(cause) => Some(cause),
            _ => None,
        }
    }
}

impl Core {
    /// Who waits for a server of the client.
    pub(crate) fn callers(&self) -> Vec<Cause> {
        self.asks
            .values()
            .filter_map(Ask::caller)
            .cloned()
            .collect()
    }
}

impl Stepping<'_> {
    pub(super) fn called(&mut self, cause: Cause, body: RequestBody) {
        let refused = |code, message| Err(WireError::new(code, message));
        let open = self.core.callers().len();
        let asked = match (self.turn_id(), self.controller_conn()) {
            (None, _) => refused(ErrorCode::TurnNotActive, "no turn is active"),
            _ if self.is_cancelling() => {
                refused(ErrorCode::TurnNotActive, "the turn is being cancelled")
            }
            (_, None) => refused(ErrorCode::NotFound, "the client has gone"),
            _ if !self.core.answers(RequestKind::Mcp) => {
                refused(ErrorCode::NotFound, "the client has no servers")
            }
            _ if open >= OPEN_CALLS => refused(ErrorCode::QueueFull, "too many calls wait"),
            (Some(turn), Some(conn)) => Ok((turn, Some(conn))),
        };
        match asked {
            Ok(place) => self.open_ask(place, None, (body, Waits::Caller(cause))),
            Err(error) => self.reject(&cause, error),
        }
    }

    /// Gives the caller what came of it.
    pub(super) fn call_settled(&mut self, cause: &Cause, outcome: Outcome) {
        let error = match outcome {
            Outcome::Result { result } => {
                return self.accept(cause, Accepted::Mcp { mcp: result });
            }
            Outcome::Failed { message } => WireError::new(ErrorCode::AgentFailed, message),
            Outcome::Declined => {
                WireError::new(ErrorCode::NotFound, "the client has no such server")
            }
            _ => WireError::new(ErrorCode::TurnNotActive, "the call was taken back"),
        };
        self.reject(cause, error);
    }

    /// A connection is gone, and nobody waits for what it asked.
    pub(super) fn caller_gone(&mut self, conn: ConnId) {
        self.take_back(|waits| matches!(waits, Waits::Caller(cause) if cause.conn == conn));
    }
}
