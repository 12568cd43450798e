//! The Agent Client Protocol, version 1, as sessiond shows it to editors: the ACP face.
//!
//! [`serve()`] speaks JSON-RPC lines with one client, and the waist (frames of
//! `sessiond-protocol`) with the engine, and translates between the two. `Face` decides, `Client`
//! is the one way out, `Live` and `Replay` turn events into updates, `Questions` turns requests of
//! the agent into requests to the client.
//!
//! What this crate is not: it opens no file, spawns no process, knows no agent and keeps no
//! history; it does not own stdin or stdout (`sessiond-wire` does) and connects no MCP server.
//!
//! # Invariants
//! - The face is a client of the waist: it cannot tell whether the engine is in this process.
//! - Every request gets exactly one answer; a prompt's comes after all updates of its turn, a
//!   load's after all of the replay, and nothing about a new session comes before the answer to
//!   its request.
//! - Nothing is said about a session outside of a request of the client.
//! - Only what the client offered is asked of it, or shown to it.
//! - Nothing but an answer with an offered option allows a tool to run (WIRE-8).
//! - Text that was shown is never sent again; two replays of one log are equal.
//! - No error of ours repeats what was received (WIRE-3).
//!
//! ```
//! use sessiond_acp::{Options, serve};
//! use sessiond_wire::{Line, OutQueue, pair};
//! use tokio::sync::mpsc;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let (lines, receiver) = mpsc::channel(1);
//! let (waist, engine) = pair();
//! let face = tokio::spawn(serve(receiver, OutQueue::new(), waist, Options::default()));
//!
//! lines.send(Line::Text(r#"{"jsonrpc":"2.0","method":"session/cancel"}"#.into())).await?;
//! drop(lines); // The client leaves …
//! drop(engine); // … and so does the engine, which never said hello.
//! assert_eq!(face.await?.map_err(|error| error.code()), Err("engine_gone"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod asked;
mod awaited;
mod choices;
mod client;
mod compaction;
mod configure;
mod error;
mod event;
mod extension;
mod face;
mod gate;
mod live;
mod look;
mod meter;
mod negotiate;
mod params;
mod prompt;
mod question;
mod questions;
mod receipt;
mod refusal;
mod replay;
mod router;
mod serve;
mod session;
mod sessions;
mod setup;
mod shelf;
mod tail;
mod title;
mod update;
mod v2;

pub use agent::AcpAgent;
pub use error::FaceError;
pub use serve::{Options, Versions, serve, serve_until};
