//! What goes into the core and what comes out of it.

use std::time::Duration;

use serde_json::Value;
use sessiond_protocol::{
    ClosedBecause, Content, Course, Cursor, EventFrame, ItemId, Loaded, Marker, OnDisconnect, Op,
    Outcome, Receipt, RequestBody, RequestFrame, RequestId, RequestKind, SessionOpened, Setup,
    SubmissionId, Telling, Titler, ToolCall, TurnId,
};

use super::Refusal;
use crate::{
    agent::{AgentError, CompactionReport, Emit, TurnReport},
    drift::Arrival,
};

/// A connection, as the core names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConnId(pub(crate) u64);

/// Something an agent waits for, as the core names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token(pub(crate) u64);

/// Who submitted what, for its receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) conn: ConnId,
    pub(crate) id: SubmissionId,
}

/// When a step happens: on the clock that only grows, and for people (RFC 3339).
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) elapsed: Duration,
    pub(crate) at: String,
}

/// Gives fresh ids, never the same twice.
pub(crate) trait Mint {
    fn turn(&mut self) -> TurnId;
    fn item(&mut self) -> ItemId;
    fn request(&mut self) -> RequestId;
}

/// What can happen to a session.
#[derive(Debug)]
pub(crate) enum Input {
    Created {
        cause: Cause,
        header: Box<SessionOpened>,
    },
    /// A client has come to a session that was there before; `loaded` where it was read for it.
    Resumed {
        arrival: Box<Arrival>,
        loaded: Option<Loaded>,
    },
    /// Who leads a conversation elsewhere gave it this title.
    Titled(String, Titler),
    /// The next thing of a conversation that was led elsewhere; items are fit by then.
    Told(Telling),
    /// What was written of it there is kept.
    Kept(Marker),
    /// What a client gave at attach: before a new session is created, or behind `Resumed`.
    Given(Box<Setup>),
    /// What is to be recorded before anything else is recorded now.
    Settle,
    /// How the session stands is to be recorded, so that opening it reads no further back.
    Checkpoint,
    Attached {
        conn: ConnId,
        answers: Vec<RequestKind>,
        on_disconnect: OnDisconnect,
    },
    /// A client looks on.
    Viewed {
        conn: ConnId,
    },
    Submitted {
        cause: Cause,
        op: Op,
    },
    /// A client wants the conversation as it was at a bookmark; `course` is that of the log.
    Rewind {
        cause: Cause,
        to: Cursor,
        course: Box<Course>,
    },
    /// A client takes back what it submitted.
    Withdrawn(Cause),
    Answered {
        conn: ConnId,
        request: RequestId,
        digest: String,
        outcome: Outcome,
    },
    Emitted(Emit),
    /// The agent says something of no turn.
    Noted(Emit),
    CallStarted {
        call: Box<ToolCall>,
        token: Token,
    },
    Asked {
        item: Option<ItemId>,
        body: RequestBody,
        token: Token,
    },
    /// Somebody who is not attached asks a server that lives in the client.
    Called {
        cause: Cause,
        body: RequestBody,
    },
    /// The agent wants no answer any more to what it asked.
    TakenBack {
        token: Token,
    },
    /// The agent has ended calls, and waits for whoever has a say about that.
    CallsEnded {
        token: Token,
    },
    /// The agent takes what was added to its turn.
    TakeSteers {
        token: Token,
    },
    Recorded {
        marker: Marker,
        token: Token,
    },
    AgentDone(Result<TurnReport, AgentError>),
    /// The agent has summed up the conversation.
    Compacted(CompactionReport),
    Disconnected {
        conn: ConnId,
    },
    Tick,
}

/// What is to be done after an input.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// At once, waiting for nothing.
    pub(crate) urgent: Vec<Urgent>,
    /// Records to append, in order; none where nothing durable happened.
    pub(crate) append: Vec<EventFrame>,
    /// Whether the append must be on stable storage before `then`.
    pub(crate) sync: Sync,
    /// In order, and only after the append.
    pub(crate) then: Vec<Effect>,
}

/// Whether an append must be on stable storage before what depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Sync {
    #[default]
    Written,
    Synced,
}

/// What waits for nothing: stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgent {
    CancelAgent,
    /// The agent is dropped; [`Input::AgentDone`] follows when nothing of it is left.
    DropAgent,
    /// The end of the agent is not waited for any longer.
    ForgetAgent,
    /// The session will be let go within moments: whoever wants it may wait for it.
    Closing,
}

/// What the actor does for the core.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Deliver(EventFrame),
    Receipt(ConnId, Receipt),
    Request(ConnId, RequestFrame),
    RequestClosed(ConnId, RequestId, ClosedBecause),
    Refused(ConnId, Refusal),
    StartAgent {
        turn: TurnId,
        prompt: Vec<Content>,
    },
    /// The agent shall sum up the conversation.
    StartCompaction {
        turn: TurnId,
    },
    /// There is something for the agent to take.
    Steered,
    /// The mode, or an option, is another now.
    Settings,
    /// The agent shall stop one call.
    StopCall(ItemId),
    Steers(Token, Vec<Vec<Content>>),
    Started(Token, ItemId),
    /// The same with another input.
    StartedWith(Token, ItemId, Value),
    /// The call may not run and has ended; why.
    Denied(Token, String),
    Reply(Token, Outcome),
    RecordDone(Token),
    Stop,
}
