//! Operations: what a client asks of sessiond.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Content, Cursor, DriftClass, FoundBy, IdempotencyKey, Item, ItemId, OptionSetting, RequestKind,
    SessionId, Setup, TurnId,
};

/// What a submission asks for. The session it is about stands beside it, where there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Op {
    /// Make a session and attach to it as its controller.
    #[serde(rename = "session.new")]
    SessionNew(SessionNew),
    /// Attach to a stored session.
    #[serde(rename = "session.resume")]
    SessionResume(SessionResume),
    /// One page of the sessions, newest first.
    #[serde(rename = "session.list")]
    SessionList(SessionList),
    /// Whether a session is open somewhere, without attaching.
    #[serde(rename = "session.status")]
    SessionStatus {},
    /// What an agent offers and what of it would be in force: of the session beside it, or of a new
    /// one. Nothing is made or started.
    #[serde(rename = "agent.options")]
    AgentOptions {
        /// The agent's configured name; the session's otherwise, or the default one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// One page of a session's durable events, without attaching.
    #[serde(rename = "session.read")]
    SessionRead {
        /// Events after this one.
        #[serde(default)]
        after: Cursor,
        /// Of these the newest before this one, instead of the oldest; a cursor beyond the newest event
        /// stands for the log's end. `next` is then the `before` of the page in front of this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Cursor>,
        /// At most so many; at most [`crate::limits::PAGE_EVENTS`].
        #[serde(default)]
        limit: Option<u32>,
        /// Which of them.
        #[serde(default, skip_serializing_if = "Extent::is_all")]
        extent: Extent,
    },
    /// Change the mode, options of the agent, or both; all of it or, where something of it is
    /// refused, nothing.
    #[serde(rename = "session.configure")]
    SessionConfigure {
        /// The mode's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// Options of the agent, with the values they shall have.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<OptionSetting>,
    },
    /// Give the session a title of the user's choice, which no other overwrites.
    #[serde(rename = "session.rename")]
    SessionRename {
        /// The title: its first line that is not blank, cut at [`crate::limits::TITLE_CHARS`].
        title: String,
    },
    /// Say that the session's directory is another one now; resumes from now on work there. What
    /// was recorded before stays as it is.
    #[serde(rename = "session.relocate")]
    SessionRelocate {
        /// The working directory, absolute.
        cwd: String,
    },
    /// Begin the conversation anew (RESUME-1): what came before stays in the log, for a fork or a
    /// rewind, and no load or agent gets it. Refused while a turn is active or waits.
    #[serde(rename = "session.clear")]
    SessionClear {},
    /// Have the agent sum up what was said (CTX-2): a turn without a prompt, for an item `compaction`
    /// that the agent has in its place; clients are shown everything. Refused while a turn is active
    /// or waits, where nothing was said since, and as `unsupported` where the agent cannot.
    #[serde(rename = "session.compact")]
    SessionCompact {},
    /// Go on with the conversation as it was at a bookmark: the end of a turn, or a header, clear or
    /// rewind, also in a part that was cleared or rewound away (CKPT-2, CTX-8). What came after it
    /// stays in the log; title, mode, grants and what tools have changed stay as they are. Refused
    /// while a turn is active or waits; `invalid` where `to` is no bookmark names the nearest before.
    #[serde(rename = "session.rewind")]
    SessionRewind {
        /// The bookmark.
        to: Cursor,
    },
    /// Add whole items to the conversation, without a turn: messages, thoughts, and tool calls that
    /// have ended, at most [`crate::limits::APPENDED_ITEMS`]. Nothing runs. They get ids of their own,
    /// and are on stable storage before the receipt; the agent is opened anew with them. Refused while
    /// a turn is active or waits.
    #[serde(rename = "session.append")]
    SessionAppend {
        /// The items, in order.
        items: Vec<Item>,
    },
    /// Make a new session out of what is elsewhere. It rests: nobody is attached to it. The receipt
    /// holds its view. A client on the network cannot name a file.
    #[serde(rename = "session.import")]
    SessionImport {
        /// What of.
        source: ImportSource,
    },
    /// Make a new session that begins with this one's history (RESUME-9). It rests: nobody is
    /// attached to it. The receipt holds its view.
    #[serde(rename = "session.fork")]
    SessionFork {
        /// The last event they share; the newest bookmark otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Cursor>,
        /// The copy's id, if the client wants to choose it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<SessionId>,
    },
    /// Put a session that nobody holds away: lists leave it out, nothing of it is lost (LOG-10).
    #[serde(rename = "session.archive")]
    SessionArchive {},
    /// Bring a session back from the archive.
    #[serde(rename = "session.unarchive")]
    SessionUnarchive {},
    /// Move a session that nobody holds, archived or not, to the trash (LOG-12).
    #[serde(rename = "session.delete")]
    SessionDelete {},
    /// Bring a removed session back out of the trash, as it was; the newest one of this id.
    #[serde(rename = "session.restore")]
    SessionRestore {},
    /// Leave a session on this connection without ending it: for a controller that is what its
    /// `on_disconnect` says. No event of the session comes after the receipt.
    #[serde(rename = "session.detach")]
    SessionDetach {},
    /// End the process that serves this connection, in order: nobody new comes in, all connections
    /// end, and what runs for them ends as they said at attach.
    #[serde(rename = "shutdown")]
    Shutdown {},
    /// End the turns of a session and let go of it; it stays resumable.
    #[serde(rename = "session.close")]
    SessionClose {},
    /// Begin a turn.
    #[serde(rename = "turn.start")]
    TurnStart {
        /// What the user says.
        input: Vec<Content>,
        /// What to do while another turn is active.
        #[serde(default)]
        if_busy: IfBusy,
        /// The same key with the same input gets the first receipt again, and nothing is done; with
        /// other input it is an error. The newest [`crate::limits::IDEMPOTENCY_KEYS`] are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<IdempotencyKey>,
    },
    /// Add to what the active turn was asked; it is refused where none is active.
    #[serde(rename = "turn.steer")]
    TurnSteer {
        /// What the user says.
        input: Vec<Content>,
        /// Only this turn; the active one otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
    },
    /// Stop the active turn (SQEQ-3); with none active nothing happens (SQEQ-4).
    #[serde(rename = "turn.interrupt")]
    TurnInterrupt {
        /// Only this turn; the active one otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// What becomes of the turns that wait.
        #[serde(default)]
        queued: Queued,
    },
    /// Stop one tool call of the active turn, which goes on (TASK-4). Only a call that says it can be
    /// stopped; the receipt says that the agent was told.
    #[serde(rename = "call.cancel")]
    CallCancel {
        /// The call.
        item: ItemId,
    },
    /// Something between a client and an agent that the waist does not know: passed on as it is,
    /// never recorded. Refused where the agent takes no such thing.
    #[serde(rename = "extension")]
    Extension {
        /// Its name in the protocol of both.
        method: String,
        /// Its params.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        params: Value,
        /// Whether the agent is to answer.
        #[serde(default)]
        answer: Answered,
    },
    /// Ask a server that lives in the client of the session beside it, for an agent: what the server
    /// offers at any time, anything else while a turn is active, which is recorded and asked as a
    /// request of kind `mcp`. Needs no attach; whoever may connect may ask, but no client on the network.
    #[serde(rename = "mcp.request")]
    McpRequest {
        /// The server, as the client named it.
        server: String,
        /// The method: `tools/list`, `tools/call` or another.
        method: String,
        /// Its params.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        params: Value,
    },
}

