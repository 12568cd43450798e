//! Goes through the lines of a log in order and judges each of them.

use std::cell::Cell;
use std::iter::Peekable;
use std::vec::IntoIter;

use uuid::Uuid;

use crate::blob::{self, Blobs};
use crate::chain::Part;
use crate::error::LogError;
use crate::header::Tail;
use crate::line::{Crc, Fault, Line, VERSION};
use crate::older::Form;
use crate::piece::{Piece, pieces};
use crate::record::RecordView;
use crate::scan::{Damage, DamageReason, Scan, Seen, Torn};
use crate::survey::{self, Survey};

/// The walk over all segments of one log.
pub(crate) struct Walk<'a> {
    pub(crate) scan: Scan,
    blobs: &'a Blobs,
    visit: &'a mut dyn FnMut(Seen<'_>),
    /// Records up to this seq are not handed out.
    since: u64,
    /// Damage that was handed out.
    told: usize,
    last_seq: u64,
    /// Records that may have been in broken bytes since `last_seq`.
    lost: u64,
    failure: Option<LogError>,
    pub(crate) survey: Option<Survey>,
    /// Whether nobody wants to be shown more, where somebody may say so.
    pub(crate) enough: Option<&'a Cell<bool>>,
}

/// The walk within one segment.
struct Place<'b> {
    name: String,
    number: u32,
    /// Id of the segment, as in its header.
    segment: Option<Uuid>,
    epoch: Option<u64>,
    /// Checksum of the line before; `None` when that is broken.
    prev: Option<Crc>,
    rest: Peekable<IntoIter<Piece<'b>>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(blobs: &'a Blobs, visit: &'a mut dyn FnMut(Seen<'_>)) -> Self {
        Self {
            scan: Scan::default(),
            blobs,
            visit,
            since: 0,
            told: 0,
            last_seq: 0,
            lost: 0,
            failure: None,
            survey: None,
            enough: None,
        }
    }

    /// Whether the rest need not be looked at.
    pub(crate) fn has_seen_enough(&self) -> bool {
        self.enough.is_some_and(Cell::get)
    }

    /// Begins with the record `seq`, in a segment that begins with the record `first_seq`: what
    /// comes before is not looked at.
    pub(crate) fn begin_at(&mut self, seq: u64, first_seq: u64) {
        self.since = seq.saturating_sub(1);
        self.last_seq = first_seq.saturating_sub(1);
    }

    /// Goes through a segment, whose counting bytes are given. Only the last one can be torn.
    pub(crate) fn segment(&mut self, part: &Part, bytes: &[u8], is_last: IsLast) {
        let mut list = pieces(bytes);
        let name = part.found.name.to_string();
        let mut end = bytes.len() as u64;
        if is_last == IsLast::Yes
            && part.limit.is_none()
            // Nobody writes to a compressed one.
            && part.found.form == Form::Plain
            && let Some(tail) = list.pop_if(|p| p.line.is_err() && p.unterminated)
        {
            end = tail.offset as u64;
            let length = tail.length as u64;
            self.scan.torn = Some(Torn {
                segment: name.clone(),
                offset: end,
                length,
            });
        }
        let header = part.found.header.as_ref();
        let mut place = Place {
            name,
            number: part.found.name.number,
            segment: header.map(|h| h.segment),
            epoch: None,
            prev: None,
            rest: list.into_iter().peekable(),
        };
        if let Some(header) = header {
            self.scan.repaired.extend_from_slice(&header.repaired);
            self.enter(&mut place, header.epoch, header.first_seq);
        }
        while let Some(piece) = place.rest.next() {
            if self.has_seen_enough() {
                return;
            }
            self.piece(&mut place, piece);
        }
        if let Some(missing) = part
            .limit
            .and_then(|l| l.checked_sub(end))
            .filter(|m| *m > 0)
        {
            self.damage(&place.name, end, missing, DamageReason::Missing);
            self.lost = self.lost.max(1);
        }
        if end > 0 {
            let (segment, number) = (place.segment, place.number);
            let seq = self.last_seq + self.lost;
            self.scan.tail = Some(Tail {
                segment,
                number,
                seq,
                length: end,
            });
        }
        if let Some(survey) = &mut self.survey {
            let (name, form, bytes) = (part.found.name, part.found.form, end);
            survey.segment(survey::Piece { name, form, bytes });
        }
    }

    /// The records that a poisoned writer had acknowledged but not synced.
    pub(crate) fn carried(&mut self, lines: &[u8]) {
        for piece in pieces(lines) {
            if let Ok(line) = &piece.line
                && let Some(seq) = line.seq
            {
                self.last_seq = seq;
                self.deliver(line, seq);
            }
        }
    }

    pub(crate) fn finish(mut self) -> Result<Scan, LogError> {
        self.scan.next_seq = self.last_seq + self.lost + 1;
        self.tell_damage();
        self.failure.map_or(Ok(self.scan), Err)
    }

    /// Takes the header off the segment.
    fn enter(&mut self, place: &mut Place<'_>, epoch: u64, first_seq: u64) {
        place.epoch = Some(epoch);
        if let Some(Ok(line)) = place.rest.next().map(|p| p.line) {
            place.prev = Some(line.crc);
        }
        let before = first_seq.saturating_sub(1);
        if self.last_seq < before {
            if self.lost == 0 {
                self.damage(&place.name, 0, 0, DamageReason::Missing);
            }
            // The header knows how many records the segments before it held.
            self.last_seq = before;
        }
        self.lost = 0;
    }

    fn piece(&mut self, place: &mut Place<'_>, piece: Piece<'_>) {
        let reason = match &piece.line {
            Ok(line) => match self.judge(place, line, piece.offset) {
                Ok(seq) => {
                    place.prev = Some(line.crc);
                    self.record(place, &piece, line, seq);
                    return;
                }
                Err(reason) => reason,
            },
            Err(Fault::Checksum) => DamageReason::Checksum,
            Err(Fault::Envelope) => DamageReason::Envelope,
            Err(Fault::Newer(version)) => {
                self.scan.saw_newer(*version);
                DamageReason::Newer
            }
        };
        place.prev = None;
        // A whole line that is foreign may stand where a record was; a repeated one does not.
        let is_foreign = piece.line.is_ok() && reason != DamageReason::Sequence;
        self.lost += if is_foreign { 1 } else { piece.lost };
        self.damage(
            &place.name,
            piece.offset as u64,
            piece.length as u64,
            reason,
        );
    }

    /// Whether a whole line is the next record, and its seq.
    fn judge(
        &mut self,
        place: &mut Place<'_>,
        line: &Line<'_>,
        offset: usize,
    ) -> Result<u64, DamageReason> {
        let seq = line.seq.ok_or(DamageReason::Envelope)?;
        if line.epoch != *place.epoch.get_or_insert(line.epoch) {
            return Err(DamageReason::Epoch);
        }
        if seq <= self.last_seq {
            return Err(DamageReason::Sequence);
        }
        let is_next = seq == self.last_seq + 1;
        let Some(prev) = place.prev else {
            if !is_next && self.lost == 0 {
                self.damage(&place.name, offset as u64, 0, DamageReason::Missing);
            }
            return Ok(seq);
        };
        if line.prev != prev {
            // Either lines before this one are missing, or this one is foreign: the line after
            // tells, because it continues one of the two.
            let after = place
                .rest
                .peek()
                .and_then(|p| p.line.as_ref().ok())
                .map(|l| l.prev);
            if after == Some(prev) || (after != Some(line.crc) && is_next) {
                return Err(DamageReason::Link);
            }
        }
        if !is_next {
            self.damage(&place.name, offset as u64, 0, DamageReason::Missing);
        } else if line.prev != prev {
            self.damage(&place.name, offset as u64, 0, DamageReason::Link);
        }
        Ok(seq)
    }

    fn record(&mut self, place: &Place<'_>, piece: &Piece<'_>, line: &Line<'_>, seq: u64) {
        if line.version > VERSION {
            self.scan.saw_newer(line.version);
        }
        let before = self.last_seq;
        (self.last_seq, self.lost) = (seq, 0);
        self.scan.highest_epoch = self.scan.highest_epoch.max(line.epoch);
        if let Some(survey) = &mut self.survey {
            survey.record(line, || Tail {
                segment: place.segment,
                number: place.number,
                seq,
                length: (piece.offset + piece.length) as u64,
            });
        }
        if self.deliver(line, seq) {
            self.survey.iter_mut().for_each(|s| s.records += 1);
        } else {
            let (offset, length) = (piece.offset as u64, piece.length as u64);
            let (segment, reason) = (place.name.clone(), DamageReason::Blob);
            self.scan.damage.push(Damage {
                segment,
                offset,
                length,
                after_seq: before,
                reason,
            });
        }
    }

    /// Hands the record out, its blob resolved; whether that could be done.
    fn deliver(&mut self, line: &Line<'_>, seq: u64) -> bool {
        if seq <= self.since {
            return true;
        }
        if !blob::is_reference(line.data) {
            self.tell_damage();
            (self.visit)(Seen::Record(RecordView::of(line, seq, line.data)));
            return true;
        }
        match self.blobs.load(line.data) {
            Ok(Some(data)) => {
                self.tell_damage();
                (self.visit)(Seen::Record(RecordView::of(line, seq, &data)));
                true
            }
            Ok(None) => false,
            // The disk failed: that says nothing of the record, so the whole walk has no result.
            Err(error) => {
                self.failure.get_or_insert(error);
                true
            }
        }
    }

    /// Hands out the damage before the next record: by then nothing is joined to it any more.
    fn tell_damage(&mut self) {
        for damage in self.scan.damage.iter().skip(self.told) {
            (self.visit)(Seen::Damage(damage));
        }
        self.told = self.scan.damage.len();
    }

    fn damage(&mut self, segment: &str, offset: u64, length: u64, reason: DamageReason) {
        let after_seq = self.last_seq;
        if let Some(last) = self.scan.damage.last_mut()
            && last.segment == segment
            && last.reason == reason
            && last.after_seq == after_seq
            && last.offset + last.length == offset
        {
            last.length += length;
            return;
        }
        let segment = segment.to_owned();
        self.scan.damage.push(Damage {
            segment,
            offset,
            length,
            after_seq,
            reason,
        });
    }
}

/// Whether a segment is the last of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IsLast {
    Yes,
    No,
}
