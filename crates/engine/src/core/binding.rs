//! What an answer is bound to, and why one is refused (WIRE-7, WIRE-8).

use serde::Serialize;
use sessiond_protocol::{ErrorCode, ItemId, RequestBody, RequestId, SessionId, TurnId, WireError};

use super::digest::digest;

/// All that an answer is bound to. Its digest goes out with the request and has to come back with
/// the answer, so an answer to anything else than exactly this does not fit.
#[derive(Debug, Serialize)]
pub(super) struct Binding<'a> {
    pub(super) session: SessionId,
    /// The session's, its lease epoch.
    pub(super) incarnation: u64,
    /// None while nobody is there to be asked: no answer fits then.
    pub(super) connection: Option<u64>,
    pub(super) request: RequestId,
    pub(super) turn: TurnId,
    /// The tool call.
    pub(super) item: Option<ItemId>,
    /// The generation of the policy under which it is asked.
    pub(super) policy: u64,
    pub(super) payload: &'a RequestBody,
}

impl Binding<'_> {
    pub(super) fn digest(&self) -> String {
        digest(self)
    }
}

/// Why an answer was refused. It changed nothing; a request that it named stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request was settled, or never asked.
    Late,
    /// The request was asked on another connection.
    Foreign,
    /// The digest is of something else.
    Altered,
    /// It is no answer to what was asked.
    Misfit,
}

impl Refusal {
    /// Stable name for diagnostics.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Refusal::Late => "late",
            Refusal::Foreign => "foreign",
            Refusal::Altered => "altered",
            Refusal::Misfit => "misfit",
        }
    }

    /// What the client is told.
    pub(crate) fn error(self) -> WireError {
        let message = match self {
            Refusal::Late => "no such request is open; it was answered, cancelled or never asked",
            Refusal::Foreign => "only the client that was asked answers a request",
            Refusal::Altered => "the digest is of another request",
            Refusal::Misfit => "the answer was not offered",
        };
        WireError::new(ErrorCode::Refused, message)
    }
}
