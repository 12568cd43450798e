//! Frames: one JSON object a line, `v` first, then `type` (WIRE-2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Accepted, ClosedBecause, Cursor, ErrorCode, EventFrame, ItemId, Limits, Op, Outcome,
    RequestBody, RequestId, SessionId, SubmissionId, TurnId, WireError,
};

/// The version of the waist that this crate speaks.
pub const VERSION: u32 = 1;

/// Client to server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientFrame {
    /// The first frame: who speaks, and which versions.
    Hello(Hello),
    /// Something to be done.
    Submission(Submission),
    /// An answer to a request.
    Answer(Answer),
    /// Takes back a submission of this connection that has not taken effect: the turn of it that
    /// waits ends as cancelled, an extension that the agent has not answered is refused. There is no
    /// answer; anything else is too late, which is no error (SQEQ-4).
    Withdraw {
        /// The submission.
        id: SubmissionId,
    },
    /// The client has dealt with all events of a session up to this one (SQEQ-9). Only after a
    /// hello that says `ack`; there is no answer but to one that is wrong.
    Ack {
        /// The session.
        session: SessionId,
        /// The newest event it has dealt with.
        cursor: Cursor,
    },
    /// The last frame.
    Bye {},
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// Versions the client speaks.
    pub versions: Vec<u32>,
    /// The client.
    pub client: Party,
    /// Whether the client acknowledges events. Then at most [`crate::limits::ACK_WINDOW`] events of
    /// a session are sent beyond what it acknowledged: the agent of a session that it controls
    /// waits, one that looks on gets a `gap`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ack: bool,
}

/// A program on one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Party {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Something to be done (SQEQ-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    /// The client's name for it, unique on the connection.
    pub id: SubmissionId,
    /// The session it is about; none for `session.new`, `.resume` and `.list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What is to be done.
    pub op: Op,
}

/// An answer to a request (WIRE-8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The request.
    pub request: RequestId,
    /// Its digest, repeated.
    pub digest: String,
    /// The answer.
    pub outcome: Outcome,
}

/// Server to client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerFrame {
    /// Answer to hello.
    Welcome(Welcome),
    /// What became of a submission.
    Receipt(Receipt),
    /// Something happened.
    Event(EventFrame),
    /// The agent asks.
    Request(RequestFrame),
    /// A request is settled, by an answer or otherwise: do not answer it any more.
    RequestClosed {
        /// The session.
        session: SessionId,
        /// The request.
        id: RequestId,
        /// Why.
        #[serde(default)]
        reason: ClosedBecause,
    },
    /// A frame was bad.
    Error {
        /// What was wrong; its members stand in the frame itself.
        #[serde(flatten)]
        error: WireError,
        /// Whether the connection ends with it.
        fatal: bool,
    },
    /// The last frame.
    Bye {},
}

/// Answer to hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// The version in use.
    pub version: u32,
    /// The server.
    pub server: Party,
    /// This connection's id.
    pub incarnation: String,
    /// What the client may send.
    pub limits: Limits,
    /// Whether sessions are stored (LOG-16).
    pub persistence: PersistenceState,
}

/// Whether sessions are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PersistenceState {
    /// On stable storage.
    On,
    /// On stable storage, but for thoughts and for tool output beyond
    /// [`crate::limits::LEAN_OUTPUT_BYTES`] while a call runs; its end holds what the model saw.
    Lean,
    /// In memory only, as asked.
    Off,
}

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// The submission.
    pub id: SubmissionId,
    /// Accepted or not.
    #[serde(flatten)]
    pub result: Verdict,
}

/// Accepted or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// With what the client needs to go on.
    Accepted(Accepted),
    /// And why not.
    Error(WireError),
}

/// The agent asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestFrame {
    /// The request.
    pub id: RequestId,
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The item it is about, a tool call mostly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// What is asked.
    #[serde(flatten)]
    pub body: RequestBody,
    /// Digest of the payload.
    pub digest: String,
    /// Milliseconds after which it is settled without an answer; none: it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
}

/// Why a line is not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadFrame {
    /// `protocol` for what is no frame at all, `unknown` for a type this version lacks.
    pub code: ErrorCode,
    /// What is wrong; never the payload (WIRE-3).
    pub message: String,
}

#[derive(Serialize)]
struct Out<'a, T> {
    v: u32,
    #[serde(flatten)]
    frame: &'a T,
}

#[derive(Deserialize)]
struct In<T> {
    v: u32,
    #[serde(flatten)]
    frame: T,
}

/// One frame as a line, LF included.
pub fn encode<T: Serialize>(frame: &T) -> Result<String, BadFrame> {
    let mut line = serde_json::to_string(&Out { v: VERSION, frame }).map_err(|error| BadFrame {
        code: ErrorCode::Internal,
        message: format!("a frame could not be written: {error}"),
    })?;
    line.push('\n');
    Ok(line)
}

/// Reads one line as a frame.
pub fn decode<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, BadFrame> {
    let bad = |error: serde_json::Error| BadFrame {
        code: ErrorCode::Protocol,
        message: format!(
            "not a frame: {:?} at column {}",
            error.classify(),
            error.column()
        ),
    };
    let frame: In<T> = serde_json::from_str(line).map_err(bad)?;
    if frame.v == VERSION {
        return Ok(frame.frame);
    }
    let message = format!("version {} is not spoken here; use {VERSION}", frame.v);
    Err(BadFrame {
        code: ErrorCode::Protocol,
        message,
    })
}
