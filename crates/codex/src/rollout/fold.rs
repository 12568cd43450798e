//! The conversation of a thread in the terms of the waist, in one go through its files: a line at a
//! time is in memory, and what waits for the result of a call.

use std::io;

use sessiond_protocol::Told;
use sessiond_wire::foreign::{Lines, ReadAt, Upto};

use super::chain::{Rollout, Segment};
use super::findings::{Findings, Kind};
use super::held::End;
use super::reader::{Reader, Taken};
use super::said::Teller;

/// What tells a conversation.
#[derive(Debug)]
pub struct Fold<'a, S> {
    rollout: &'a Rollout<S>,
    /// The file that is read, and its lines.
    nth: usize,
    lines: Option<Lines<'a, Upto<S>>>,
    base: u64,
    reader: Reader,
    teller: Teller,
    /// Where the newest piece ends.
    last: Option<End>,
    /// What is told when nothing more comes was told.
    is_ended: bool,
}

impl<'a, S: ReadAt> Fold<'a, S> {
    /// Of a thread's files.
    #[must_use]
    pub fn new(rollout: &'a Rollout<S>) -> Self {
        let mut fold = Self {
            rollout,
            nth: 0,
            lines: None,
            base: 0,
            reader: Reader::default(),
            teller: Teller::default(),
            last: None,
            is_ended: false,
        };
        fold.open(0);
        fold
    }

    /// What was found so far, beside what the heads say.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.reader.findings.clone().and(&self.teller.findings)
    }

    /// Where the newest piece ends: of a call, where its result does.
    pub(super) fn ended_at(&self) -> Option<End> {
        self.last
    }

    /// The ordinal of the line that would come next, once all were read.
    pub(super) fn next_ordinal(&self) -> u64 {
        self.reader.next_ordinal()
    }

    fn open(&mut self, nth: usize) {
        let segments = &self.rollout.segments;
        self.nth = nth;
        self.lines = segments.get(nth).map(|Segment { file, thread, .. }| {
            self.teller.turn_to((nth, *thread), self.base);
            Lines::from(&file.source, 0, 0)
        });
        if let Some(segment) = segments.get(nth) {
            let is_own = nth + 1 == segments.len();
            let name = (!is_own).then(|| segment.file.name.clone());
            self.reader.turn_to(segment.mode, name, segment.until);
        }
    }

    /// Reads a line; answers whether there was one.
    fn step(&mut self) -> io::Result<bool> {
        let Some(lines) = &mut self.lines else {
            return Ok(false);
        };
        let (nth, dropped, teller) = (self.nth, &self.rollout.dropped, &mut self.teller);
        let Some(line) = lines.next()? else {
            self.turn();
            return Ok(true);
        };
        let taken = self.reader.line(line, |said, place| {
            match dropped.holds((nth, place.offset)) {
                true => teller.findings.count(Kind::RolledBack),
                false => teller.line(said, place),
            }
        });
        if taken == Taken::Beyond {
            self.turn();
        }
        Ok(true)
    }

    /// Goes on with the next file.
    fn turn(&mut self) {
        let file = self.rollout.segments.get(self.nth);
        self.base += file.map_or(0, |segment| segment.file.source.bytes());
        self.open(self.nth + 1);
    }
}

impl<S: ReadAt> Iterator for Fold<'_, S> {
    type Item = io::Result<Told>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((told, end)) = self.teller.held.pop() {
                self.last = Some(end);
                return Some(Ok(told));
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) if self.is_ended => return None,
                Ok(false) => {
                    self.is_ended = true;
                    self.teller.end();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
