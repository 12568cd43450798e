//! Reads a log: finds its segments, links them, walks through them.

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::blob::Blobs;
use crate::chain::{Chain, Found, Part};
use crate::error::{Doing, LogError, found};
use crate::fs::Fs;
use crate::header::{FORMAT, HEADER_BYTES, Header, Tail};
use crate::layout::{Home, SegmentName};
use crate::line::{Line, VERSION};
use crate::lineage::{self, Parent};
use crate::older::{Form, lineup, read_segment};
use crate::piece::{first_piece, pieces};
use crate::record::{Record, RecordView};
use crate::scan::{Damage, DamageReason, Scan, Seen, Since};
use crate::subject::Subject;
use crate::survey::Survey;
use crate::walk::{IsLast, Walk};

/// How much of a segment a look at the first record reads: the header and one longest line.
const HEAD_BYTES: u64 = HEADER_BYTES + 2 * crate::blob::INLINE_BYTES as u64;

/// What a poisoned writer leaves to the next one of its lease: the log ends at what was synced,
/// plus the lines that were acknowledged as written (LOG-6).
#[derive(Debug, Clone, Default)]
pub(crate) struct Carry {
    pub(crate) tail: Option<Tail>,
    pub(crate) lines: Vec<u8>,
}

/// Reads the log of one subject.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) fs: &'a dyn Fs,
    pub(crate) subject: &'a Subject,
    pub(crate) home: &'a Home,
    pub(crate) blobs: &'a Blobs,
}

/// The part that holds the record behind `seq`, as far as headers tell.
fn behind(chain: &Chain, walk: &mut Walk<'_>, seq: u64) -> usize {
    let first_seq = |part: &Part| part.found.header.as_ref().map(|header| header.first_seq);
    let first = chain
        .parts
        .iter()
        .rposition(|part| first_seq(part).is_some_and(|first| first <= seq + 1));
    let first = first.unwrap_or(0);
    // What the first segment lacks is told of as everywhere.
    match chain
        .parts
        .get(first)
        .and_then(first_seq)
        .filter(|_| first > 0)
    {
        Some(first_seq) => walk.begin_at(seq + 1, first_seq),
        None => walk.begin_at(seq + 1, 1),
    }
    first
}

/// The segment files of a log that are as they were written, ordered by name.
pub(crate) fn segments(fs: &dyn Fs, home: &Home) -> Result<Vec<SegmentName>, LogError> {
    let dir = home.log();
    let names = found(fs.list(&dir))
        .doing("list", &dir)?
        .unwrap_or_default();
    let mut names: Vec<_> = names.iter().filter_map(|n| SegmentName::parse(n)).collect();
    names.sort_unstable();
    Ok(names)
}

