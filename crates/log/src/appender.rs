//! The disk side of a writer: segments, lines, syncs. Runs on a thread of the pool.

mod repair;

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::blob::{self, Blobs};
use crate::error::{Doing, LogError, found};
use crate::fs::{AppendFile, Replace, replace, write_whole};
use crate::header::{Header, Sealed, Tail};
use crate::layout::{SESSIONS, SegmentName};
use crate::lease::Held;
use crate::line::{Crc, Envelope, decode};
use crate::lineage::Parent;
use crate::reader::{Carry, segments};
use crate::scan::{Scan, Torn};
use crate::writer::{Durability, Job, Waiting};

/// A segment is closed before it grows beyond this, in bytes: what is erased, archived or copied
/// at once, and what a reader holds in memory.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;

/// Written lines that wait for a sync, in bytes, before one is made unasked: they are kept in
/// memory for the case that the sync fails.
const UNSYNCED_BYTES: usize = 1024 * 1024;

/// The end of a log that a writer continues.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    tail: Option<Tail>,
    torn: Option<Torn>,
    parent: Option<Parent>,
    last_number: u32,
    epoch: u64,
    carry: Option<Carry>,
    pub(crate) next_seq: u64,
    pub(crate) newer: Option<u64>,
}

impl Base {
    pub(crate) fn of(scan: &Scan, carry: Option<Carry>) -> Self {
        Self {
            tail: scan.tail.clone(),
            torn: scan.torn.clone(),
            parent: scan.parent.clone(),
            last_number: scan.last_number,
            // A segment without a header may be a rival's claim on its way, whose epoch is not to
            // be seen yet; it is at most the segment's number (LOG-7).
            epoch: scan.highest_epoch.max(scan.last_number.into()) + 1,
            carry,
            next_seq: scan.next_seq,
            newer: scan.newer,
        }
    }
}

/// The segment that is being written.
#[derive(Debug)]
struct Open {
    file: Box<dyn AppendFile>,
    header: Header,
    length: u64,
    prev: Crc,
    /// Neither its bytes nor its name are durable yet.
    is_new: bool,
}

/// Turns jobs into lines on the disk and answers them.
#[derive(Debug)]
pub(crate) struct Appender {
    held: Arc<Held>,
    blobs: Blobs,
    epoch: u64,
    last_number: u32,
    torn: Option<Torn>,
    parent: Option<Parent>,
    /// Where the log durably ends.
    durable: Option<Tail>,
    open: Option<Open>,
    /// Whether this writer has made a segment durable, and with it all directories above.
    settled: bool,
    /// Lines that are encoded and not yet written.
    buffer: Vec<u8>,
    /// Those of `buffer` or the segment that are not answered yet, in order.
    waiting: VecDeque<Waiting>,
    last_seq: u64,
    /// Lines that were acknowledged as written, since the last sync.
    unsynced: Vec<u8>,
    carries: bool,
}

impl Appender {
    pub(crate) fn new(held: Arc<Held>, base: Base) -> Self {
        let blobs = held.store.blobs(&held.home);
        let carries = base.carry.is_some();
        let carry = base.carry.unwrap_or_default();
        Self {
            held,
            blobs,
            epoch: base.epoch,
            last_number: base.last_number,
            torn: base.torn,
            parent: base.parent,
            durable: base.tail,
            open: None,
            settled: false,
            buffer: Vec::new(),
            waiting: VecDeque::new(),
            last_seq: base.next_seq - 1,
            unsynced: carry.lines,
            carries,
        }
    }

