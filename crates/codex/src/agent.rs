//! The real Codex behind a session: sessiond as the client of `codex app-server` on stdio.
//!
//! One process a session, under a guard, so that nothing of it outlives the session or us. It is
//! started when a client takes control ([`CodexAgent`] parks it until the first turn), and started
//! anew by the next turn when it went away. What it says in a turn becomes the waist's verbs
//! (`turn`), what it says between turns becomes updates (`between`); what it asks becomes requests
//! to the controlling client (`asks`).
//!
//! Codex keeps the conversation as a thread of its own. The log is the one that counts: at each
//! start the two are compared turn by turn (`record`). A thread that lacks the newest is told so
//! with the next prompt; where there is none, or one that cannot be aligned, a new one is made and
//! the conversation is put into it as Codex's own items (`handed`). Nothing is ever merged by guess
//! (ADAPT-10).

mod asks;
mod between;
mod calls;
mod changes;
mod downstream;
mod factory;
mod failure;
mod handed;
mod incoming;
mod input;
mod item;
mod offers;
mod record;
mod requests;
mod said;
mod start;
mod steers;
mod streams;
mod talk;
mod thread;
mod turn;
mod usage;

pub use factory::CodexAgent;

/// The version of Codex that all of this was proved on (ADAPT-11).
pub const PROVED: &str = "0.171.0";
