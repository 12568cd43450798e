//! Events: what happened in a session. One type for live and stored (LOG-1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentOption, Command, Content, Cost, Cursor, Instructions, Item, ItemId, ItemKind, Keyed,
    Marker, Mode, ModePolicy, Outcome, PersistenceState, RequestBody, RequestId, SessionId,
    SessionOpened, SubmissionId, ToolCall, TurnId, WireError,
};

/// An event with all that places it. Durable ones carry a cursor; an event without one is
/// ephemeral, or provisional: said at a load about what the next append will record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventFrame {
    /// The session.
    pub session: SessionId,
    /// Its place in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The item it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The submission that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<SubmissionId>,
    /// When it was recorded, RFC 3339; durable events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What happened.
    pub event: Event,
}

impl EventFrame {
    /// An event of a session, with nothing more to place it.
    pub fn new(session: SessionId, event: Event) -> Self {
        Self {
            session,
            cursor: None,
            turn: None,
            item: None,
            cause: None,
            at: None,
            event,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Event {
    /// The session began: its header.
    #[serde(rename = "session.opened")]
    SessionOpened(Box<SessionOpened>),
    /// Something about the session changed.
    #[serde(rename = "session.changed")]
    SessionChanged(SessionChanged),
    /// The session was closed; it can be resumed.
    #[serde(rename = "session.closed")]
    SessionClosed {},
    /// Input waits for the active turn to end.
    #[serde(rename = "turn.queued")]
    TurnQueued {
        /// The input.
        input: Vec<Content>,
        /// Where among those that wait.
        #[serde(default, skip_serializing_if = "Place::is_last")]
        place: Place,
        /// The idempotency key it came under.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keyed: Option<Keyed>,
    },
    /// A turn began.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// The clear, rewind or compaction in force; the header otherwise.
        base: Cursor,
        /// What the turn runs with.
        config: TurnConfig,
        /// The idempotency key it came under, where it did not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keyed: Option<Keyed>,
    },
    /// A turn ended: exactly once, after all else of it (SQEQ-3).
    #[serde(rename = "turn.ended")]
    TurnEnded(TurnEnded),
    /// An item began. Durable for tool calls, ephemeral for streamed text.
    #[serde(rename = "item.started")]
    ItemStarted {
        /// The item as it begins.
        item: Item,
    },
    /// Text that was shown and is now stored, while the item still streams (LOG-17).
    #[serde(rename = "item.partial")]
    ItemPartial {
        /// What kind of item it will be.
        kind: ItemKind,
        /// Where in the item's text this begins, in bytes.
        offset: u64,
        /// The text since the partial before.
        text: String,
    },
    /// A tool call changed.
    #[serde(rename = "item.changed")]
    ItemChanged {
        /// The call, whole.
        call: Box<ToolCall>,
    },
    /// An item ended: the whole of it.
    #[serde(rename = "item.ended")]
    ItemEnded {
        /// The item.
        item: Item,
    },
    /// A picture, a sound or another block that is no text, which the agent said or thought: an item
    /// by itself, whole.
    #[serde(rename = "item.content")]
    ItemContent {
        /// Whether it was said or thought.
        kind: ItemKind,
        /// The block.
        content: Content,
    },
    /// More text of an item that streams. Never stored.
    #[serde(rename = "item.delta")]
    ItemDelta {
        /// Which of the item's texts.
        stream: Stream,
        /// Where in it this begins, in bytes (WIRE-9).
        offset: u64,
        /// The text.
        text: String,
    },
    /// The agent asked the controlling client.
    #[serde(rename = "request.opened")]
    RequestOpened {
        /// The request.
        request: RequestId,
        /// What is asked.
        body: RequestBody,
        /// Digest of the payload; an answer repeats it (WIRE-8).
        digest: String,
    },
    /// The question is settled.
    #[serde(rename = "request.closed")]
    RequestClosed {
        /// The request.
        request: RequestId,
        /// How.
        outcome: Outcome,
        /// How many answers were refused while it was open (WIRE-8).
        #[serde(default, skip_serializing_if = "is_zero")]
        refused: u64,
    },
    /// What the session's context and money stand at.
    #[serde(rename = "usage")]
    Usage(Usage),
    /// Something the user should know that is not part of the conversation.
    #[serde(rename = "notice")]
    Notice {
        /// How bad.
        severity: Severity,
        /// One line.
        title: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
    /// A place of the log that cannot be read (LOG-4).
    #[serde(rename = "damage")]
    Damage {
        /// The segment file's name.
        segment: String,
        /// Where in it, in bytes.
        offset: u64,
        /// How many bytes.
        length: u64,
    },
    /// Something of the agent's protocol that the waist does not know, for a client that speaks it.
    /// Never stored.
    #[serde(rename = "extension")]
    Extension {
        /// Its name in the agent's protocol.
        method: String,
        /// Its params.
        params: Value,
    },
    /// A structural mark.
    #[serde(rename = "marker")]
    Marker(Marker),
    /// A durable event that this version does not know: kept, and passed over (LOG-11).
    #[serde(untagged)]
    Unknown(Value),
}

impl Event {
    /// The event's type, as it stands in a record's `kind`.
    pub fn kind(&self) -> &str {
        match self {
            Event::SessionOpened(_) => "session.opened",
            Event::SessionChanged(_) => "session.changed",
            Event::SessionClosed {} => "session.closed",
            Event::TurnQueued { .. } => "turn.queued",
            Event::TurnStarted { .. } => "turn.started",
            Event::TurnEnded(_) => "turn.ended",
            Event::ItemStarted { .. } => "item.started",
            Event::ItemPartial { .. } => "item.partial",
            Event::ItemChanged { .. } => "item.changed",
            Event::ItemEnded { .. } => "item.ended",
            Event::ItemContent { .. } => "item.content",
            Event::ItemDelta { .. } => "item.delta",
            Event::RequestOpened { .. } => "request.opened",
            Event::RequestClosed { .. } => "request.closed",
            Event::Usage(_) => "usage",
            Event::Notice { .. } => "notice",
            Event::Damage { .. } => "damage",
            Event::Extension { .. } => "extension",
            Event::Marker(_) => "marker",
            Event::Unknown(value) => value
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("unknown"),
        }
    }

    /// What its record needs before anything depends on it (contract.md "written when").
    pub fn persistence(&self, state: PersistenceState) -> Persistence {
        let is_thought = match self {
            Event::ItemEnded { item } => item.kind() == ItemKind::Thought,
            Event::ItemPartial { kind, .. } | Event::ItemContent { kind, .. } => {
                *kind == ItemKind::Thought
            }
            _ => false,
        };
        match self {
            _ if is_thought && state == PersistenceState::Lean => Persistence::Never,
            // Each run of the agent tells them anew; a load writes nothing because of them.
            Event::SessionChanged(changed) if changed.is_offer() => Persistence::Never,
            Event::ItemDelta { .. } | Event::Extension { .. } => Persistence::Never,
            Event::ItemStarted {
                item: Item::ToolCall(_),
            } => Persistence::Synced,
            Event::ItemStarted { .. } => Persistence::Never,
            Event::SessionOpened(_)
            | Event::TurnStarted { .. }
            | Event::RequestOpened { .. }
            | Event::RequestClosed { .. }
            | Event::TurnEnded(_)
            | Event::Marker(_)
            | Event::SessionClosed {} => Persistence::Synced,
            Event::SessionChanged(_)
            | Event::TurnQueued { .. }
            | Event::ItemPartial { .. }
            | Event::ItemChanged { .. }
            | Event::ItemEnded { .. }
            | Event::ItemContent { .. }
            | Event::Usage(_)
            | Event::Notice { .. }
            | Event::Damage { .. }
            | Event::Unknown(_) => Persistence::Written,
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where a turn stands among those that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Behind all others.
    #[default]
    Last,
    /// Before all others: it replaces the active turn.
    First,
}

impl Place {
    fn is_last(&self) -> bool {
        *self == Place::Last
    }
}

/// How an event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// Not at all.
    Never,
    /// Written; on stable storage with the next synced one.
    Written,
    /// On stable storage before anything depends on it (LOG-5).
    Synced,
}

/// What changed about a session; absent members did not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionChanged {
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who chose the title; a user's is never overwritten by another's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub titled_by: Option<Titler>,
    /// The mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The working directory, absolute, from the next resume on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The roots beside it, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<String>>,
    /// The instructions that the client gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// The agent's modes, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<Mode>>,
    /// The agent's options with their values, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<AgentOption>>,
    /// The agent's slash commands, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<Command>>,
}

impl SessionChanged {
    /// Whether nothing changed but what the agent says that one may choose from.
    pub fn is_offer(&self) -> bool {
        let offered = SessionChanged {
            modes: self.modes.clone(),
            commands: self.commands.clone(),
            ..SessionChanged::default()
        };
        *self == offered && offered != SessionChanged::default()
    }
}

/// Who chose a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Titler {
    /// Made from the first prompt.
    Prompt,
    /// The agent.
    Agent,
    /// The user.
    User,
}

/// What a turn runs with; unknown is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnConfig {
    /// The agent's configured name.
    pub agent: String,
    /// The agent's version.
    pub version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// What the mode does with permission questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<ModePolicy>,
    /// Counts changes of policy: mode and grants.
    pub policy: u64,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    /// In one word.
    pub outcome: TurnOutcome,
    /// Why the agent stopped, where it said.
    pub stop: Option<Stop>,
    /// What was used in the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The cursor to resume, fork or rewind to (SQEQ-5).
    pub bookmark: Cursor,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<WireError>,
}

/// How a turn ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The agent said all it had to.
    Completed,
    /// Somebody stopped it.
    Cancelled,
    /// It failed.
    Failed,
    /// The process died under it.
    Interrupted,
    /// It waited in the queue and never began.
    NotRun,
}

