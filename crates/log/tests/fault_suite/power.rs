//! Power loss, and death of the process, at every change of scripted sessions.

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Fs as _, Loss, MemoryFs};
use sessiond_log::{Durability, INLINE_BYTES, Lease, SEGMENT_BYTES, Store, Writer};

use crate::images::{goes_on, out_of_line, read};
use crate::support::{Backend, lease, log_dir, record, texts, wait};
use crate::tally::{Form, Tally};

/// A record, and how many changes of the disk had been made when it was acknowledged.
type Promise = (usize, (u64, String));

/// A scripted session on a disk that remembers, and what it was told on the way.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) fs: CrashFs,
    synced: Vec<Promise>,
    written: Vec<Promise>,
}

impl Script {
    fn open(&self) -> (Lease, Writer) {
        let store = Store::open(Arc::new(self.fs.clone()), Path::new("test")).unwrap();
        let lease = lease(&store).unwrap();
        let writer = lease.writer().unwrap();
        (lease, writer)
    }

    fn append(&mut self, writer: &Writer, text: &str, durability: Durability) {
        let record = if text.starts_with("blob") {
            out_of_line(text)
        } else {
            record(text)
        };
        let appended = wait(writer.append(vec![record], durability)).unwrap();
        let promise = (self.fs.changes(), (appended.first_seq, text.to_owned()));
        if durability == Durability::Synced {
            self.synced.push(promise.clone());
        }
        self.written.push(promise);
    }

    /// A shutdown promises all that was ever written.
    fn shutdown(&mut self, writer: &Writer) {
        wait(writer.shutdown()).unwrap();
        let now = self.fs.changes();
        self.synced = self
            .written
            .iter()
            .map(|(_, text)| (now, text.clone()))
            .chain(std::mem::take(&mut self.synced))
            .collect();
    }

    fn cut_last_segment(&self, bytes: u64) {
        let name = self.fs.list(&log_dir()).unwrap().into_iter().max().unwrap();
        let path = log_dir().join(name);
        let length = self.fs.stat(&path).unwrap().bytes;
        self.fs.truncate(&path, length - bytes).unwrap();
    }

    /// Four lives. The second finds a torn end and seals it; it dies with a line that nobody
    /// synced, and the third builds on that.
    pub(crate) fn lives() -> Self {
        let mut script = Self::default();
        let (held, writer) = script.open();
        for text in ["a", "b", "blob", "c"] {
            script.append(&writer, text, Durability::Synced);
            script.append(&writer, "written", Durability::Written);
        }
        script.append(&writer, "torn", Durability::Written);
        drop((writer, held));
        script.cut_last_segment(7);
        // The machine never promised the line that was cut.
        script.written.pop();
        let (held, writer) = script.open();
        for text in ["d", "e"] {
            script.append(&writer, text, Durability::Synced);
        }
        script.append(&writer, "written", Durability::Written);
        drop((writer, held));
        let (held, writer) = script.open();
        script.append(&writer, "f", Durability::Synced);
        script.append(&writer, "g", Durability::Written);
        script.shutdown(&writer);
        drop(held);
        let (held, writer) = script.open();
        script.append(&writer, "blob 2", Durability::Synced);
        script.shutdown(&writer);
        drop(held);
        script
    }

    /// A first segment without room for two long records.
    fn nearly_full() -> (Self, Lease, Writer) {
        let script = Self::default();
        let (held, writer) = script.open();
        let count = usize::try_from(SEGMENT_BYTES).unwrap() / INLINE_BYTES - 1;
        let batch = (0..count).map(|_| record(&long())).collect();
        wait(writer.append(batch, Durability::Synced)).unwrap();
        (script, held, writer)
    }

    /// A first segment that outgrows its size, so that the writer begins another.
    fn roll() -> Self {
        let (mut script, held, writer) = Self::nearly_full();
        let long = long();
        for text in ["before", &long, &long] {
            script.append(&writer, text, Durability::Written);
        }
        script.append(&writer, "after", Durability::Synced);
        script.shutdown(&writer);
        drop(held);
        script
    }

    /// The same where the segment ends between records that are written together: those before
    /// its end are in a file that nobody writes to any more.
    fn roll_within_a_group() -> Self {
        let (mut script, held, writer) = Self::nearly_full();
        // Faster than the pool syncs, so most of them wait for the second sync together.
        let line = "s".repeat(1024);
        let tickets: Vec<_> = (0..100)
            .map(|_| writer.append(vec![record(&line)], Durability::Synced))
            .collect();
        let places: Vec<_> = tickets.into_iter().map(|t| wait(t).unwrap()).collect();
        let now = script.fs.changes();
        let told = places.iter().map(|p| (now, (p.first_seq, line.clone())));
        script.synced.extend(told.clone());
        script.written.extend(told);
        script.shutdown(&writer);
        drop(held);
        script
    }