impl Op {
    /// Change the mode.
    pub fn set_mode(mode: impl Into<String>) -> Self {
        Op::SessionConfigure {
            mode: Some(mode.into()),
            options: Vec::new(),
        }
    }
}

/// Whether an extension waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answered {
    /// The receipt holds the agent's answer.
    #[default]
    Answer,
    /// The receipt says that it was passed on.
    None,
}

/// What `session.new` takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionNew {
    /// The id, if the client wants to choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// The working directory, absolute.
    pub cwd: String,
    /// The agent's configured name; the default one otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the agent works with.
    #[serde(default, skip_serializing_if = "Setup::is_empty")]
    pub setup: Setup,
    /// The kinds of request this client answers.
    #[serde(default = "answers_by_default")]
    pub answers: Vec<RequestKind>,
    /// What becomes of a running turn when this client goes.
    #[serde(default)]
    pub on_disconnect: OnDisconnect,
}

impl SessionNew {
    /// A session at a directory, with all else as it is by default.
    pub fn at(cwd: impl Into<String>) -> Self {
        Self {
            id: None,
            cwd: cwd.into(),
            agent: None,
            setup: Setup::default(),
            answers: answers_by_default(),
            on_disconnect: OnDisconnect::default(),
        }
    }
}

/// What a session is imported from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ImportSource {
    /// A file that `sessiond sessions export` wrote: all of it, checked, or nothing.
    File {
        /// The file, absolute, on the server's machine.
        path: String,
        /// Another id than the one in the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<SessionId>,
    },
    /// Items of a conversation that was led elsewhere; as [`Op::SessionAppend`] takes them.
    Items {
        /// The working directory, absolute.
        cwd: String,
        /// The agent's configured name; the default one otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The items, in order.
        items: Vec<Item>,
    },
}

