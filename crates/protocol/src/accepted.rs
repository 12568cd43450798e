//! What a receipt says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentInfo, Cursor, SessionStatus, SessionView, Summary, TurnId};

/// What a receipt says about an accepted submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Accepted {
    /// new, resume, fork: the session as it stands.
    Session(Box<SessionView>),
    /// start, under an idempotency key that is known with the same input: the turn of the first
    /// submission; nothing was done.
    Repeated {
        /// The turn.
        turn: TurnId,
        /// How far it is.
        stage: TurnStage,
    },
    /// start, steer: the turn's id.
    Turn {
        /// The turn.
        turn: TurnId,
    },
    /// list.
    Sessions {
        /// The page.
        sessions: Vec<Summary>,
        /// Where the next page begins; none at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    /// list of all workspaces over a network: how many sessions there are (SEC-4).
    Count {
        /// The number.
        count: u64,
    },
    /// read: event frames, as they stand in the log.
    Events {
        /// The page.
        events: Vec<Value>,
        /// Where the next page begins; none at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Cursor>,
    },
    /// status: how the session stands.
    Status {
        /// The status.
        status: SessionStatus,
    },
    /// options: the agent as it would be.
    Agent {
        /// What it offers, with the options in force.
        agent: Box<AgentInfo>,
        /// The mode in force.
        mode: Option<String>,
    },
    /// extension: the agent's answer.
    Extension {
        /// The answer.
        extension: Value,
    },
    /// mcp.request: the server's result.
    Mcp {
        /// The result.
        mcp: Value,
    },
    /// Anything else.
    Done {},
}

/// How far a turn is that a repeated submission names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStage {
    /// It waits for others to end.
    Waiting,
    /// It has begun, or is over.
    Begun,
}
