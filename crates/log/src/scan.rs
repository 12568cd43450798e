//! What reading a log found.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::header::Tail;
use crate::lineage::Parent;
use crate::record::{Record, RecordView};

/// The result of reading a log as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The records that count, in order. Empty when they went to a visitor.
    pub records: Vec<Record>,
    /// What is broken; reported on every face, never changed on disk.
    pub damage: Vec<Damage>,
    /// The end that a dying writer left unfinished; the next first append seals it. Without a
    /// lease it may be a line that is just being written.
    pub torn: Option<Torn>,
    /// Bytes of stale writers: they do not count and no acknowledged record is among them.
    pub stale: Vec<Span>,
    /// Seq of the next record: never one that a damaged record may have had.
    pub next_seq: u64,
    /// Highest epoch seen, stale writers included; 0 without any.
    pub highest_epoch: u64,
    /// The newest format or version found, when it is newer than this program's (LOG-11).
    pub newer: Option<u64>,
    /// The log that this one was forked from (RESUME-9).
    pub parent: Option<Parent>,
    /// Places that a repair has taken note of (see [`crate::Report`]).
    pub(crate) repaired: Vec<Damage>,
    /// Where the next segment continues.
    pub(crate) tail: Option<Tail>,
    /// Highest number of a segment file.
    pub(crate) last_number: u32,
    /// Bytes of that file.
    pub(crate) last_bytes: u64,
    /// Highest number of a segment that is compressed.
    pub(crate) older_until: u32,
}

/// What a visitor of a log is shown, in the order of the log.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// A record that counts.
    Record(RecordView<'a>),
    /// A broken place.
    Damage(&'a Damage),
}

/// Where a visit of a log begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// With its first record.
    Start,
    /// With its newest checkpoint that is whole, which is then the first record shown; with the
    /// first record where there is none. What lies before is not looked at (LOG-10).
    Checkpoint,
    /// With the record behind this one. Segments that end before it are not looked at, and damage
    /// before it is not told of.
    Behind(u64),
}

/// Bytes of one segment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Name of the file in the session's `log` directory.
    pub segment: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0 marks a place where something is missing.
    pub length: u64,
}

/// An unfinished end of the last segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// Name of the file in the session's `log` directory.
    pub segment: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// A broken place of a log (LOG-3, LOG-4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Name of the file in the session's `log` directory.
    pub segment: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0 marks a place where something is missing.
    pub length: u64,
    /// Seq of the last record before it; 0 before the first.
    pub after_seq: u64,
    /// What is wrong.
    pub reason: DamageReason,
}

/// What is wrong at a damaged place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DamageReason {
    /// No line, or a checksum that does not hold.
    Checksum,
    /// The checksum holds but the envelope or header is none of this log.
    Envelope,
    /// A newer version wrote a line that cannot be understood.
    Newer,
    /// A whole line that does not continue the line before it.
    Link,
    /// A seq that was there already.
    Sequence,
    /// An epoch other than that of its segment.
    Epoch,
    /// Records or bytes that must have been here are missing.
    Missing,
    /// The blob that the record names is missing, unreadable or another.
    Blob,
    /// An unfinished end that a repair left out. A scan shows one as [`Scan::torn`].
    Torn,
}

impl DamageReason {
    /// The stable name of the reason.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Checksum => "checksum",
            Self::Envelope => "envelope",
            Self::Newer => "newer",
            Self::Link => "link",
            Self::Sequence => "sequence",
            Self::Epoch => "epoch",
            Self::Missing => "missing",
            Self::Blob => "blob",
            Self::Torn => "torn",
        }
    }
}

impl fmt::Display for DamageReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Scan {
    /// Whether nothing at all was found: neither a record nor a trace of one.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.next_seq == 1 && self.damage.is_empty()
    }

    pub(crate) fn saw_newer(&mut self, version: u64) {
        self.newer = self.newer.max(Some(version));
    }
}
