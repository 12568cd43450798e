//! Any ACP agent behind a session: sessiond as the client of a program that speaks ACP on stdio.
//!
//! One process a session, under a guard, so that nothing of it outlives the session or us. It is
//! started when a client takes control ([`AcpAgent`] parks it until the first turn), and started
//! anew by the next turn when it went away. What it says in a turn becomes the waist's verbs
//! (`turn`), what it says between turns becomes updates (`between`); what it asks becomes requests
//! to the controlling client (`asks`).
//!
//! The agent keeps a conversation of its own. The log is the one that counts: at each start the two
//! are compared where the agent can replay its own, and what it lacks is handed over with the next
//! prompt (`handover`); what cannot be aligned is never merged (ADAPT-10).

mod answer;
mod asks;
mod between;
mod calls;
mod downstream;
mod factory;
mod failure;
mod handle;
mod handover;
mod incoming;
mod introduction;
mod local;
mod native;
mod offers;
mod prompt;
mod replay;
mod said;
mod settings;
mod start;
mod terminals;
mod turn;
mod update;

pub use factory::AcpAgent;
