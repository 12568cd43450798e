//! The engine of sessiond: sessions and turns between the waist and the log.
//!
//! An [`Engine`] hands out [`Connection`](sessiond_wire::Connection)s. What a client submits on one
//! goes to the actor of the session it names. The actor feeds the session core, a pure state
//! machine that turns one input into records and effects; appends the records; and releases each
//! effect only when the log has acknowledged the append it depends on. Behind the actor an
//! [`Agent`] runs one turn at a time.
//!
//! What this crate is not: it speaks no foreign protocol, drives no particular agent, and touches
//! files only through [`sessiond_log`].
//!
//! # Invariants
//! - The core does no I/O, reads no clock and mints no id: all of that is given to it.
//! - At most one turn is active in a session (SQEQ-2), and each turn ends exactly once, after every
//!   other event of it (SQEQ-3).
//! - A turn that is stopped ends when its agent has returned, or was dropped after a grace, and
//!   nothing that the agent started runs any more (TASK-4).
//! - An answer counts only where the request, the call, the run of the session, the connection, the
//!   policy and the payload are those that were asked; any other is refused and counted (WIRE-8).
//! - An idempotency key stands for one turn, in every later run of the session too.
//! - Nothing final is said, done or answered before the record it depends on is on stable storage
//!   (LOG-5).
//! - What a dead process left open is closed by the next append and shown as closed by every load
//!   before it; a load itself appends nothing (RESUME-3, RESUME-6).
//! - A controller that stops reading slows the agent of its session down; it never costs memory
//!   without bound and never loses anything but the granularity of deltas (WIRE-6). One that
//!   acknowledges slowly slows nothing down: what it lacks comes from the log (SQEQ-9). A viewer that
//!   stops reading slows nobody down: it gets a `gap` and goes on from the log (SQEQ-6).

mod acks;
mod actor;
mod agent;
mod audit;
mod catalog;
mod core;
mod drift;
mod engine;
mod feed;
mod outlet;
mod pages;
mod past;
mod record;
mod recovered;
mod report;

/// How an agent's own record of a conversation stands to the log.
pub mod alignment {
    pub use crate::agent::alignment::{Alignment, Exchange, align};
}

/// What an agent's program says between turns.
pub mod between {
    pub use crate::agent::between::{Between, Left, Outside, Voice, bad_line};
}

/// What an agent is given of a conversation that it does not have itself.
pub mod handover {
    pub use crate::agent::handover::{
        Handover, MESSAGE_BYTES, Mark, RESULT_BYTES, TOTAL_BYTES, instructions, without,
    };
}

pub use agent::{
    AGENT_AHEAD, Agent, AgentError, AgentFactory, Announced, Conversation, Emit, Endpoint,
    Extensions, HistorySource, Hold, Opening, Parking, TurnContext, TurnOver, Updates, Withdrawal,
};
pub use audit::{Action, Decision};
pub use catalog::{events_of, originals_of};
pub use engine::{
    DrainTimeout, Engine, EngineConfig, Environment, Foreign, Importer, Keeper, PIECE_BYTES,
};
pub use report::{CompactionReport, TurnReport};
