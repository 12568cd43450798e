//! What a walk finds out for those who copy a log: which files it is made of, up to where.

use std::collections::BTreeMap;

use crate::attachment::attached;
use crate::blob::BlobName;
use crate::header::Tail;
use crate::layout::SegmentName;
use crate::line::{Crc, Line};
use crate::older::Form;

/// A record of the log and where it ends.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) tail: Tail,
    /// Checksum of its line, as written.
    pub(crate) crc: String,
    pub(crate) at: String,
}

/// The files of a log, up to a record or to its end.
#[derive(Debug)]
pub(crate) struct Survey {
    until: u64,
    /// The record `until`, when the log has it.
    pub(crate) mark: Option<Mark>,
    /// Segments in order, with the bytes of each that count.
    pub(crate) parts: Vec<Piece>,
    /// Blobs by name.
    pub(crate) blobs: BTreeMap<String, BlobName>,
    /// How many records could be handed out.
    pub(crate) records: u64,
    /// The last one.
    pub(crate) last: Option<Last>,
}

/// A segment file and the number of its bytes that count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) name: SegmentName,
    pub(crate) form: Form,
    pub(crate) bytes: u64,
}

/// What the next header says of the record before it.
#[derive(Debug, Default)]
pub(crate) struct Last {
    pub(crate) crc: Crc,
    pub(crate) at: String,
}

impl Survey {
    /// Of the records up to `until`, that one included.
    pub(crate) fn until(until: u64) -> Self {
        let (parts, blobs) = (Vec::new(), BTreeMap::new());
        Self {
            until,
            mark: None,
            parts,
            blobs,
            records: 0,
            last: None,
        }
    }

    /// Takes note of a record that ends at `tail`, and of the blobs it names.
    pub(crate) fn record(&mut self, line: &Line<'_>, tail: impl FnOnce() -> Tail) {
        if self.mark.is_some() {
            return;
        }
        for blob in BlobName::parse(line.data)
            .into_iter()
            .chain(attached(line.data))
        {
            self.blobs.insert(blob.name.clone(), blob);
        }
        let last = self.last.get_or_insert_default();
        last.crc = line.crc;
        last.at.clear();
        last.at.push_str(&line.at);
        if line.seq == Some(self.until) {
            let (crc, at) = (line.crc.to_string(), line.at.clone().into_owned());
            let tail = tail();
            self.mark = Some(Mark { tail, crc, at });
        }
    }

    /// Takes note of a segment.
    pub(crate) fn segment(&mut self, piece: Piece) {
        let number = piece.name.number;
        let bytes = match &self.mark {
            Some(mark) if number > mark.tail.number => return,
            Some(mark) if number == mark.tail.number => mark.tail.length,
            _ => piece.bytes,
        };
        self.parts.push(Piece { bytes, ..piece });
    }
}
