//! What a submission was made for.

use sessiond_protocol::{Op, SessionChanged, SessionId, SessionResume};
use sessiond_wire::rpc::RawId;

/// What becomes of a receipt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Awaited {
    /// The request that it answers; none where no request waits for it.
    pub(crate) request: Option<RawId>,
    /// The session that the request named.
    pub(crate) session: Option<SessionId>,
    pub(crate) purpose: Purpose,
}

/// What a submission does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Purpose {
    New,
    Attach(Showing),
    /// A session is copied; this attaches to the copy.
    Fork(Box<SessionResume>),
    /// A copy that was made is attached to.
    Forked,
    List,
    Status,
    Options,
    Close,
    /// A session is closed so that this can be done with it.
    CloseFor(Shelf),
    Shelve(Shelf),
    /// A session is not where it would be taken from: is it where it shall go?
    ShelvedBefore(Shelf),
    Configure(Setter),
    Title(Titling),
    Prompt(Wish),
    Extension(Wish),
    /// Nothing depends on its receipt.
    Nothing,
}

/// What an attach shows of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Showing {
    /// All of it, before the answer: a load.
    All,
    /// Nothing: a resume.
    Nothing,
}

/// Where a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shelf {
    Archive,
    Store,
    Trash,
}

impl Shelf {
    /// The operation that puts it there.
    pub(crate) fn op(self) -> Op {
        match self {
            Shelf::Archive => Op::SessionArchive {},
            Shelf::Store => Op::SessionUnarchive {},
            Shelf::Trash => Op::SessionDelete {},
        }
    }
}

/// Which request changed what the user chooses: the other way of showing it is told by an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setter {
    Mode(Box<SessionChanged>),
    ConfigOption(Box<SessionChanged>),
}

/// How far a new title is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Titling {
    /// The session is open here; it is given the title.
    Open(String),
    /// It is attached to for that, and left again.
    Attach(String),
    /// It was attached to for that, and is given the title.
    Attached(String),
}

/// What the client wants of a prompt whose turn has no name yet, or of what the agent has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Run,
    /// It withdrew the request meanwhile.
    Cancel,
}

impl Awaited {
    /// For a request that names no session.
    pub(crate) fn request(id: &RawId, purpose: Purpose) -> Self {
        Self {
            request: Some(id.clone()),
            session: None,
            purpose,
        }
    }

    /// For a request about a session.
    pub(crate) fn about(session: SessionId, id: &RawId, purpose: Purpose) -> Self {
        Self {
            session: Some(session),
            ..Self::request(id, purpose)
        }
    }

    /// For no request.
    pub(crate) fn nothing() -> Self {
        Self {
            request: None,
            session: None,
            purpose: Purpose::Nothing,
        }
    }

    /// How the submission's id begins.
    pub(crate) fn kind(&self) -> &'static str {
        match self.purpose {
            Purpose::New => "new",
            Purpose::Attach(Showing::All) => "load",
            Purpose::Attach(Showing::Nothing) => "resume",
            Purpose::Fork(_) | Purpose::Forked => "fork",
            Purpose::List => "list",
            Purpose::Status | Purpose::ShelvedBefore(_) => "status",
            Purpose::Options => "options",
            Purpose::Close | Purpose::CloseFor(_) => "close",
            Purpose::Shelve(_) => "shelve",
            Purpose::Configure(_) => "configure",
            Purpose::Title(_) => "title",
            Purpose::Prompt(_) => "prompt",
            Purpose::Extension(_) => "extension",
            Purpose::Nothing => "other",
        }
    }

    /// Whether it changes what the user chooses of this session.
    pub(crate) fn configures(&self, session: SessionId) -> bool {
        self.session == Some(session) && matches!(self.purpose, Purpose::Configure(_))
    }
}
