//! The home of Codex's protocols: the faces `exec` and `app-server` that its SDKs start, the real
//! app-server as a downstream agent, and rollouts in and out.
//!
//! The faces are clients of the waist: they hold a `Connection` and touch neither the log nor an
//! agent. What is common to both directions is written once here.

pub mod agent;
pub mod app_server;
pub mod exec;
pub mod rollout;
