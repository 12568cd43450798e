//! Which segment files make up a log, and how far each of them counts.
//!
//! A segment says where the one before it ends. Whatever else lies in the directory is a stale
//! writer's: bytes behind such an end, files that a header passes over, files of a lower epoch.

use crate::header::{Header, Tail};
use crate::layout::SegmentName;
use crate::older::Form;
use crate::scan::Span;

/// A segment file that is not empty.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: SegmentName,
    pub(crate) form: Form,
    /// Of one that is compressed, 0: its bytes all count.
    pub(crate) bytes: u64,
    /// `None` when it cannot be read.
    pub(crate) header: Option<Header>,
    /// Version of its first line.
    pub(crate) version: u64,
}

/// A segment of the log and the number of its bytes that count; `None`: all of them.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) found: Found,
    pub(crate) limit: Option<u64>,
}

/// The log that the files make up, in order, and what does not belong to it.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) parts: Vec<Part>,
    pub(crate) stale: Vec<Span>,
}

impl Chain {
    /// Links `files`, which are ordered by name.
    pub(crate) fn of(files: Vec<Found>) -> Self {
        let mut chain = Self::default();
        let mut epoch = 0;
        for found in files {
            let Some(header) = &found.header else {
                // A broken header: its records still count, its link is unknown.
                chain.parts.push(Part { found, limit: None });
                continue;
            };
            if header.epoch < epoch {
                chain.drop_file(&found);
                continue;
            }
            epoch = header.epoch;
            match header.after.clone() {
                Some(tail) => chain.end_at(&tail),
                // It begins the log; the writer before it never got a record to the disk.
                None => chain.clear(),
            }
            chain.parts.push(Part { found, limit: None });
        }
        chain
    }

    /// Ends the log at `tail`.
    pub(crate) fn end_at(&mut self, tail: &Tail) {
        while let Some(part) = self.parts.pop_if(|p| p.found.name.number > tail.number) {
            self.drop_file(&part.found);
        }
        let Some(part) = self
            .parts
            .last_mut()
            .filter(|p| p.found.name.number == tail.number)
        else {
            return;
        };
        part.limit = Some(tail.length);
        if let Some(length) = part.found.bytes.checked_sub(tail.length).filter(|l| *l > 0) {
            let segment = part.found.name.to_string();
            self.stale.push(Span {
                segment,
                offset: tail.length,
                length,
            });
        }
    }

    /// Ends the log before its first segment.
    pub(crate) fn clear(&mut self) {
        while let Some(part) = self.parts.pop() {
            self.drop_file(&part.found);
        }
    }

    fn drop_file(&mut self, found: &Found) {
        let (segment, length) = (found.name.to_string(), found.bytes);
        self.stale.push(Span {
            segment,
            offset: 0,
            length,
        });
    }
}
