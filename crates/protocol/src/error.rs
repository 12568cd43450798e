//! Errors on the waist: a stable code, a sentence, and what a program needs to act on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Cursor, DriftClass, DriftClasses, SessionId, TurnId};

/// The stable codes. contract.md maps each to ACP, Codex, Claude and exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No such session, turn or request.
    NotFound,
    /// Another process or client controls the session.
    Busy,
    /// The log is damaged beyond reading.
    Damaged,
    /// A newer program wrote the log.
    TooNew,
    /// The environment differs from the recorded one in a way that must be accepted first.
    Drifted,
    /// The store failed: no space, I/O error, failed sync.
    Storage,
    /// Too many turns wait.
    QueueFull,
    /// The lease is gone: another holder's epoch is higher.
    LeaseLost,
    /// The agent could not be started or went away.
    AgentUnavailable,
    /// A turn is active and the submission did not say to queue (SQEQ-2).
    TurnActive,
    /// The turn that the submission is about is not the active one.
    TurnNotActive,
    /// An idempotency key was used for something else before.
    KeyReused,
    /// The submission is malformed or its values are not allowed.
    Invalid,
    /// An answer that does not fit the open request (WIRE-8), or something that this client may not
    /// ask for (SEC-4).
    Refused,
    /// The client looks on and changes nothing: it did not attach as controller (SQEQ-6).
    ViewOnly,
    /// Events that the client wants, or would get next, cannot be sent (SQEQ-6). `gap` says how to go on.
    Gap,
    /// The agent of the session cannot do this.
    Unsupported,
    /// The frame or op is unknown here (WIRE-2).
    Unknown,
    /// The stream itself is broken (WIRE-5).
    Protocol,
    /// The agent failed in a turn.
    AgentFailed,
    /// A fault of ours.
    Internal,
}

impl ErrorCode {
    /// The exit code of a command that ends with this error (contract.md).
    pub fn exit_code(self) -> i32 {
        match self {
            ErrorCode::Busy | ErrorCode::LeaseLost => 75,
            ErrorCode::Damaged | ErrorCode::TooNew | ErrorCode::Storage => 74,
            ErrorCode::AgentUnavailable => 69,
            ErrorCode::Protocol => 65,
            ErrorCode::Invalid => 2,
            _ => 1,
        }
    }
}

/// An error as a client gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct WireError {
    /// What kind.
    pub code: ErrorCode,
    /// What happened, where, and what to do; for the owner of the session.
    pub message: String,
    /// The session meant, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// `turn_active`, `turn_not_active`: the turn that is active; `key_reused`: the one it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// `busy`: who holds the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// `drifted`: what has to be accepted before the session can be resumed here.
    #[serde(default, skip_serializing_if = "DriftClasses::is_empty")]
    #[schemars(with = "Vec<DriftClass>")]
    pub fields: DriftClasses,
    /// `gap`: where events are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// JSON pointer into the offending frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// `agent_failed`, `agent_unavailable`: the error as the agent's own protocol put it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Box<ForeignError>>,
}

/// An error of an agent, as its own protocol put it (JSON-RPC).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignError {
    /// The code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// What else it said.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl WireError {
    /// An error with a code and a sentence.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            session: None,
            turn: None,
            holder: None,
            fields: DriftClasses::default(),
            gap: None,
            pointer: None,
            foreign: None,
        }
    }

    /// The same error about a session.
    #[must_use]
    pub fn about(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }
}

/// Who holds a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    /// Process id, on `host`.
    pub pid: u32,
    /// Host name.
    pub host: String,
}

/// Where events are missing, and from where on they can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The newest event of the session.
    pub newest: Cursor,
    /// A `session.resume` with `replay` after this cursor goes on without a gap. Where it is 0,
    /// what the client holds is of another log: it drops that and begins anew.
    pub after: Cursor,
}
