//! The reference peer in the place of Codex: `reference-peer codex-exec` and `codex-app-server`.

pub(crate) mod app;
pub(crate) mod exec;
mod frame;
mod stage;
mod thread;
mod threads;
