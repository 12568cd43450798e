//! A disk that fails at each operation in turn.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{Fault, FaultFs, Fs, MemoryFs, Repeat};
use sessiond_log::{Durability, INLINE_BYTES, LogError, Store};
use support::{Backend, append, brief, lease, log_dir, record, subject, texts, wait};

fn store(fs: &FaultFs) -> Result<Store, LogError> {
    Store::open(Arc::new(fs.clone()), Path::new("test"))
}

/// Opens, appends on writers that are renewed after a failure, and says what was acknowledged.
fn session(fs: &FaultFs, texts: &mut Vec<(u64, String)>) -> Result<(), LogError> {
    let store = store(fs)?;
    let large = "x".repeat(INLINE_BYTES);
    let mut failure = None;
    for round in 0..2 {
        let lease = lease(&store)?;
        let mut writer = lease.writer()?;
        for text in ["a", "b", &large, "c", "d"] {
            let durability = if text == "c" {
                Durability::Written
            } else {
                Durability::Synced
            };
            match wait(writer.append(vec![record(text)], durability)) {
                Ok(appended) => texts.push((appended.first_seq, text.to_owned())),
                Err(error) => {
                    // LOG-6: for ever, and a flush as well.
                    for batch in [vec![record("never")], vec![]] {
                        let again = wait(writer.append(batch, Durability::Synced)).unwrap_err();
                        assert_eq!(again.to_string(), error.to_string());
                    }
                    assert!(wait(writer.shutdown()).is_err());
                    failure = Some(error);
                    writer = lease.writer()?;
                }
            }
        }
        let found = support::texts(&lease.scan()?);
        let (known, unknown): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|text| texts.contains(text));
        assert_eq!(brief(&known), brief(texts), "{failure:?}");
        // The lease under which an append failed leaves it out; whoever comes later cannot tell.
        assert!(
            unknown.len() <= round && round < 2,
            "{failure:?}: {:?}",
            brief(&unknown)
        );
        wait(writer.shutdown())?;
    }
    failure.map_or(Ok(()), Err)
}

/// LOG-6: acknowledged records stay, failed ones do not count, numbers go on without a gap.
#[test]
fn whichever_operation_fails_nothing_acknowledged_is_lost() {
    let clean = FaultFs::new(Arc::new(MemoryFs::new()), 0, Fault::Error, Repeat::Once);
    let mut acknowledged = Vec::new();
    session(&clean, &mut acknowledged).unwrap();
    assert_eq!(acknowledged.len(), 10);
    let operations = clean.operations();
    assert!(operations > 100, "{operations}");
    for fault in [Fault::Error, Fault::Short, Fault::Torn] {
        for repeat in [Repeat::Once, Repeat::Sticky] {
            for n in 1..=operations {
                let case = format!("{fault:?} {repeat:?} at {n}");
                let disk = MemoryFs::new();
                let faulty = FaultFs::new(Arc::new(disk.clone()), n, fault, repeat);
                let mut acknowledged = Vec::new();
                // A failure may hit where it does not matter, as when an owner record goes.
                let _ = session(&faulty, &mut acknowledged);
                let backend = Backend::memory(disk);
                let scan = backend.store().read(&subject()).unwrap();
                let found = texts(&scan);
                let lost: Vec<_> = acknowledged.iter().filter(|t| !found.contains(t)).collect();
                assert!(lost.is_empty(), "{case}: lost {}", lost.len());
                assert!(scan.damage.is_empty(), "{case}: {:?}", scan.damage);
                support::run(&backend.store(), &[&["after"]]).unwrap();
                let scan = backend.store().read(&subject()).unwrap();
                assert!(scan.damage.is_empty() && scan.torn.is_none(), "{case}");
                assert_eq!(
                    scan.records.last().unwrap().seq,
                    scan.records.len() as u64,
                    "{case}"
                );
            }
        }
    }
}

/// LOG-6: a line that was acknowledged as written survives the failed sync after it.
#[test]
fn the_next_writer_writes_again_what_was_acknowledged_but_not_synced() {
    let disk = MemoryFs::new();
    let backend = Backend::memory(disk.clone());
    let clean = FaultFs::new(Arc::new(disk.clone()), 0, Fault::Error, Repeat::Once);
    let held = lease(&store(&clean).unwrap()).unwrap();
    let writer = held.writer().unwrap();
    append(&writer, &["a"]).unwrap();
    wait(writer.append(vec![record("b")], Durability::Written)).unwrap();
    let so_far = clean.operations();
    wait(writer.shutdown()).unwrap();
    drop((held, writer));
    // The same again on a disk whose next sync fails: stat of the lock, write, sync.
    let disk = MemoryFs::new();
    let faulty = FaultFs::new(
        Arc::new(disk.clone()),
        so_far + 3,
        Fault::Error,
        Repeat::Once,
    );
    let held = lease(&store(&faulty).unwrap()).unwrap();
    let writer = held.writer().unwrap();
    append(&writer, &["a"]).unwrap();
    wait(writer.append(vec![record("b")], Durability::Written)).unwrap();
    assert_eq!(append(&writer, &["c"]).unwrap_err().code(), "io");
    let next = held.writer().unwrap();
    assert_eq!(next.next_seq(), 3);
    append(&next, &["d"]).unwrap();
    let names = disk.list(&log_dir()).unwrap();
    assert_eq!(names.len(), 2);
    let last = names.iter().max().unwrap();
    let text = String::from_utf8(disk.read(&log_dir().join(last), 0..u64::MAX).unwrap()).unwrap();
    assert!(text.contains("\"seq\":2,\"epoch\":2"), "{text}");
    let expected = support::numbered(&["a", "b", "d"]);
    assert_eq!(texts(&held.scan().unwrap()), expected);
    let other = Backend::memory(disk);
    assert_eq!(texts(&other.store().read(&subject()).unwrap()), expected);
    drop(backend);
}
