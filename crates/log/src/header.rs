//! The first line of a segment: the claim of an epoch, and the link to the segment before.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Doing, LogError};
use crate::layout::SegmentName;
use crate::line::{Crc, Envelope, Line};
use crate::lineage::Parent;
use crate::record::SEGMENT_KIND;
use crate::scan::Damage;
use crate::subject::Subject;

/// Format of segments that this program writes.
pub(crate) const FORMAT: u64 = 1;

/// A header fits in this many bytes; what a look at a segment's head reads.
pub(crate) const HEADER_BYTES: u64 = 4096;

/// Data of a segment header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u64,
    /// Identity of the segment; links go by it, so that a rewritten segment keeps its place.
    pub(crate) segment: Uuid,
    pub(crate) session: Subject,
    pub(crate) number: u32,
    pub(crate) epoch: u64,
    pub(crate) first_seq: u64,
    /// Where the segment before ends; nothing beyond counts.
    pub(crate) after: Option<Tail>,
    /// Seq of the checkpoint that this segment was begun for: who only wants to go on reads from
    /// there. The newest one is that of the last header that names one.
    #[serde(default)]
    pub(crate) checkpoint: Option<u64>,
    /// The torn tail that was cut from the segment before (LOG-4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) torn: Option<Sealed>,
    /// The log whose segments come before those of this one; said again in each of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<Parent>,
    /// Broken places before this segment that a repair has taken note of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) repaired: Vec<Damage>,
}

/// The valid end of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tail {
    /// Id of the segment; `None` when its header could not be read.
    pub(crate) segment: Option<Uuid>,
    pub(crate) number: u32,
    /// Last seq given away up to there, lost ones included.
    pub(crate) seq: u64,
    /// Bytes that count.
    pub(crate) length: u64,
}

/// A torn tail and where its bytes were kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sealed {
    pub(crate) segment: String,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Copy of the bytes, relative to the session's directory.
    pub(crate) copy: String,
}

impl Header {
    /// A header for a new segment.
    pub(crate) fn new(session: Subject, number: u32, epoch: u64, after: Option<Tail>) -> Self {
        let first_seq = after.as_ref().map_or(0, |tail| tail.seq) + 1;
        let (format, segment, checkpoint, torn) = (FORMAT, Uuid::now_v7(), None, None);
        let (parent, repaired) = (None, Vec::new());
        Self {
            format,
            segment,
            session,
            number,
            epoch,
            first_seq,
            after,
            checkpoint,
            torn,
            parent,
            repaired,
        }
    }

    /// Name of the file that begins with it.
    pub(crate) fn name(&self) -> SegmentName {
        SegmentName {
            number: self.number,
            first_seq: self.first_seq,
        }
    }

    /// Appends the header's line; its checksum is the next line's `prev`.
    pub(crate) fn encode(&self, at: &str, out: &mut Vec<u8>) -> Result<Crc, LogError> {
        let path = PathBuf::from(self.name().to_string());
        let data = serde_json::to_string(self).map_err(io::Error::other);
        let data = data.doing("encode the header of", &path)?;
        let envelope = Envelope {
            seq: None,
            epoch: self.epoch,
            prev: Crc::default(),
            at,
            kind: SEGMENT_KIND,
            data: &data,
        };
        Ok(envelope.encode(out))
    }

    /// The header that `line` is, if it is one.
    pub(crate) fn parse(line: &Line<'_>) -> Option<Self> {
        if line.seq.is_some() || line.kind != SEGMENT_KIND {
            return None;
        }
        serde_json::from_str(line.data).ok()
    }
}
