//! A rollout that its program is still writing: what comes to it is told once, in order.

use std::io;

use sessiond_wire::foreign::{Grown, Identity, Lines, Place, ReadAt, Upto, mark};

use super::chain::Rollout;
use super::findings::{Findings, Kind};
use super::line::Line;
use super::plan::ROLLED_BACK;
use super::reader::{Reader, Taken};
use super::said::Teller;

/// Follows one rollout.
#[derive(Debug, Default)]
pub struct Tail {
    reader: Reader,
    teller: Teller,
    /// How far was read: the end of the last line that counts, and how many came before it.
    end: u64,
    lines: u64,
    file: Option<(u64, u64)>,
    /// The bytes before that place.
    mark: Vec<u8>,
    has_told: bool,
}

/// What reading on met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    /// Nothing but what comes next.
    Nothing,
    /// Turns were rolled back.
    Back,
}

impl Tail {
    /// What was found in the file so far that is not as it should be.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.reader.findings.clone().and(&self.teller.findings)
    }

    /// Looks at what came since the last look. A line that is not whole yet, and a call that may yet
    /// get its result, are told when they are. `open` finds the file and those that it goes on from,
    /// where it is looked at for the first time or is another one.
    ///
    /// # Errors
    /// What the source says.
    pub fn look<S: ReadAt>(
        &mut self,
        source: &S,
        identity: Identity,
        mut open: impl FnMut() -> io::Result<Rollout<S>>,
    ) -> io::Result<Vec<Grown>> {
        let mut grown = Vec::new();
        let is_another = self.file != Some(identity.file);
        let seen = Upto::new(source, identity.bytes);
        let is_same = !is_another
            && identity.bytes >= self.end
            && mark(source, self.end)? == self.mark
            && self.read(&seen)? == Met::Nothing;
        if !is_same {
            let rollout = open()?;
            if !rollout.has_begun()? {
                // Its program has made the file and not written its head yet.
                return Ok(grown);
            }
            if self.has_told {
                grown.push(Grown::Anew);
            }
            *self = Self {
                file: Some(identity.file),
                ..Self::default()
            };
            self.begin(&rollout, &seen)?;
        }
        self.mark = mark(source, self.end)?;
        while let Some((told, _)) = self.teller.held.pop() {
            self.has_told = true;
            grown.push(Grown::Told(told));
        }
        Ok(grown)
    }

    /// Reads the files that this one goes on from, and this one as far as it is there.
    fn begin<S: ReadAt>(&mut self, rollout: &Rollout<S>, seen: &Upto<&S>) -> io::Result<()> {
        let mut base = 0;
        let own = rollout.segments.len() - 1;
        for (nth, segment) in rollout.segments.iter().enumerate() {
            let name = (nth != own).then(|| segment.file.name.clone());
            self.reader.turn_to(segment.mode, name, segment.until);
            self.teller.turn_to((nth, segment.thread), base);
            base += segment.file.source.bytes();
            let mut take =
                |said: Line<'_>, place: Place| match rollout.dropped.holds((nth, place.offset)) {
                    true => self.teller.findings.count(Kind::RolledBack),
                    false => self.teller.line(said, place),
                };
            if nth == own {
                let (reader, at) = (&mut self.reader, (&mut self.end, &mut self.lines));
                read(seen, reader, at, &mut take)?;
            } else {
                let at = (&mut 0, &mut 0);
                read(&segment.file.source, &mut self.reader, at, &mut take)?;
            }
        }
        Ok(())
    }

    /// Reads on.
    fn read<S: ReadAt>(&mut self, source: &S) -> io::Result<Met> {
        let mut met = Met::Nothing;
        let (reader, at) = (&mut self.reader, (&mut self.end, &mut self.lines));
        read(source, reader, at, &mut |said, place| {
            let payload = said.payload.0.as_ref();
            if payload.is_some_and(|payload| payload.kind.is(ROLLED_BACK)) {
                met = Met::Back;
            }
            self.teller.line(said, place);
        })?;
        Ok(met)
    }
}

/// Reads the lines of a source from a place on, which is moved behind what counts: a last line that
/// is not whole yet is read again the next time, where it has no line break.
fn read<S: ReadAt>(
    source: &S,
    reader: &mut Reader,
    (end, before): (&mut u64, &mut u64),
    take: &mut impl FnMut(Line<'_>, Place),
) -> io::Result<()> {
    // What was torn the last time is looked at again.
    reader.findings.forget(Kind::TornTail);
    let mut lines = Lines::from(source, *end, *before);
    while let Some(line) = lines.next()? {
        let (next, number) = (line.offset + line.bytes.len() as u64, line.number);
        let is_ended = line.is_ended;
        let taken = reader.line(line, &mut *take);
        if taken == Taken::Beyond {
            break;
        }
        if is_ended {
            (*end, *before) = (next + 1, number);
        } else if taken == Taken::Whole {
            // The rest of this line, its break, is still to come.
            (*end, *before) = (next, number - 1);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
