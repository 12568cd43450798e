//! Records as callers give and get them.

use serde_json::value::RawValue;

use crate::error::LogError;
use crate::line::Line;

/// The kind that segment headers use; no record may.
pub(crate) const SEGMENT_KIND: &str = "segment";

/// Longest `kind` or `at`, in bytes: they are names and times, not content.
const LONGEST_NAME: usize = 128;

/// A record to append. The log gives it its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    /// Name of the event; printable ASCII without quotes and backslashes, at most 128 bytes.
    pub kind: String,
    /// When it happened, as the caller writes times; same letters as `kind`.
    pub at: String,
    /// The event: one JSON value as text. Kept as it is, but for line breaks between tokens.
    pub data: String,
}

/// A record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Place in the log, from 1, without gaps but where damage is reported.
    pub seq: u64,
    /// Epoch of the lease it was written under.
    pub epoch: u64,
    /// When it happened, as written.
    pub at: String,
    /// Name of the event; unknown ones pass through.
    pub kind: String,
    /// The event as JSON text, blobs resolved.
    pub data: Box<str>,
}

/// A record while the log is being read; borrowed from the read buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// See [`Record::seq`].
    pub seq: u64,
    /// See [`Record::epoch`].
    pub epoch: u64,
    /// See [`Record::at`].
    pub at: &'a str,
    /// See [`Record::kind`].
    pub kind: &'a str,
    /// See [`Record::data`].
    pub data: &'a str,
}

impl Record {
    /// The record as a visitor is shown it.
    #[must_use]
    pub fn view(&self) -> RecordView<'_> {
        RecordView {
            seq: self.seq,
            epoch: self.epoch,
            at: &self.at,
            kind: &self.kind,
            data: &self.data,
        }
    }
}

impl RecordView<'_> {
    /// A copy that owns its texts.
    #[must_use]
    pub fn to_record(&self) -> Record {
        Record {
            seq: self.seq,
            epoch: self.epoch,
            at: self.at.to_owned(),
            kind: self.kind.to_owned(),
            data: self.data.into(),
        }
    }
}

impl<'a> RecordView<'a> {
    pub(crate) fn of(line: &'a Line<'_>, seq: u64, data: &'a str) -> Self {
        Self {
            seq,
            epoch: line.epoch,
            at: &line.at,
            kind: &line.kind,
            data,
        }
    }
}

impl NewRecord {
    /// Checks that the record can be read back, and brings its data onto one line.
    pub(crate) fn admit(mut self) -> Result<Self, LogError> {
        if self.kind.is_empty() || !is_name(&self.kind) || self.kind == SEGMENT_KIND {
            return Err(LogError::InvalidRecord("kind is not a plain name"));
        }
        if !is_name(&self.at) {
            return Err(LogError::InvalidRecord("time is not a plain name"));
        }
        let value: &RawValue = serde_json::from_str(&self.data)
            .map_err(|_| LogError::InvalidRecord("data is not one JSON value"))?;
        // Within JSON a raw line break stands only between tokens, where a blank does as well.
        if value.get().len() != self.data.len() || self.data.contains(['\n', '\r']) {
            self.data = value.get().replace(['\n', '\r'], " ");
        }
        Ok(self)
    }
}

/// Whether `text` can stand in an envelope as it is.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\';
    text.len() <= LONGEST_NAME && text.bytes().all(plain)
}
