//! The waist of sessiond: one set of types between every face and the engine.
//!
//! A client sends [`ClientFrame`]s (above all [`Submission`]s, each with an [`Op`]) and gets
//! [`ServerFrame`]s (above all [`EventFrame`]s, each with an [`Event`]). The durable events of a
//! session are its log: replaying them and living through them give the same [`History`] and
//! the same [`Standing`].
//!
//! What this crate is not: it opens no file, reads no clock, mints no id and knows no foreign
//! protocol. ACP, Claude and Codex shapes live in the crates of those names.
//!
//! # Invariants
//! - One [`Event`] type serves live delivery and storage; [`Event::persistence`] alone says how
//!   each kind is kept.
//! - An unknown durable event is kept as it is and passed over, never an error (LOG-11).
//! - Ids are validated when they are made: no text from the wire becomes a path unparsed (LOG-13).
//!
//! ```
//! use sessiond_protocol::{ClientFrame, Hello, Party, decode, encode};
//!
//! let client = Party { name: "demo".into(), version: "1".into() };
//! let line = encode(&ClientFrame::Hello(Hello { versions: vec![1], client, ack: false }))?;
//! assert!(line.starts_with(r#"{"v":1,"type":"hello""#));
//! assert!(matches!(decode(&line)?, ClientFrame::Hello(_)));
//! # Ok::<(), sessiond_protocol::BadFrame>(())
//! ```

mod accepted;
mod attestation;
mod cost;
mod course;
mod error;
mod event;
mod frame;
mod history;
mod hook;
mod hooked;
mod ids;
mod item;
mod key;
pub mod limits;
mod marker;
mod op;
mod request;
pub mod schema;
mod session;
mod setup;
mod standing;
mod summary;
mod told;

pub use accepted::{Accepted, TurnStage};
pub use attestation::{
    Attestation, Closed, ContextStart, Drift, DriftClass, DriftClasses, DriftField, FoundBy,
    Loaded, ResumePath, Surroundings,
};
pub use cost::{Cost, Currency, NoCurrency};
pub use course::{Course, InForce, NoBookmark, Stretch};
pub use error::{ErrorCode, ForeignError, Gap, Holder, WireError};
pub use event::{
    Event, EventFrame, Persistence, Place, SessionChanged, Severity, Stop, Stream, Titler,
    TurnConfig, TurnEnded, TurnOutcome, Usage,
};
pub use frame::{
    Answer, BadFrame, ClientFrame, Hello, Party, PersistenceState, Receipt, RequestFrame,
    ServerFrame, Submission, VERSION, Verdict, Welcome, decode, encode,
};
pub use history::History;
pub use hook::Hook;
pub use ids::{Cursor, InvalidId, ItemId, RequestId, SessionId, SubmissionId, TurnId};
pub use item::{
    Compaction, Content, Finish, Item, ItemKind, Location, PlanEntry, PlanPriority, PlanStatus,
    Stoppable, ToolCall, ToolContent, ToolKind, ToolStatus,
};
pub use key::{IdempotencyKey, InvalidKey, Keyed, KeyedTurn};
pub use limits::Limits;
pub use marker::{Lack, Marker};
pub use op::{
    Answered, Archived, AttachMode, Extent, IfBusy, ImportSource, OnDisconnect, Op, Queued, Replay,
    SessionList, SessionNew, SessionResume,
};
pub use request::{
    ClosedBecause, Exit, Outcome, Permission, PermissionKind, PermissionOption, RequestBody,
    RequestKind, TerminalOp,
};
pub use session::{
    AgentId, AgentInfo, Command, ForkPoint, Grant, GrantEffect, HistoryItem, Kept, Mode,
    ModePolicy, Origin, Recency, SessionOpened, SessionStatus, SessionView, Start, Summary,
    Workspace, title_line,
};
pub use setup::{
    AgentOption, Choice, Instructions, InstructionsMode, McpServer, NameValue, OptionSetting,
    OptionValue, Settings, Setup,
};
pub use standing::{LastRun, OpenItem, OpenRequest, Standing, WaitingTurn, prompt_item};
pub use summary::SummaryFold;
pub use told::{Losses, Lost, Telling, Told, ToldAbout, told_of};
