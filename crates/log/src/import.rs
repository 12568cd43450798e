//! Takes in what [`Store::export`] wrote: all of it, checked, or nothing.

use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::blob::is_blob_name;
use crate::error::{Doing, LogError};
use crate::export::{EXPORT, End, Part, SUM, Sum, Title};
use crate::header::Header;
use crate::layout::{Home, Place, SegmentName};
use crate::lineage::Parent;
use crate::nursery::Nursery;
use crate::scan::Scan;
use crate::store::Store;
use crate::subject::Subject;
use crate::survey::Survey;
use crate::verify::Report;

/// Longest line of an export, in bytes: names and numbers only.
const LONGEST_LINE: u64 = 4096;

/// An export while it is being read.
struct Source<'a> {
    input: &'a mut dyn BufRead,
    offset: u64,
    sum: Sum,
    /// Where the line begins that is being looked at.
    line_at: u64,
}

/// A line without its sum, and that.
struct Line {
    text: String,
    sum: String,
}

impl Source<'_> {
    /// A refusal that names the place of the last line.
    fn bad(&self, why: &'static str) -> LogError {
        let offset = self.line_at;
        LogError::BadExport { offset, why }
    }

    fn read(&mut self, bytes: u64) -> Result<Vec<u8>, LogError> {
        let mut content = Vec::new();
        let read = Read::take(&mut *self.input, bytes).read_to_end(&mut content);
        read.doing("read", Path::new("the export"))?;
        self.offset += content.len() as u64;
        if (content.len() as u64) < bytes {
            return Err(self.bad("it ends too early"));
        }
        Ok(content)
    }

    fn line(&mut self) -> Result<Line, LogError> {
        self.line_at = self.offset;
        let mut line = Vec::new();
        let read = Read::take(&mut *self.input, LONGEST_LINE).read_until(b'\n', &mut line);
        read.doing("read", Path::new("the export"))?;
        self.offset += line.len() as u64;
        if line.pop() != Some(b'\n') {
            return Err(self.bad("it ends too early"));
        }
        let line = String::from_utf8(line).map_err(|_| self.bad("not a line of an export"))?;
        let parts = line.strip_suffix("\"}").and_then(|l| l.rsplit_once(SUM));
        let (text, sum) = parts.ok_or_else(|| self.bad("not a line of an export"))?;
        let (text, sum) = (text.to_owned(), sum.to_owned());
        Ok(Line { text, sum })
    }

    fn check(&mut self, line: &Line, content: &[u8]) -> Result<(), LogError> {
        if self.sum.add(&line.text, content) == line.sum {
            return Ok(());
        }
        Err(self.bad("it was altered: the sum differs"))
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, line: &Line) -> Result<T, LogError> {
        let parsed = serde_json::from_str(&format!("{}}}", line.text));
        parsed.map_err(|_| self.bad("not a line of an export"))
    }

    fn title(&mut self) -> Result<Title, LogError> {
        let line = self.line()?;
        self.check(&line, b"")?;
        let title: Title = self.parse(&line)?;
        if title.sessiond_export > EXPORT {
            let (found, known) = (title.sessiond_export, EXPORT);
            return Err(LogError::TooNew { found, known });
        }
        Ok(title)
    }

    /// The next part with its bytes, or `None` after the last.
    fn part(&mut self, seen: &HashSet<String>) -> Result<Option<(String, Vec<u8>)>, LogError> {
        let line = self.line()?;
        if line.text.starts_with("{\"end\":") {
            self.check(&line, b"")?;
            let End { end } = self.parse(&line)?;
            let rest = self.input.fill_buf();
            let is_over = rest.doing("read", Path::new("the export"))?.is_empty();
            if end != seen.len() as u64 || !is_over {
                return Err(self.bad("it does not end where it says"));
            }
            return Ok(None);
        }
        let part: Part = self.parse(&line)?;
        let content = self.read(part.bytes)?;
        self.check(&line, &content)?;
        if self.read(1)? != b"\n" {
            return Err(self.bad("no line break after the bytes"));
        }
        if seen.contains(&part.file) {
            return Err(self.bad("a file twice"));
        }
        Ok(Some((part.file, content)))
    }
}

