//! The `sessiond` command: it reads the command line, puts store, engine, agents and a face
//! together, and turns what comes of it into an exit code.
//!
//! What this crate is not: it holds no session, speaks no protocol of its own and decides nothing
//! about turns. The faces live in the crates of their protocols, sessions in `sessiond-engine`.
//!
//! # Invariants
//! - A face on stdio takes stdout away from everyone else before anything that could print runs
//!   (WIRE-10); commands for people write to stdout through `output` alone.
//! - Diagnostics go to `--log-file`; stderr gets a few short lines (WIRE-12, SEC-1).
//! - Leases are freed before stdout is closed, and the process ends in bounded time whatever the
//!   client does (WIRE-13).
//! - Exit codes are those of contract.md; `Failure` alone knows them.
//!
//! ```no_run
//! // The whole of the program, but for the guard that tools run under.
//! std::process::exit(sessiond_cli::run());
//! ```

mod access;
mod acp_command;
mod agents;
mod args;
mod attach_command;
mod channel;
mod claude_command;
mod codex;
mod command;
mod config;
mod configured_agent;
mod conversation;
mod demo;
mod diagnostics;
mod doctor;
mod exec;
mod failure;
mod host_command;
mod mcp_command;
mod named;
mod occupied;
mod output;
mod printer;
mod schema;
mod sessions;
mod setup;
mod signals;
mod sqeq_command;
mod store_path;
mod transcript_command;
mod workspace;

use sessiond_wire::waist;

pub use claude_command::run as run_claude;
pub use codex::run_codex;
pub use command::run;
