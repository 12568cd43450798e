//! Looks at a whole log and says whether it is sound; takes note of what is not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::appender::{Appender, Base};
use crate::attachment::attached;
use crate::blob::BlobName;
use crate::error::LogError;
use crate::header::FORMAT;
use crate::layout::{Place, SegmentName};
use crate::lease::Lease;
use crate::record::{RecordView, is_name};
use crate::scan::{Damage, DamageReason, Scan, Span, Torn};
use crate::store::Store;
use crate::subject::Subject;

/// How sound a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Every record is there and whole, or what is not was repaired.
    Clean,
    /// Only the end is unfinished. The next append seals it, as does a repair.
    Torn,
    /// Some places are broken.
    Damaged,
}

/// What [`Store::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The log.
    pub subject: Subject,
    /// Where it lies.
    pub place: Place,
    /// How sound it is.
    pub health: Health,
    /// Number of records that count.
    pub records: u64,
    /// Seq of the next record.
    pub next_seq: u64,
    /// The unfinished end. While somebody writes the log, that may be a line on its way.
    pub torn: Option<Torn>,
    /// Broken places that no repair has taken note of.
    pub damage: Vec<Damage>,
    /// Places that were broken when a repair took note of them; their bytes are still there.
    pub repaired: Vec<Damage>,
    /// Attachments that are missing, unreadable or others than those that were attached. No repair
    /// takes note of them: the records that name them are whole.
    pub detached: Vec<Detached>,
    /// Bytes of stale writers, which do not count.
    pub stale: Vec<Span>,
    /// Highest number of a segment that is compressed.
    pub(crate) older_until: u32,
    /// The newest format found, when this program does not know it (LOG-11).
    pub newer: Option<u64>,
}

/// An attachment that is not what a record names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    /// The file that holds it, or should.
    pub name: String,
    /// Seq of the first record that names it.
    pub seq: u64,
    /// How many bytes it had.
    pub bytes: u64,
}

impl Report {
    /// About the log of `subject` in `place`, of which `records` count.
    pub(crate) fn of(subject: &Subject, place: Place, records: u64, scan: Scan) -> Self {
        let repaired = scan.repaired;
        let mut damage = scan.damage;
        damage.retain(|d| !repaired.contains(d));
        let health = match (&scan.torn, damage.as_slice()) {
            (_, [_, ..]) => Health::Damaged,
            (Some(_), []) => Health::Torn,
            (None, []) => Health::Clean,
        };
        Self {
            subject: subject.clone(),
            place,
            health,
            records,
            next_seq: scan.next_seq,
            torn: scan.torn,
            damage,
            repaired,
            detached: Vec::new(),
            stale: scan.stale,
            older_until: scan.older_until,
            newer: scan.newer,
        }
    }

    /// The file of a segment that this report names, relative to the store.
    #[must_use]
    pub fn file(&self, segment: &str) -> PathBuf {
        let home = self.place.home(&self.subject);
        let number = SegmentName::parse(segment).map(|name| name.number);
        match number.is_some_and(|number| number <= self.older_until) {
            true => home.older_segment(segment),
            false => home.segment(segment),
        }
    }

    /// The file of an attachment, relative to the store.
    #[must_use]
    pub fn attachment(&self, detached: &Detached) -> PathBuf {
        let home = self.place.home(&self.subject);
        home.blobs().join(&detached.name)
    }

    /// All that a repair has to take note of.
    fn places(&self) -> Vec<Damage> {
        let torn = self.torn.iter().map(|torn| Damage {
            segment: torn.segment.clone(),
            offset: torn.offset,
            length: torn.length,
            after_seq: self.next_seq - 1,
            reason: DamageReason::Torn,
        });
        self.damage.iter().cloned().chain(torn).collect()
    }
}

impl Store {
    /// Reads all of a log, archived or not, blobs and attachments included, and says whether it is
    /// sound. Changes nothing.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::Io`].
    pub fn verify(&self, subject: &Subject) -> Result<Report, LogError> {
        let mut records = 0;
        let mut named = BTreeMap::new();
        let place = self.place_of(subject)?;
        let home = place.home(subject);
        let count = &mut |record: RecordView<'_>| {
            records += 1;
            for blob in attached(record.data) {
                named.entry(blob.name.clone()).or_insert((record.seq, blob));
            }
        };
        let scan = self.with_reader_at(subject, &home, |r| r.scan(None, count))?;
        if scan.is_blank() && scan.torn.is_none() {
            return Err(LogError::NotFound(subject.clone()));
        }
        let blobs = self.blobs(&home);
        let mut report = Report::of(subject, place, records, scan);
        for (seq, blob) in named.into_values() {
            if blobs.load_bytes(&blob)?.is_none() {
                let BlobName { name, bytes, .. } = blob;
                report.detached.push(Detached { name, seq, bytes });
            }
        }
        Ok(report)
    }
}

impl Lease {
    /// Takes note, in new segments under the time `at`, of all that is broken, after which
    /// [`Store::verify`] finds the log clean. No byte of an old segment changes: what was lost
    /// stays lost, and what is left of it stays where it is. Done again, it does nothing.
    /// `progress` is told of each record that was read.
    ///
    /// # Errors
    /// [`LogError::WriterExists`] while the lease has a writer; [`LogError::TooNew`];
    /// [`LogError::InvalidRecord`] for a time that is none; [`LogError::Fenced`];
    /// [`LogError::Io`].
    pub fn repair(&mut self, at: &str, progress: &mut dyn FnMut(u64)) -> Result<Report, LogError> {
        if !is_name(at) {
            return Err(LogError::InvalidRecord("time is not a plain name"));
        }
        let carry = self.idle()?;
        let mut records = 0;
        let held = Arc::clone(self.held());
        let (store, subject) = (&held.store, &held.subject);
        let mut count = |_: RecordView<'_>| {
            records += 1;
            progress(records);
        };
        let scan = store.with_reader(subject, |r| r.scan(carry.as_ref(), &mut count))?;
        if let Some(found) = scan.newer {
            let known = FORMAT;
            return Err(LogError::TooNew { found, known });
        }
        let base = Base::of(&scan, carry);
        let report = Report::of(subject, Place::Sessions, records, scan);
        let places = report.places();
        if places.is_empty() {
            return Ok(report);
        }
        let mut appender = Appender::new(Arc::clone(&held), base);
        if let Err(error) = appender.repair(&places, at) {
            appender.fail();
            return Err(error);
        }
        store.verify(subject)
    }
}
