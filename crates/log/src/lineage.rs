//! Where a forked log comes from, and which segments of other logs are part of it.
//!
//! A fork shares the sealed segments of its parent, whose headers name that parent, or the parent
//! of that. Each segment of its own says how many come before; one whose id is not the one that the
//! segment after it continues is a stranger all the same.

use serde::{Deserialize, Serialize};

use crate::chain::Found;
use crate::subject::Subject;

/// The log that a fork was made from, and its last record there (RESUME-9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The log.
    pub session: Subject,
    /// Seq of the fork point; 0 when the only header that knew it is broken.
    pub seq: u64,
    /// Checksum of the record at the fork point, as its line has it.
    pub crc: String,
    /// Number of the last segment that is shared.
    pub(crate) segments: u32,
}

impl Parent {
    /// What the headers of the log of `subject` say.
    pub(crate) fn of(subject: &Subject, files: &[Found]) -> Option<Self> {
        let headers = || files.iter().filter_map(|f| f.header.as_ref());
        let own = || headers().filter(|h| h.session == *subject);
        let said = own().filter_map(|h| h.parent.clone()).next_back();
        if said.is_some() || own().next().is_some() || files.iter().all(|f| f.header.is_some()) {
            return said;
        }
        // No segment of its own can be read: one broken header must not take the log with it.
        headers().next_back().map(|h| Self {
            session: h.session.clone(),
            seq: 0,
            crc: "00000000".to_owned(),
            segments: h.number,
        })
    }
}

/// Parts `files`, ordered by name, into those of the log and those of other logs.
pub(crate) fn part(
    subject: &Subject,
    parent: Option<&Parent>,
    files: Vec<Found>,
) -> (Vec<Found>, Vec<Found>) {
    let shared = parent.map_or(0, |p| p.segments);
    let mut own = Vec::new();
    let mut strangers = Vec::new();
    let mut files = files.into_iter().peekable();
    while let Some(file) = files.next() {
        let next = files.peek().and_then(|f| f.header.as_ref());
        let continued = next.and_then(|h| h.after.as_ref());
        let expected = continued
            .filter(|tail| tail.number == file.name.number)
            .and_then(|tail| tail.segment);
        let is_stranger = file.header.as_ref().is_some_and(|h| {
            let is_shared =
                h.number <= shared && expected.is_none_or(|segment| segment == h.segment);
            h.number != file.name.number || (h.session != *subject && !is_shared)
        });
        if is_stranger {
            strangers.push(file);
        } else {
            own.push(file);
        }
    }
    (own, strangers)
}