impl Reader<'_> {
    /// Hands each record to `visit`; the answer has no records itself. One segment at a time is
    /// in memory.
    pub(crate) fn scan(
        &self,
        carry: Option<&Carry>,
        visit: &mut dyn FnMut(RecordView<'_>),
    ) -> Result<Scan, LogError> {
        self.visit(carry, Since::Start, &mut |seen| match seen {
            Seen::Record(record) => visit(record),
            Seen::Damage(_) => {}
        })
    }

    /// Shows `visit` records and damage in their order.
    pub(crate) fn visit(
        &self,
        carry: Option<&Carry>,
        since: Since,
        visit: &mut dyn FnMut(Seen<'_>),
    ) -> Result<Scan, LogError> {
        let mut walk = Walk::new(self.blobs, visit);
        self.walk(carry, since, &mut walk)?;
        walk.finish()
    }

    /// Shows `visit` records and damage, until it has seen enough.
    pub(crate) fn visit_some(
        &self,
        since: Since,
        visit: &mut dyn FnMut(Seen<'_>) -> ControlFlow<()>,
    ) -> Result<Scan, LogError> {
        let enough = Cell::new(false);
        let behind = match since {
            Since::Behind(seq) => seq,
            Since::Start | Since::Checkpoint => 0,
        };
        let mut show = |seen: Seen<'_>| {
            let is_before = matches!(seen, Seen::Damage(damage) if damage.after_seq < behind);
            if !enough.get() && !is_before {
                enough.set(visit(seen).is_break());
            }
        };
        let mut walk = Walk::new(self.blobs, &mut show);
        walk.enough = Some(&enough);
        self.walk(None, since, &mut walk)?;
        walk.finish()
    }

    /// A scan without the records, and the files that hold those up to `until`.
    pub(crate) fn survey(
        &self,
        carry: Option<&Carry>,
        until: u64,
    ) -> Result<(Scan, Survey), LogError> {
        let mut ignore = |_: Seen<'_>| ();
        let mut walk = Walk::new(self.blobs, &mut ignore);
        walk.survey = Some(Survey::until(until));
        self.walk(carry, Since::Start, &mut walk)?;
        let survey = walk.survey.take();
        let survey = survey.unwrap_or_else(|| Survey::until(until));
        Ok((walk.finish()?, survey))
    }

    fn walk(
        &self,
        carry: Option<&Carry>,
        since: Since,
        walk: &mut Walk<'_>,
    ) -> Result<(), LogError> {
        let mut chain = self.chain_as_of(carry, &mut walk.scan)?;
        let last = chain.parts.len().saturating_sub(1);
        let first = match since {
            Since::Start => 0,
            Since::Checkpoint => self.begin(&chain, walk)?,
            Since::Behind(seq) => behind(&chain, walk, seq),
        };
        for (index, part) in chain.parts.iter().enumerate().skip(first) {
            if walk.has_seen_enough() {
                break;
            }
            let bytes = self.bytes(part)?;
            walk.segment(
                part,
                &bytes,
                if index == last {
                    IsLast::Yes
                } else {
                    IsLast::No
                },
            );
        }
        walk.scan.stale.append(&mut chain.stale);
        if let Some(carry) = carry {
            walk.carried(&carry.lines);
        }
        Ok(())
    }

    /// The records with which segments begin, ascending: where reading can begin without reading what
    /// lies before.
    pub(crate) fn beginnings(&self) -> Result<Vec<u64>, LogError> {
        let chain = self.chain(&mut Scan::default())?;
        let headers = chain.parts.iter().filter_map(|p| p.found.header.as_ref());
        Ok(headers.map(|header| header.first_seq).collect())
    }

    /// The part that begins with the newest checkpoint that is whole; the first one without any.
    fn begin(&self, chain: &Chain, walk: &mut Walk<'_>) -> Result<usize, LogError> {
        for (index, part) in chain.parts.iter().enumerate().rev() {
            let Some(header) = &part.found.header else {
                continue;
            };
            let Some(seq) = header.checkpoint else {
                continue;
            };
            // Its writer may have died before the record was whole.
            let bytes = self.bytes(part)?;
            let is_there = |p: &crate::piece::Piece<'_>| {
                p.line.as_ref().is_ok_and(|line| {
                    line.seq == Some(seq) && line.epoch == header.epoch && self.is_readable(line)
                })
            };
            if pieces(&bytes).iter().any(is_there) {
                walk.begin_at(seq, header.first_seq);
                return Ok(index);
            }
        }
        Ok(0)
    }

    fn is_readable(&self, line: &Line<'_>) -> bool {
        !crate::blob::is_reference(line.data) || matches!(self.blobs.load(line.data), Ok(Some(_)))
    }

    /// The bytes of a part that count.
    fn bytes(&self, part: &Part) -> Result<Vec<u8>, LogError> {
        let end = part.limit.unwrap_or(u64::MAX);
        self.read(part.found.name, part.found.form, end)
    }

    /// The first `most` bytes of a segment.
    fn read(&self, name: SegmentName, form: Form, most: u64) -> Result<Vec<u8>, LogError> {
        read_segment(self.fs, self.home, (name, form), most)
    }

    /// The segments that come before the one with the newest checkpoint and lie as they were
    /// written, but for those with bytes that do not count; `TooNew` for a log of a newer format.
    pub(crate) fn before_checkpoint(
        &self,
        carry: Option<&Carry>,
    ) -> Result<Vec<SegmentName>, LogError> {
        let mut ignore = |_: Seen<'_>| ();
        let mut walk = Walk::new(self.blobs, &mut ignore);
        let chain = self.chain_as_of(carry, &mut walk.scan)?;
        if let Some(found) = walk.scan.newer {
            let known = FORMAT;
            return Err(LogError::TooNew { found, known });
        }
        let first = self.begin(&chain, &mut walk)?;
        let before = chain.parts.iter().take(first);
        let plain = before
            .filter(|part| part.found.form == Form::Plain && part.limit == Some(part.found.bytes));
        Ok(plain.map(|part| part.found.name).collect())
    }

    /// The records as well.
    pub(crate) fn collect(&self) -> Result<Scan, LogError> {
        let mut records = Vec::new();
        let mut scan = self.scan(None, &mut |record| records.push(record.to_record()))?;
        scan.records = records;
        Ok(scan)
    }

    /// The first record, from the head of the first segment when that is whole (LOG-2).
    pub(crate) fn head(&self) -> Result<Option<Record>, LogError> {
        let chain = self.chain(&mut Scan::default())?;
        let Some(first) = chain.parts.first() else {
            return Ok(None);
        };
        let end = first.limit.unwrap_or(u64::MAX).min(HEAD_BYTES);
        let bytes = self.read(first.found.name, first.found.form, end)?;
        let mut lines = pieces(&bytes).into_iter().map_while(|p| p.line.ok());
        if let Some(header) = lines.next()
            && let Some(record) = lines.next()
            && first
                .found
                .header
                .as_ref()
                .is_some_and(|h| h.epoch == record.epoch)
            && record.prev == header.crc
            && record.seq == Some(1)
            && !crate::blob::is_reference(record.data)
        {
            return Ok(Some(RecordView::of(&record, 1, record.data).to_record()));
        }
        let mut first = None;
        self.scan(None, &mut |record| {
            first.get_or_insert_with(|| record.to_record());
        })?;
        Ok(first)
    }

    /// The log that this one was forked from, by the headers of its segments alone.
    pub(crate) fn parent(&self) -> Result<Option<Parent>, LogError> {
        let mut scan = Scan::default();
        self.chain(&mut scan)?;
        Ok(scan.parent)
    }

    /// The segments that make up the log, up to where `carry` says that it ends.
    fn chain_as_of(&self, carry: Option<&Carry>, scan: &mut Scan) -> Result<Chain, LogError> {
        let mut chain = self.chain(scan)?;
        match carry.map(|c| &c.tail) {
            Some(Some(tail)) => chain.end_at(tail),
            Some(None) => chain.clear(),
            None => {}
        }
        Ok(chain)
    }

    /// The segments that make up the log.
    fn chain(&self, scan: &mut Scan) -> Result<Chain, LogError> {
        let mut files = Vec::new();
        for (name, form) in lineup(self.fs, self.home)? {
            let file = self.look(name, form)?;
            scan.last_number = name.number;
            scan.last_bytes = file.as_ref().map_or(0, |file| file.bytes);
            if form == Form::Packed {
                scan.older_until = name.number;
            }
            files.extend(file);
        }
        scan.parent = Parent::of(self.subject, &files);
        let (files, strangers) = lineage::part(self.subject, scan.parent.as_ref(), files);
        // A file of another log, or under another's name.
        for file in strangers {
            let length = match file.form {
                Form::Plain => file.bytes,
                Form::Packed => self.read(file.name, file.form, u64::MAX)?.len() as u64,
            };
            scan.damage.push(Damage {
                segment: file.name.to_string(),
                offset: 0,
                length,
                after_seq: 0,
                reason: DamageReason::Envelope,
            });
        }
        for file in &files {
            let Some(header) = &file.header else { continue };
            scan.highest_epoch = scan.highest_epoch.max(header.epoch);
            if header.format > FORMAT || file.version > VERSION {
                scan.saw_newer(header.format.max(file.version));
            }
        }
        Ok(Chain::of(files))
    }

    /// Looks at the head of a segment file; `None` when it is empty.
    fn look(&self, name: SegmentName, form: Form) -> Result<Option<Found>, LogError> {
        let bytes = match form {
            Form::Plain => {
                let path = self.home.segment(&name.to_string());
                self.fs.stat(&path).doing("look up", &path)?.bytes
            }
            Form::Packed => 0,
        };
        if form == Form::Plain && bytes == 0 {
            // Created by a writer that died before its header, or sealed to nothing.
            return Ok(None);
        }
        let head = self.read(name, form, HEADER_BYTES)?;
        let line = first_piece(&head).and_then(|piece| piece.line.ok());
        let header = line.as_ref().and_then(Header::parse);
        let version = line.map_or(VERSION, |l| l.version);
        Ok(Some(Found {
            name,
            form,
            bytes,
            header,
            version,
        }))
    }
}
