//! Limits: every bound that a client can run into, in one place (WIRE-4). A welcome frame says them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest frame accepted, in bytes. Prompts carry images and whole files.
pub const FRAME_BYTES: usize = 64 << 20;

/// Turns that may wait behind the active one. An editor that queues more has lost its user.
pub const QUEUED_TURNS: usize = 16;

/// Inputs that may wait for the agent of the active turn to take them (`turn.steer`).
pub const STEERS: usize = 16;

/// Idempotency keys that a session remembers, the newest ones: several times what a client can have
/// under way, and little enough to stand in every checkpoint.
pub const IDEMPOTENCY_KEYS: usize = 128;

/// Seconds that a client has to answer a hook; then it has no opinion. Long enough for a program
/// that checks or formats, short enough that a client that hangs does not hold a turn for good.
pub const HOOK_SECONDS: u64 = 60;

/// How often a hook can make a turn go on that would have ended.
pub const CONTINUATIONS: u32 = 8;

/// Items that are appended at once: as many as a page of events holds.
pub const APPENDED_ITEMS: usize = 1000;

/// Longest summary of a compaction, in bytes.
pub const SUMMARY_BYTES: usize = 64 * 1024;

/// Items of tool calls that a rewind names. Who has more to look after reads the log.
pub const NOTED_CALLS: usize = 64;

/// Durable events of a session that may be on their way to a client that acknowledges them. Several
/// round trips of a busy turn, and less than a queue holds.
pub const ACK_WINDOW: u64 = 512;

/// Sessions on a page of a list.
pub const PAGE_SESSIONS: u32 = 100;

/// Events on a page of a read.
pub const PAGE_EVENTS: u32 = 1000;

/// Longest title or text that a list is asked for, in characters. As much of a first prompt is
/// searched, so that a longer text could never be found.
pub const FILTER_CHARS: usize = 500;

/// Longest title in characters; longer ones are cut.
pub const TITLE_CHARS: usize = 80;

/// The limits as a welcome frame tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// [`FRAME_BYTES`].
    pub frame_bytes: u64,
    /// [`QUEUED_TURNS`].
    pub queued_turns: u64,
    /// [`STEERS`].
    pub steers: u64,
    /// [`IDEMPOTENCY_KEYS`].
    pub idempotency_keys: u64,
    /// [`ACK_WINDOW`].
    #[serde(default)]
    pub ack_window: u64,
    /// [`PAGE_SESSIONS`].
    pub page_sessions: u32,
    /// [`PAGE_EVENTS`].
    pub page_events: u32,
    /// [`FILTER_CHARS`].
    pub filter_chars: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes: FRAME_BYTES as u64,
            queued_turns: QUEUED_TURNS as u64,
            steers: STEERS as u64,
            idempotency_keys: IDEMPOTENCY_KEYS as u64,
            ack_window: ACK_WINDOW,
            page_sessions: PAGE_SESSIONS,
            page_events: PAGE_EVENTS,
            filter_chars: FILTER_CHARS as u64,
        }
    }
}

/// Tool output that lean persistence stores while a call runs, in bytes (LOG-8).
pub const LEAN_OUTPUT_BYTES: usize = 4096;