/// Why an agent stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was done.
    EndTurn,
    /// Out of output tokens.
    MaxTokens,
    /// Out of model requests.
    MaxRequests,
    /// It would not.
    Refusal,
}

/// Which text of an item a delta continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// The text of a message or thought.
    Text,
    /// The output of a tool.
    Output,
}

/// Context and cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens in the context now.
    pub used: u64,
    /// Tokens it can hold.
    pub size: u64,
    /// Tokens read in the turn.
    #[serde(default)]
    pub input: u64,
    /// Tokens written in the turn.
    #[serde(default)]
    pub output: u64,
    /// Tokens of thought in the turn, where the agent counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<u64>,
    /// Tokens of the turn that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_read: Option<u64>,
    /// Tokens of the turn that were put into a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_write: Option<u64>,
    /// What the session has cost so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// What was used in both, one after the other. The later one knows the context.
    #[must_use]
    pub fn in_all(before: Option<Usage>, then: Option<Usage>) -> Option<Usage> {
        match (before, then) {
            (Some(before), Some(then)) => Some(Usage {
                input: before.input.saturating_add(then.input),
                output: before.output.saturating_add(then.output),
                thought: sum(before.thought, then.thought),
                cached_read: sum(before.cached_read, then.cached_read),
                cached_write: sum(before.cached_write, then.cached_write),
                ..then
            }),
            (before, then) => then.or(before),
        }
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

/// How bad a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Look at it.
    Warning,
    /// It broke.
    Error,
}