    /// Appends the jobs with one write and, if any asks for it, one sync (group commit). On an
    /// error the writer is done for: [`Appender::fail`].
    pub(crate) fn append(&mut self, jobs: &mut VecDeque<Job>) -> Result<(), LogError> {
        // Only the holder of the lock that is named now may write (LOG-7).
        self.held.check()?;
        while let Some(job) = jobs.front() {
            if self.is_full(job.bytes) || self.ends_before(job) {
                self.write()?;
                self.sync()?;
                self.open = None;
            }
            if self.open.is_none()
                && let Some(at) = self.first_time(job)
            {
                self.begin_segment(&at, job.checkpoint())?;
            }
            self.encode(job)?;
            if let Some(job) = jobs.pop_front() {
                self.waiting.push_back(job.into_waiting());
            }
        }
        self.write()?;
        let asks = self
            .waiting
            .iter()
            .any(|w| w.durability == Durability::Synced);
        if asks || self.is_new() || self.unsynced.len() > UNSYNCED_BYTES {
            self.sync()?;
        }
        Ok(())
    }

    /// Makes everything durable and closes the file.
    pub(crate) fn close(&mut self) -> Result<(), LogError> {
        self.sync()?;
        self.open = None;
        Ok(())
    }

    /// Seals the segment, so that nothing is written behind what it holds now; answers the last
    /// seq that is durable.
    pub(crate) fn cut(&mut self) -> Result<u64, LogError> {
        self.close()?;
        Ok(self.durable.as_ref().map_or(0, |tail| tail.seq))
    }

    /// Leaves to the next writer what was acknowledged; answers who is to hear of the failure.
    pub(crate) fn fail(self) -> VecDeque<Waiting> {
        if self.carries {
            self.held.hand_over(Carry {
                tail: self.durable,
                lines: self.unsynced,
            });
        }
        self.waiting
    }

    /// Time of the first line that the next segment gets; `None` when it would get none.
    fn first_time(&self, job: &Job) -> Option<String> {
        let carried = self.unsynced.split(|b| *b == b'\n').next().map(decode);
        match carried {
            Some(Ok(line)) => Some(line.at.into_owned()),
            _ => job.records.first().map(|r| r.at.clone()),
        }
    }

    fn is_new(&self) -> bool {
        self.open.as_ref().is_some_and(|o| o.is_new)
    }

    /// Whether `more` bytes belong into the next segment; one that holds nothing is never full.
    fn is_full(&self, more: u64) -> bool {
        let Some(open) = &self.open else { return false };
        let filled = open.length + self.buffer.len() as u64;
        let empty = open.header.first_seq > self.last_seq;
        !empty && filled + more > SEGMENT_BYTES
    }

    /// Whether the segment ends here for `job`, a checkpoint that begins the next one.
    fn ends_before(&self, job: &Job) -> bool {
        self.open.is_some() && job.checkpoint().is_some()
    }

    fn encode(&mut self, job: &Job) -> Result<(), LogError> {
        for (record, seq) in job.records.iter().zip(job.first_seq..) {
            let Some(open) = &mut self.open else {
                return Err(LogError::Closed);
            };
            let reference;
            let data = if blob::is_large(&record.data) {
                reference = self.blobs.keep(&record.data)?;
                &reference
            } else {
                &record.data
            };
            let (epoch, prev) = (self.epoch, open.prev);
            let (at, kind) = (record.at.as_str(), record.kind.as_str());
            let envelope = Envelope {
                seq: Some(seq),
                epoch,
                prev,
                at,
                kind,
                data,
            };
            open.prev = envelope.encode(&mut self.buffer);
            self.last_seq = seq;
        }
        Ok(())
    }

    /// Writes what is encoded, and answers those who wait for no more than that.
    fn write(&mut self) -> Result<(), LogError> {
        let Some(open) = &mut self.open else {
            self.answer_until(None);
            return Ok(());
        };
        if !self.buffer.is_empty() {
            let path = self.held.home.segment(&open.header.name().to_string());
            write_whole(open.file.as_mut(), &self.buffer).doing("write", &path)?;
            open.length += self.buffer.len() as u64;
        }
        if !open.is_new {
            // In order: who comes after one that waits for the sync waits for it as well.
            let synced = |w: &Waiting| w.durability == Durability::Synced;
            let end = self
                .waiting
                .iter()
                .find(|w| synced(w))
                .map(|w| w.appended.first_seq);
            self.keep_unsynced(end);
            self.answer_until(end);
        }
        self.buffer.clear();
        Ok(())
    }

