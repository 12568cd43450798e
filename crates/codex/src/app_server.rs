//! The app-server face: JSON-RPC on stdio, as the Python SDK of Codex starts it.
//!
//! [`serve()`] speaks with one client, and the waist with the engine, and translates between the
//! two. `Face` decides, `Client` is the one way out, `live` turns events into notifications, `Past`
//! folds them into turns. docs/codex.md says what becomes of each method and each event.
//!
//! # Invariants
//! - Every request gets exactly one answer. Where the client does not read, nothing is read.
//! - A line that is no message is not answered, as with the original.
//! - Whatever shows an item takes its words from one place: live, `thread/read` and pages agree.

mod answer;
mod approvals;
mod catalog;
mod client;
mod decisions;
mod escape;
mod face;
mod inject;
mod item;
mod line;
mod listing;
mod live;
mod methods;
mod open;
mod pages;
mod params;
mod past;
mod policy;
mod reading;
mod refuse;
mod serve;
mod shelf;
#[cfg(test)]
mod stored;
mod thread;
mod threads;
mod time;
mod turns;
mod wish;

pub use serve::{FaceError, Options, serve, serve_until};
