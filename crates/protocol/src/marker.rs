//! Markers: records that give a log its structure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attestation, Cursor, Grant, ItemId, Keyed, SessionId, Standing, Stretch};

/// A structural mark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "marker", rename_all = "snake_case")]
pub enum Marker {
    /// The user allowed or refused something for good.
    Grant {
        /// What.
        grant: Grant,
    },
    /// What was allowed for good before is allowed no more: the policy was tightened here, or the run
    /// works elsewhere. What was refused stays refused (RESUME-8, SEC-5).
    Revoke {},
    /// What a resumed run found and did: its first record (RESUME-5).
    Attest {
        /// All of it.
        attestation: Box<Attestation>,
    },
    /// What came before is another session's, and so are its grants and its mode (RESUME-8): the
    /// first record that a fork writes.
    Fork {
        /// The session it was forked from.
        parent: SessionId,
        /// The last event they share.
        at: Cursor,
    },
    /// The conversation begins anew here. What came before stays in the log and is not part of it
    /// any more: no load shows it and no agent gets it (RESUME-1).
    Clear {},
    /// The conversation goes on from where it was at a bookmark. What came after that stays in the
    /// log, and is not part of it any more; title, mode and grants stay as they are (CKPT-2). Files
    /// and other things that tools changed stay changed.
    Rewind {
        /// The bookmark.
        to: Cursor,
        /// The events that are in force again, in order; what follows the marker comes after them.
        kept: Vec<Stretch>,
        /// How many tool calls of what is left behind ran, or may have run, and may have changed
        /// something (CKPT-3).
        ran: u64,
        /// Their items, in order; the first [`crate::limits::NOTED_CALLS`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ItemId>,
    },
    /// How the session stands, so that opening it reads from here on (LOG-10).
    Checkpoint {
        /// How `standing` is written down.
        version: u32,
        /// The fold of all events before this one.
        standing: Box<Standing>,
    },
    /// An idempotency key that input came under which became part of the active turn.
    Key {
        /// The key and what it stands for.
        keyed: Keyed,
    },
    /// The agent's own record: its session id in its own store, or the like.
    Native {
        /// The agent's name for it.
        name: String,
        /// The value.
        value: String,
    },
    /// The conversation, or its beginning, was led elsewhere, and what was written there is kept as
    /// it was: files of that program, in pieces that follow each other, byte for byte.
    Original {
        /// Whose way of writing a conversation down: claude, codex.
        shape: String,
        /// Which of its files, as that program names it beside the first one; that one is "".
        file: String,
        /// Where in the file this begins, in bytes.
        offset: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// The turn's model requests are made elsewhere, by a program that keeps its own context: what
    /// the model is shown in it cannot be verified from this log (CTX-9).
    ContextUnverifiable {
        /// The agent's own id of the session, by which its records may be found.
        native: String,
    },
    /// What the agent did not have of the conversation, or may not have had, and was given with the
    /// prompt of this turn: part of what the run attests, recorded where it happened (RESUME-5).
    HandedOver {
        /// The first item of it.
        from: ItemId,
        /// The last.
        to: ItemId,
        /// How many messages and calls it tells of.
        told: u64,
        /// How many older ones were left out for its size.
        left_out: u64,
        /// Why the agent was given it.
        because: Lack,
    },
}

/// Why an agent lacks something of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// It has no record of its own: it begins anew.
    BeganAnew,
    /// Its own record lacks the newest of it.
    Behind,
    /// Its own record is of another conversation, and was left: it begins anew.
    Differs,
    /// It does not show its own record, and the newest turns broke off: it may lack them.
    BrokenOff,
}