    /// Keeps the lines below `end` that are now acknowledged without being durable.
    fn keep_unsynced(&mut self, end: Option<u64>) {
        let end = end.unwrap_or(u64::MAX);
        let lines = self.buffer.split_inclusive(|b| *b == b'\n');
        let kept = lines.take_while(|l| seq_of(l).is_some_and(|seq| seq < end));
        let length = kept.map(<[u8]>::len).sum();
        self.unsynced
            .extend_from_slice(self.buffer.get(..length).unwrap_or_default());
    }

    /// Makes what is written durable, and answers everybody.
    fn sync(&mut self) -> Result<(), LogError> {
        if let Some(open) = &mut self.open {
            let home = &self.held.home;
            let fs = self.held.store.fs();
            let path = home.segment(&open.header.name().to_string());
            open.file.sync().doing("sync", &path)?;
            if open.is_new {
                sync_dir(fs, &home.log())?;
            }
            if !self.settled {
                // A predecessor may have died between making these names and syncing them.
                for dir in [home.root(), Path::new(SESSIONS), Path::new("")] {
                    sync_dir(fs, dir)?;
                }
                self.settled = true;
                self.held.carried();
            }
            open.is_new = false;
            let (segment, number) = (Some(open.header.segment), open.header.number);
            let (seq, length) = (self.last_seq, open.length);
            self.durable = Some(Tail {
                segment,
                number,
                seq,
                length,
            });
            self.unsynced.clear();
        }
        self.answer_until(None);
        Ok(())
    }

    fn answer_until(&mut self, end: Option<u64>) {
        let end = end.unwrap_or(u64::MAX);
        while let Some(waiting) = self.waiting.pop_front_if(|w| w.appended.first_seq < end) {
            let appended = waiting.appended;
            waiting.answer(Ok(appended));
        }
    }

