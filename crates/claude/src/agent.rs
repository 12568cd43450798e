//! The real Claude CLI behind a session: sessiond as the program that speaks stream-json with it.
//!
//! One process a session, under a guard, as `kind = "acp"` has it. It is started when a client takes
//! control ([`ClaudeAgent`] parks it until the first turn), and started anew by the next turn when it
//! went away. A turn is one `user` line and ends with its `result` (`turn`); what the CLI asks
//! becomes requests to the controlling client (`asks`). Before each tool it waits for a hook of ours,
//! and so for the record of the call (LOG-5).
//!
//! The CLI keeps a transcript of its own. The log is the one that counts: at each start the two are
//! compared, and where the transcript is gone, behind or of another conversation, a new one is
//! written from the log and taken up (`record`); nothing is ever merged into the old one (ADAPT-10).

mod asks;
mod between;
mod calls;
mod downstream;
mod factory;
mod incoming;
mod link;
mod native;
mod offers;
mod outcome;
mod prompt;
mod record;
mod servers;
mod settings;
mod start;
mod stream;
mod turn;

pub use factory::ClaudeAgent;
