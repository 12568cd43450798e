//! The home of Codex's protocols: the faces `exec` and `app-server` that its SDKs start, the real
//! app-server as a downstream agent, and rollouts in and out.
//!
//! The faces are clients of the waist: they hold a `Connection` and touch neither the log nor an
//! agent. What is common to both directions is written once here: what a tool call is in Codex's
//! words, what a sandbox lets run, how tokens are counted.
//!
//! # Invariants
//! - Only the sandbox, or an answer of the client, allows a tool to run (WIRE-8).
//! - Every item that was shown to begin is shown to end, before the turn's one end.
//! - Usage is the thread's, not the turn's, as Codex counts it.

pub mod agent;
pub mod app_server;
mod call;
mod change;
pub mod exec;
mod prompt;
mod refusal;
pub mod rollout;
mod sandbox;
mod settings;
mod tokens;

pub use prompt::{PICTURE_BYTES, picture};
pub use sandbox::{Sandbox, SandboxMode};
pub use settings::Settings;