    /// Claims the next segment: the first one of a writer seals what the log ends with.
    fn begin_segment(&mut self, at: &str, checkpoint: Option<u64>) -> Result<(), LogError> {
        let held = Arc::clone(&self.held);
        let fs = held.store.fs();
        self.fence()?;
        self.seal()?;
        let log = held.home.log();
        fs.make_dir(&log).doing("create", &log)?;
        let mut header = self.next_header()?;
        header.checkpoint = checkpoint;
        let path = held.home.segment(&header.name().to_string());
        let file = match fs.create(&path) {
            // Somebody else claimed it.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(LogError::Fenced(held.subject.clone()));
            }
            other => other.doing("create", &path)?,
        };
        self.last_number = header.number;
        self.carries = true;
        self.enter(file, header, at)?;
        // A rival without the same lock may have claimed a segment of another first seq.
        self.fence()
    }

    /// The header that continues what is durable.
    fn next_header(&self) -> Result<Header, LogError> {
        let (number, after) = (self.last_number + 1, self.durable.clone());
        let mut header = Header::new(self.held.subject.clone(), number, self.epoch, after);
        header.torn = self.sealed()?;
        header.parent.clone_from(&self.parent);
        Ok(header)
    }

    /// Goes on in `file`: encodes its header, and the lines that an earlier writer had
    /// acknowledged.
    fn enter(
        &mut self,
        file: Box<dyn AppendFile>,
        header: Header,
        at: &str,
    ) -> Result<(), LogError> {
        let prev = header.encode(at, &mut self.buffer)?;
        let (length, is_new) = (0, true);
        self.open = Some(Open {
            file,
            header,
            length,
            prev,
            is_new,
        });
        self.encode_carried();
        Ok(())
    }

    /// Whether a newer segment than the ones known exists: then another writer does, too.
    fn fence(&self) -> Result<(), LogError> {
        let names = segments(self.held.store.fs(), &self.held.home)?;
        let own = self.open.as_ref().map(|o| o.header.name());
        let rival = |n: &&SegmentName| {
            n.number > self.last_number
                || (own.is_some() && n.number == self.last_number && own != Some(**n))
        };
        match names.iter().find(rival) {
            Some(_) => Err(LogError::Fenced(self.held.subject.clone())),
            None => Ok(()),
        }
    }

    /// Re-encodes, under this epoch, the lines that an earlier writer had acknowledged.
    fn encode_carried(&mut self) {
        let Some(open) = &mut self.open else { return };
        for line in self.unsynced.split(|b| *b == b'\n') {
            let Ok(line) = decode(line) else { continue };
            let (epoch, prev) = (self.epoch, open.prev);
            let (seq, at, kind, data) = (line.seq, &line.at, &line.kind, line.data);
            let envelope = Envelope {
                seq,
                epoch,
                prev,
                at,
                kind,
                data,
            };
            open.prev = envelope.encode(&mut self.buffer);
        }
    }

    /// Before the header says where the old segment ends, that end must be durable. A torn tail is
    /// copied aside and cut off first (LOG-4).
    fn seal(&mut self) -> Result<(), LogError> {
        let home = &self.held.home;
        let fs = self.held.store.fs();
        if let Some(torn) = self.torn.take() {
            let path = home.segment(&torn.segment);
            let end = torn.offset + torn.length;
            let bytes = fs.read(&path, torn.offset..end).doing("read", &path)?;
            let dir = home.torn();
            fs.make_dir(&dir).doing("create", &dir)?;
            sync_dir(fs, home.root())?;
            let copy = dir.join(format!("{}.{}", torn.segment, torn.offset));
            replace(fs, &copy, &bytes, Replace::Durable).doing("write", &copy)?;
            fs.truncate(&path, torn.offset).doing("cut", &path)?;
        }
        // This syncs the cut, and lines that a dead process wrote without syncing them. What a
        // failed writer of this lease left is durable up to `durable`.
        if !self.carries {
            for name in self.end_of_log()? {
                let path = home.segment(&name);
                fs.sync_file(&path).doing("sync", &path)?;
            }
        }
        Ok(())
    }

    /// The torn tail that was cut off the end of the log, by this process or by one that died
    /// before it could record that.
    fn sealed(&self) -> Result<Option<Sealed>, LogError> {
        let fs = self.held.store.fs();
        let dir = self.held.home.torn();
        let copies = found(fs.list(&dir))
            .doing("list", &dir)?
            .unwrap_or_default();
        for segment in self.end_of_log()? {
            for copy in &copies {
                let offset = copy
                    .strip_prefix(&segment)
                    .and_then(|rest| rest.strip_prefix('.'));
                let Some(offset) = offset.and_then(|o| o.parse().ok()) else {
                    continue;
                };
                let path = dir.join(copy);
                let length = fs.stat(&path).doing("look up", &path)?.bytes;
                let copy = format!("torn/{copy}");
                return Ok(Some(Sealed {
                    segment,
                    offset,
                    length,
                    copy,
                }));
            }
        }
        Ok(None)
    }

    /// Names of the files in which the log durably ends: its last segment, and what comes after.
    fn end_of_log(&self) -> Result<Vec<String>, LogError> {
        let number = self.durable.as_ref().map_or(0, |tail| tail.number);
        let names = segments(self.held.store.fs(), &self.held.home)?;
        Ok(names
            .iter()
            .filter(|n| n.number >= number)
            .map(SegmentName::to_string)
            .collect())
    }
}

fn sync_dir(fs: &dyn crate::fs::Fs, path: &Path) -> Result<(), LogError> {
    fs.sync_dir(path).doing("sync", path)
}

/// Seq of a line that this process encoded.
fn seq_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"v\":1,\"seq\":")?;
    let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(digits.get(..length)?)
        .ok()?
        .parse()
        .ok()
}
