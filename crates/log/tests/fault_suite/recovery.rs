//! A recovery that is itself cut off.

use std::path::Path;
use std::sync::Arc;

use sessiond_log::Store;
use sessiond_log::fs::{CrashFs, Fs as _, Loss, MemoryFs};

use crate::power::{Script, losses, survives};
use crate::support::{append, lease, wait};
use crate::tally::{Form, Tally};

/// The same files on a disk that remembers, all durable.
fn remembering(disk: &MemoryFs) -> CrashFs {
    let fs = CrashFs::new();
    let files = disk.files();
    if files.is_empty() {
        return fs;
    }
    fs.make_root().unwrap();
    for (path, bytes) in &files {
        let mut dirs: Vec<_> = path.ancestors().skip(1).collect();
        dirs.reverse();
        for dir in dirs.iter().skip(1) {
            fs.make_dir(dir).unwrap();
        }
        let mut file = fs.create(path).unwrap();
        file.write(bytes).unwrap();
        file.sync().unwrap();
        dirs.iter().for_each(|dir| fs.sync_dir(dir).unwrap());
    }
    fs
}

/// The next process opens the log and appends; when it was told so, in changes of the disk.
fn recover(fs: &CrashFs) -> Result<(usize, (u64, String)), String> {
    let recovered = || {
        let store = Store::open(Arc::new(fs.clone()), Path::new("test"))?;
        let lease = lease(&store)?;
        let writer = lease.writer()?;
        let appended = append(&writer, &["recovered"])?;
        let told = (fs.changes(), (appended.first_seq, "recovered".to_owned()));
        wait(writer.shutdown())?;
        Ok(told)
    };
    recovered().map_err(|e: sessiond_log::LogError| format!("no recovery: {e}"))
}

/// LOG-4: recovery loses nothing when it is killed, wherever, and runs again.
#[test]
fn killed_recoveries() {
    let form = Form::asked();
    let mut tally = Tally::of("killed_recoveries");
    let script = Script::lives();
    for point in (0..=script.fs.changes()).step_by(form.pick(7, 2)) {
        for first in losses(1, point) {
            let fs = remembering(&script.fs.after_crash(point, first));
            let start = fs.changes();
            let told = match recover(&fs) {
                Ok(told) => told,
                Err(violation) => {
                    tally.state(&format!("{first:?} after {point}"), Err(violation));
                    continue;
                }
            };
            let promised = script.promised(point, first);
            for step in start..=fs.changes() {
                for second in losses(form.pick(1, 3), step) {
                    let mut promised = promised.clone();
                    if told.0 <= step {
                        promised.push(&told.1);
                    }
                    let case = format!("{first:?} after {point}, {second:?} after {step}");
                    tally.state(&case, survives(fs.after_crash(step, second), &promised));
                }
            }
        }
    }
    tally.finish(form.pick(2_000, 12_000));
}

/// LOG-4: the bytes of a torn tail are in the segment or in their copy, whenever the power fails.
#[test]
fn cut_tails_are_kept() {
    let mut tally = Tally::of("cut_tails_are_kept");
    let script = Script::lives();
    for point in (0..=script.fs.changes()).step_by(3) {
        for first in losses(2, point) {
            let disk = script.fs.after_crash(point, first);
            let fs = remembering(&disk);
            let before = crate::images::read(&crate::support::Backend::memory(disk.clone()));
            let Some(torn) = before.unwrap().torn else {
                continue;
            };
            let path = crate::support::log_dir().join(&torn.segment);
            let tail = disk.read(&path, torn.offset..u64::MAX).unwrap();
            let start = fs.changes();
            recover(&fs).unwrap();
            for step in start..=fs.changes() {
                let files = fs.after_crash(step, Loss::Everything).files();
                let kept = files.iter().any(|(_, bytes)| bytes.ends_with(&tail));
                let outcome = kept.then_some(()).ok_or("the tail is lost".to_owned());
                tally.state(&format!("{first:?} after {point}, {step}"), outcome);
            }
        }
    }
    tally.finish(200);
}

/// LOG-4: a tail that was cut stays gone, also when the power fails before the next append.
#[test]
fn cut_tails_stay_gone() {
    let mut tally = Tally::of("cut_tails_stay_gone");
    let script = Script::lives();
    for point in 0..=script.fs.changes() {
        for first in losses(6, point) {
            let disk = script.fs.after_crash(point, first);
            let fs = remembering(&disk);
            let before = crate::images::read(&crate::support::Backend::memory(disk)).unwrap();
            if before.torn.is_none() {
                continue;
            }
            let outcome = recover(&fs).and_then(|_| {
                let disk = fs.after_crash(fs.changes(), Loss::Everything);
                let after = crate::images::read(&crate::support::Backend::memory(disk))?;
                ensure!(after.torn.is_none(), "the tail is back");
                ensure!(
                    after.records.len() == before.records.len() + 1,
                    "records came or went"
                );
                Ok(())
            });
            tally.state(&format!("{first:?} after {point}"), outcome);
        }
    }
    tally.finish(20);
}