    /// What must be there after the first `point` changes: after a loss of power what was synced,
    /// after a death of the process what was written as well.
    pub(crate) fn promised(&self, point: usize, loss: Loss) -> Vec<&(u64, String)> {
        let promises = match loss {
            Loss::Nothing => &self.written,
            Loss::Everything | Loss::Some(_) => &self.synced,
        };
        promises
            .iter()
            .filter(|(at, _)| *at <= point)
            .map(|(_, text)| text)
            .collect()
    }
}

/// The longest text that stays in its line.
fn long() -> String {
    "l".repeat(INLINE_BYTES - 64)
}

/// The log on `disk` holds what was promised, is undamaged, and goes on.
pub(crate) fn survives(disk: MemoryFs, promised: &[&(u64, String)]) -> Result<(), String> {
    let backend = Backend::memory(disk);
    let scan = read(&backend)?;
    ensure!(scan.damage.is_empty(), "{:?}", scan.damage);
    let found = texts(&scan);
    let lost = promised.iter().find(|p| !found.contains(p)).map(|p| p.0);
    ensure!(lost.is_none(), "lost record {lost:?}");
    goes_on(&backend, &scan).map(drop)
}

/// Everything, nothing, and parts chosen by `count` seeds.
pub(crate) fn losses(count: u64, point: usize) -> impl Iterator<Item = Loss> {
    let seeds = (0..count).map(move |seed| Loss::Some(seed * 10_007 + point as u64));
    [Loss::Everything, Loss::Nothing].into_iter().chain(seeds)
}

/// The disk on which the process died in the middle of its `point`-th change, when that is a
/// write, with `part`/16 of its bytes.
fn torn_write(fs: &CrashFs, point: usize, part: usize) -> Option<MemoryFs> {
    let before = fs.after_crash(point.checked_sub(1)?, Loss::Nothing).files();
    let disk = fs.after_crash(point, Loss::Nothing);
    let (path, now) = disk.files().into_iter().find(|(path, now)| {
        let old = before.iter().find(|(p, _)| p == path);
        old.is_some_and(|(_, old)| now.len() > old.len())
    })?;
    let old = before
        .iter()
        .find(|(p, _)| *p == path)
        .map_or(0, |(_, old)| old.len());
    let kept = old + (now.len() - old) * part / 16;
    disk.put(&path, now[..kept].to_vec());
    Some(disk)
}

/// LOG-4, LOG-5: what was synced survives the loss of power at any point, what was written the
/// end of the process.
#[test]
fn crash_states() {
    let form = Form::asked();
    let mut tally = Tally::of("crash_states");
    let script = Script::lives();
    for point in 0..=script.fs.changes() {
        for loss in losses(form.pick(108, 140), point) {
            let disk = script.fs.after_crash(point, loss);
            let outcome = survives(disk, &script.promised(point, loss));
            tally.state(&format!("{loss:?} after {point}"), outcome);
        }
    }
    tally.finish(12_000);
}

/// LOG-4: a write of which the dying process got a part to the disk.
#[test]
fn torn_writes() {
    let mut tally = Tally::of("torn_writes");
    let script = Script::lives();
    for point in 1..=script.fs.changes() {
        let promised = script.promised(point - 1, Loss::Nothing);
        for part in 0..16 {
            let Some(disk) = torn_write(&script.fs, point, part) else {
                break;
            };
            tally.state(&format!("{part}/16 of {point}"), survives(disk, &promised));
        }
    }
    tally.finish(300);
}

/// LOG-5, LOG-10: the same where a full segment is closed and the next begins.
#[test]
fn crash_states_of_a_full_segment() {
    let form = Form::asked();
    let mut tally = Tally::of("crash_states_of_a_full_segment");
    for script in [Script::roll(), Script::roll_within_a_group()] {
        let changes = script.fs.changes();
        for point in changes.saturating_sub(14)..=changes {
            for loss in losses(form.pick(2, 8), point) {
                let disk = script.fs.after_crash(point, loss);
                let outcome = survives(disk, &script.promised(point, loss));
                tally.state(&format!("{loss:?} after {point}"), outcome);
            }
        }
    }
    tally.finish(form.pick(120, 300));
}
