//! What a submission of version 2 was made for.

use sessiond_protocol::{Content, SessionId, SessionResume, SessionStatus};
use sessiond_wire::rpc::RawId;

/// What a submission was made for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Awaited {
    New {
        id: RawId,
    },
    Resume {
        id: RawId,
        session: SessionId,
        purpose: Purpose,
    },
    Fork {
        id: RawId,
        /// How the fork is resumed, but for its id.
        resume: Box<SessionResume>,
    },
    List {
        id: RawId,
    },
    Close {
        id: RawId,
        session: SessionId,
        behind: Behind,
    },
    Shelve {
        id: RawId,
        session: SessionId,
        behind: Behind,
    },
    Status {
        id: RawId,
        session: SessionId,
    },
    Options {
        id: RawId,
        session: Option<SessionId>,
    },
    /// A session is attached to only to give it a title.
    Visit {
        id: RawId,
        session: SessionId,
        title: String,
    },
    Title {
        id: RawId,
        session: SessionId,
        title: String,
        stay: Stay,
    },
    /// Whether what could not be put somewhere is there already.
    Before {
        id: RawId,
        session: SessionId,
        behind: Behind,
    },
    Configure {
        id: RawId,
        session: SessionId,
    },
    Prompt {
        id: RawId,
        session: SessionId,
        wish: Wish,
    },
    /// A prompt that asked for a compaction.
    Compact {
        id: RawId,
        session: SessionId,
        prompt: Vec<Content>,
        wish: Wish,
    },
    Stop {
        id: RawId,
        session: SessionId,
    },
    Extension {
        id: RawId,
        session: SessionId,
        wish: Wish,
    },
    /// Nobody waits for what becomes of it.
    Told,
}

/// Which request attached to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Resume,
    Fork,
}

/// What becomes of a session that is not active any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind {
    Nothing,
    Delete,
    Archive,
    Unarchive,
}

impl Behind {
    /// Whether a session that stands so is where it was to be put.
    pub(super) fn is_done(self, status: SessionStatus) -> bool {
        match self {
            Behind::Archive => status == SessionStatus::Archived,
            Behind::Unarchive => status != SessionStatus::Archived,
            Behind::Nothing | Behind::Delete => false,
        }
    }
}

/// Whether a session stays attached that gets a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stay {
    Active,
    Visited,
}

/// What the client wants of a prompt whose turn has no name yet, or of what the agent has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Run,
    /// It withdrew the request meanwhile.
    Cancel,
}

impl Awaited {
    /// How the submission's id begins.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Awaited::New { .. } => "new",
            Awaited::Resume { .. } => "resume",
            Awaited::Fork { .. } => "fork",
            Awaited::List { .. } => "list",
            Awaited::Close { .. } => "close",
            Awaited::Shelve { .. } => "shelve",
            Awaited::Status { .. } => "status",
            Awaited::Options { .. } => "options",
            Awaited::Visit { .. } => "visit",
            Awaited::Title { .. } => "title",
            Awaited::Before { .. } => "before",
            Awaited::Configure { .. } => "configure",
            Awaited::Prompt { .. } => "prompt",
            Awaited::Compact { .. } => "compact",
            Awaited::Stop { .. } => "stop",
            Awaited::Extension { .. } => "extension",
            Awaited::Told => "told",
        }
    }

    /// Whether it sets options of this session.
    pub(super) fn configures(&self, session: SessionId) -> bool {
        matches!(self, Awaited::Configure { session: of, .. } if *of == session)
    }

    /// The request that waits for it, and the session it is about.
    pub(super) fn waits(&self) -> Option<(&RawId, Option<SessionId>)> {
        match self {
            Awaited::New { id } | Awaited::List { id } => Some((id, None)),
            Awaited::Fork { id, resume } => Some((id, Some(resume.session))),
            Awaited::Options { id, session } => Some((id, *session)),
            Awaited::Resume { id, session, .. }
            | Awaited::Close { id, session, .. }
            | Awaited::Shelve { id, session, .. }
            | Awaited::Status { id, session }
            | Awaited::Visit { id, session, .. }
            | Awaited::Title { id, session, .. }
            | Awaited::Before { id, session, .. }
            | Awaited::Configure { id, session }
            | Awaited::Prompt { id, session, .. }
            | Awaited::Compact { id, session, .. }
            | Awaited::Stop { id, session }
            | Awaited::Extension { id, session, .. } => Some((id, Some(*session))),
            Awaited::Told => None,
        }
    }
}