impl Store {
    /// Makes a session out of what [`Store::export`] wrote, here or elsewhere, under its own id or
    /// another one. All of it is checked before the session appears: the sums, then the log and
    /// its blobs, which must read as they did when they were exported. Remains without a record, of
    /// a session of that id that was never finished, are set aside first: [`Store::aside`].
    ///
    /// # Errors
    /// [`LogError::BadExport`] with the place for one that is cut, altered, or not an export;
    /// [`LogError::Exists`]; [`LogError::Busy`] while one of that id is being created;
    /// [`LogError::TooNew`]; [`LogError::Io`].
    pub fn import(
        &self,
        input: &mut dyn BufRead,
        new_id: Option<&Subject>,
    ) -> Result<Report, LogError> {
        let (offset, line_at, sum) = (0, 0, Sum::default());
        let mut source = Source {
            input,
            offset,
            sum,
            line_at,
        };
        let title = source.title()?;
        let subject = new_id.unwrap_or(&title.session);
        self.vacant(subject)?;
        let nursery = Nursery::new(self, subject)?;
        let mut seen = HashSet::new();
        while let Some((file, content)) = source.part(&seen)? {
            self.take_in(&nursery, &source, (&file, &content))?;
            seen.insert(file);
        }
        if *subject != title.session {
            self.rename_log(&nursery, &source, (&title.session, subject))?;
        }
        let (scan, survey) = self.look(subject, nursery.home())?;
        let found = Title {
            records: survey.records,
            next_seq: scan.next_seq,
            damage: scan.damage.len() as u64,
            ..title.clone()
        };
        if found != title || scan.torn.is_some() || scan.is_blank() {
            return Err(source.bad("the log does not read as it did when it was exported"));
        }
        self.make_room(subject)?;
        nursery.settle()?;
        Ok(Report::of(subject, Place::Sessions, survey.records, scan))
    }

    fn look(&self, subject: &Subject, home: &Home) -> Result<(Scan, Survey), LogError> {
        self.with_reader_at(subject, home, |r| r.survey(None, u64::MAX))
    }

    /// Writes one file. Only names that this program gives become a path (LOG-13).
    fn take_in(
        &self,
        nursery: &Nursery<'_>,
        source: &Source<'_>,
        (file, content): (&str, &[u8]),
    ) -> Result<(), LogError> {
        let path: PathBuf = match file.split_once('/') {
            Some(("keys", id)) => {
                if self.keys().adopt(id, content)? {
                    return Ok(());
                }
                return Err(source.bad("not the key of its id"));
            }
            Some(("blobs", name)) if is_blob_name(name) => nursery.home().blobs().join(name),
            Some(("log", name)) if SegmentName::parse(name).is_some() => {
                nursery.home().segment(name)
            }
            _ => return Err(source.bad("not the name of a file of a session")),
        };
        nursery.put(&path, content)
    }

    /// Gives the log another id: a segment of its own that continues those under the old one, as
    /// in a fork.
    fn rename_log(
        &self,
        nursery: &Nursery<'_>,
        source: &Source<'_>,
        (old, new): (&Subject, &Subject),
    ) -> Result<(), LogError> {
        let (scan, survey) = self.look(old, nursery.home())?;
        let tail = scan.tail.clone();
        let tail = tail.ok_or_else(|| source.bad("it holds no log"))?;
        let last = survey.last.unwrap_or_default();
        let (number, epoch) = (scan.last_number + 1, scan.highest_epoch + 1);
        let parent = Parent {
            session: old.clone(),
            seq: tail.seq,
            crc: last.crc.to_string(),
            segments: scan.last_number,
        };
        let mut header = Header::new(new.clone(), number, epoch, Some(tail));
        header.parent = Some(parent);
        let mut line = Vec::new();
        header.encode(&last.at, &mut line)?;
        nursery.put(&nursery.home().segment(&header.name().to_string()), &line)
    }
}