/// What `session.resume` takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionResume {
    /// The session.
    pub session: SessionId,
    /// The working directory, absolute, if it shall not be the recorded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the agent works with; what is recorded otherwise. Counts where the session is not open
    /// yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// How the client came by the id; a hint that is attested.
    #[serde(default)]
    pub found_by: FoundBy,
    /// What the client accepts of what has changed since the session was recorded (RESUME-16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<DriftClass>,
    /// What of the past to send.
    #[serde(default)]
    pub replay: Replay,
    /// Whether to control the session or to look on.
    #[serde(default)]
    pub mode: AttachMode,
    /// The kinds of request this client answers.
    #[serde(default = "answers_by_default")]
    pub answers: Vec<RequestKind>,
    /// What becomes of a running turn when this client goes.
    #[serde(default)]
    pub on_disconnect: OnDisconnect,
}

fn answers_by_default() -> Vec<RequestKind> {
    vec![RequestKind::Permission]
}

/// What `session.list` takes. The filters hold together, and come before the page: only the last
/// page is short.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// Only sessions of exactly this working directory. Over a network a list without it is a number
    /// (SEC-4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Only sessions of exactly this title (RESUME-2). Not empty; at most
    /// [`crate::limits::FILTER_CHARS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Only sessions with this text in their title or at the beginning of their first prompt. No
    /// character has a meaning of its own; the letters a to z match in either case. Not empty; at
    /// most [`crate::limits::FILTER_CHARS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Whether sessions in the archive are listed. Their logs are read for it: a list with many of
    /// them takes its time.
    #[serde(default, skip_serializing_if = "Archived::is_left_out")]
    pub archived: Archived,
    /// Where the page before ended: its `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// At most so many; at most [`crate::limits::PAGE_SESSIONS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What a list does with sessions in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Archived {
    /// Leaves them out.
    #[default]
    Exclude,
    /// Lists them like all others.
    Include,
    /// Lists nothing else.
    Only,
}

impl Archived {
    /// Whether they are left out.
    pub fn is_left_out(&self) -> bool {
        *self == Archived::Exclude
    }
}

/// What an attach is for (SQEQ-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachMode {
    /// To submit and to answer. One client a session.
    #[default]
    Control,
    /// To look on: the same events, and nothing that the client could change. Any number of
    /// clients. One that reads too slowly gets a `gap` error and is detached; it attaches again
    /// from the cursor that the error names.
    View,
}

/// What of the past an attach gets. What is in flight comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// Nothing; only what is in flight, from its beginning.
    #[default]
    None,
    /// The conversation in force: the durable events from the newest clear on, or all of them,
    /// without those that were rewound away, but for changes of the session.
    All,
    /// The durable events after a cursor, cleared or not.
    After(Cursor),
}

/// Which events of a log are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All.
    #[default]
    All,
    /// The conversation in force, as [`Replay::All`] shows it.
    Conversation,
}

impl Extent {
    fn is_all(&self) -> bool {
        *self == Extent::All
    }
}

/// What becomes of a running turn when its controller goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDisconnect {
    /// It is cancelled.
    #[default]
    Cancel,
    /// It runs to its end, as do the turns that wait. What it asks then is answered with the
    /// fallback.
    Finish,
    /// The same, but questions wait for the next controller, 24 hours at most: those that are open
    /// are closed and asked again under a new id. What else was asked fails, or falls back.
    Detach,
}

/// What `turn.start` does while another turn is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfBusy {
    /// Answer `turn_active`.
    #[default]
    Reject,
    /// Wait, in order, at most [`crate::limits::QUEUED_TURNS`].
    Queue,
    /// Add to what the active turn was asked; the receipt names that turn. Waits where the active
    /// turn is being stopped.
    Steer,
    /// Stop the active turn and begin next, before those that wait. What was to replace it before
    /// and has not begun ends as cancelled.
    Replace,
}

/// What an interrupt does to the turns that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queued {
    /// They stay and the next one begins.
    #[default]
    Keep,
    /// They end as cancelled too.
    Cancel,
}
