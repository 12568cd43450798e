//! Transcripts in the Claude CLI's own shape, in and out.
//!
//! A transcript is a file of one JSON object a line. Its entries are a graph, not a list: each names
//! the one that it follows, results of parallel calls hang beside each other, and what was edited
//! away stays in the file. [`Index::read`] goes through the file once and keeps where each entry
//! stands; [`Fold`] then tells the conversation, an entry at a time, in whatever order it has in the
//! file. Neither holds more than a window of the file in memory.
//!
//! What this is not: it opens no file and makes no session. Whoever calls it gives it bytes that can
//! be read at any place.
//!
//! # Invariants
//! - Nothing that stands in a file is an error: it is read around and told in [`Findings`].
//! - Each call is told with its result, once, however far apart they stand.
//! - No value is made of a line that is no part of the conversation.

mod block;
mod chain;
mod check;
mod entry;
mod findings;
mod fold;
mod head;
mod index;
mod resumed;
mod slug;
mod tail;
mod write;

pub use check::{Flaw, check};
pub use findings::{Findings, Kind};
pub use fold::Fold;
pub use index::{Index, PROVED_ON};
pub use resumed::go_on;
pub use slug::{path, slug};
pub use tail::Tail;
pub use write::{Continuation, Transcript};
