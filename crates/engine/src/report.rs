//! What comes of an agent's work: what it says at the end.

use sessiond_protocol::{Stop, Usage};

/// What an agent says at the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnReport {
    /// Why it stopped.
    pub stop: Stop,
    /// What it used, where it knows.
    pub usage: Option<Usage>,
}

/// What an agent says at the end of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionReport {
    /// What it goes on from; not empty, at most
    /// [`SUMMARY_BYTES`](sessiond_protocol::limits::SUMMARY_BYTES).
    pub summary: String,
    /// What it used, where it knows.
    pub usage: Option<Usage>,
}

/// Either.
#[derive(Debug)]
pub(crate) enum Report {
    Turn(TurnReport),
    Compaction(CompactionReport),
}
