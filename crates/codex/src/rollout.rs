//! Rollouts: what Codex writes down of a thread, in and out.
//!
//! A rollout is a file of one JSON object a line: the head that says whose it is, then what was said
//! to the model and by it, and, for its own faces, much of that once more as events. A thread may go
//! on from another file: a fork, or what was reverted. [`Rollout::read`] finds the head of a file and
//! those that it goes on from; [`Fold`] goes through them once and tells the conversation.
//!
//! What this is not: it opens no file and makes no session. Whoever calls it gives it bytes that can
//! be read at any place, and finds the files of other threads.
//!
//! # Invariants
//! - Nothing that stands in a file is an error: it is read around and told in [`Findings`].
//! - Each call is told with its result, once, where the call stood.
//! - The first head counts; the others are those of the threads that a thread was copied from.

mod blocks;
mod chain;
mod ending;
mod events;
mod findings;
mod fold;
mod held;
mod known;
mod line;
mod name;
mod out;
mod plan;
mod reader;
mod resumed;
mod said;
mod tail;
mod tool;
mod write;

#[cfg(test)]
mod tests;

pub use chain::{File, Mode, Rollout, Wanted};
pub use findings::{Findings, Kind};
pub use fold::Fold;
pub use name::{file_name, thread_of};
pub use reader::is_rollout;
pub use resumed::go_on;
pub use tail::Tail;
pub use write::{Continuation, Writer};

/// Versions of the program that the reader and the writer were proved on.
pub const PROVED_ON: [&str; 1] = ["0.171.0"];
