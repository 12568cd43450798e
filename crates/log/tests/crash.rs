//! Power loss at every change of a scripted session.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Loss, MemoryFs};
use sessiond_log::{Durability, INLINE_BYTES, Lease, Store, Writer};
use support::{Backend, lease, record, run, subject, texts, wait};

/// What was synced when so many changes had been made.
type Promises = Vec<(usize, (u64, String))>;

fn append(fs: &CrashFs, writer: &Writer, text: &str, promises: &mut Promises) {
    let appended = wait(writer.append(vec![record(text)], Durability::Synced)).unwrap();
    promises.push((fs.changes(), (appended.first_seq, text.to_owned())));
}

fn open(fs: &CrashFs) -> (Lease, Writer) {
    let store = Store::open(Arc::new(fs.clone()), Path::new("test")).unwrap();
    let lease = lease(&store).unwrap();
    let writer = lease.writer().unwrap();
    (lease, writer)
}

/// Three runs; the first leaves a torn end, so that the second has to seal it.
fn script(fs: &CrashFs) -> Promises {
    use sessiond_log::fs::Fs as _;
    let mut promises = Vec::new();
    let large = "x".repeat(INLINE_BYTES);
    let (lease, writer) = open(fs);
    for text in ["a", "b", &large, "c"] {
        append(fs, &writer, text, &mut promises);
        wait(writer.append(vec![record("written")], Durability::Written)).unwrap();
    }
    wait(writer.shutdown()).unwrap();
    drop((writer, lease));
    let log = support::log_dir();
    let name = fs.list(&log).unwrap().remove(0);
    let length = fs.stat(&log.join(&name)).unwrap().bytes;
    fs.truncate(&log.join(&name), length - 7).unwrap();
    let (lease, writer) = open(fs);
    for text in ["d", "e"] {
        append(fs, &writer, text, &mut promises);
    }
    // It dies with a line that nobody synced, and the third run builds on that.
    wait(writer.append(vec![record("written")], Durability::Written)).unwrap();
    drop((writer, lease));
    let (lease, writer) = open(fs);
    append(fs, &writer, "f", &mut promises);
    wait(writer.shutdown()).unwrap();
    drop(lease);
    promises
}

fn check(disk: MemoryFs, promised: &[&(u64, String)], case: &str) {
    let backend = Backend::memory(disk);
    let scan = backend.store().read(&subject()).unwrap();
    assert!(scan.damage.is_empty(), "{case}: {:?}", scan.damage);
    let found = texts(&scan);
    for promise in promised {
        assert!(found.contains(promise), "{case}: lost {}", promise.0);
    }
    run(&backend.store(), &[&["after"]]).unwrap();
    let scan = backend.store().read(&subject()).unwrap();
    let again = texts(&scan);
    assert_eq!(again.last().unwrap().1, "after", "{case}");
    assert!(
        scan.torn.is_none() && scan.damage.is_empty(),
        "{case}: {:?}",
        scan.damage
    );
    for promise in promised {
        assert!(
            again.contains(promise),
            "{case}: lost {} after recovery",
            promise.0
        );
    }
}

/// LOG-4, LOG-5
#[test]
fn what_was_synced_survives_a_crash_at_any_point() {
    let fs = CrashFs::new();
    let promises = script(&fs);
    let mut states = 0;
    for point in 0..=fs.changes() {
        let promised: Vec<_> = promises
            .iter()
            .filter(|(at, _)| *at <= point)
            .map(|(_, text)| text)
            .collect();
        let seeds = (0..40).map(|seed| Loss::Some(seed * 1000 + point as u64));
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let case = format!("{loss:?} after {point}");
            check(fs.after_crash(point, loss), &promised, &case);
            states += 1;
        }
    }
    assert!(states > 2_000, "{states}");
}
