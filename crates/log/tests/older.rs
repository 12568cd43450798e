//! Segments before a checkpoint, compressed: the log reads as it did.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use sessiond_log::fs::{Fault, FaultFs, MemoryFs, Repeat};
use sessiond_log::{Health, Lease, LogError, NewRecord, Owner, Seen, Since, Store, Subject};
use support::{Backend, append, backends, lease, record, session_dir, subject, texts, wait};

const CHILD: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";

fn child() -> Subject {
    CHILD.parse().unwrap()
}

fn claim(store: &Store) -> Lease {
    store.claim(&subject(), &Owner::current()).unwrap()
}

fn checkpoint(text: &str) -> NewRecord {
    let kind = "checkpoint".to_owned();
    NewRecord {
        kind,
        ..record(text)
    }
}

/// Text that hardly compresses, so that a segment has several members.
fn long() -> String {
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'0' + (seed >> 60) as u8)
    };
    (0..40_000).map(|_| next()).collect()
}

/// Segments: [a, b], checkpoint [1, c, long ×8], checkpoint [2, d].
fn session(store: &Store) {
    let lease = lease(store).unwrap();
    let writer = lease.writer().unwrap();
    append(&writer, &["a", "b"]).unwrap();
    wait(writer.checkpoint(checkpoint("1"))).unwrap();
    append(&writer, &["c"]).unwrap();
    for _ in 0..8 {
        append(&writer, &[&long()]).unwrap();
    }
    wait(writer.checkpoint(checkpoint("2"))).unwrap();
    append(&writer, &["d"]).unwrap();
    wait(writer.shutdown()).unwrap();
}

fn names(backend: &Backend, dir: &str) -> Vec<String> {
    let mut names = backend
        .fs
        .list(&session_dir().join(dir))
        .unwrap_or_default();
    names.sort();
    names
}

fn seen_since_checkpoint(lease: &Lease) -> Vec<String> {
    let mut seen = Vec::new();
    let mut visit = |what: Seen<'_>| {
        if let Seen::Record(record) = what {
            let data: serde_json::Value = serde_json::from_str(record.data).unwrap();
            seen.push(data["text"].as_str().unwrap().to_owned());
        }
    };
    lease.visit(Since::Checkpoint, &mut visit).unwrap();
    seen
}

/// LOG-10: nothing of the log is lost, it goes on, and opening it reads what it read before.
#[test]
fn what_is_put_away_is_read_all_the_same() {
    for backend in backends() {
        let store = backend.store();
        session(&store);
        let before = texts(&store.read(&subject()).unwrap());
        let mut held = claim(&store);
        let done = held.put_older_away(&mut |_, _| ()).unwrap();
        assert_eq!(done.segments, 2, "{}", backend.name);
        assert!(done.packed < done.bytes, "{done:?}");
        assert_eq!(
            names(&backend, "log").len(),
            1,
            "the one with the checkpoint stays"
        );
        assert_eq!(names(&backend, "older").len(), 2);
        assert_eq!(texts(&held.scan().unwrap()), before);
        assert_eq!(texts(&store.read(&subject()).unwrap()), before);
        assert_eq!(seen_since_checkpoint(&held), ["2", "d"]);
        assert_eq!(store.verify(&subject()).unwrap().health, Health::Clean);
        let head = store.head(&subject()).unwrap().unwrap();
        assert_eq!((head.seq, &*head.data), (1, "{\"text\":\"a\"}"));
        // Done again it finds nothing to do; the log goes on.
        assert_eq!(held.put_older_away(&mut |_, _| ()).unwrap().segments, 0);
        let writer = held.writer().unwrap();
        let next = append(&writer, &["e"]).unwrap().first_seq;
        assert_eq!(next, before.last().unwrap().0 + 1);
        assert!(matches!(
            held.put_older_away(&mut |_, _| ()),
            Err(LogError::WriterExists)
        ));
        wait(writer.shutdown()).unwrap();
        drop(held);
        let all = texts(&store.read(&subject()).unwrap());
        assert_eq!(
            (all.len(), &all[..before.len()]),
            (before.len() + 1, &before[..])
        );
    }
}

/// LOG-10: `zcat` gives back the bytes of the segment, so that `grep` and `jq` still work on it.
#[test]
fn a_segment_that_is_put_away_is_a_gzip_file() {
    let backend = Backend::real();
    session(&backend.store());
    let plain = backend.segments();
    let bytes: Vec<_> = plain.iter().map(|path| backend.bytes(path)).collect();
    claim(&backend.store())
        .put_older_away(&mut |_, _| ())
        .unwrap();
    for (index, name) in names(&backend, "older").iter().enumerate() {
        let path = backend.root().join(session_dir()).join("older").join(name);
        let zcat = Command::new("gzip").arg("-dc").arg(path).output().unwrap();
        assert!(zcat.status.success(), "{zcat:?}");
        assert!(zcat.stdout == bytes[index], "{name}");
    }
}

/// LOG-10: a log without a checkpoint is read from its beginning: all of it stays.
#[test]
fn without_a_checkpoint_everything_stays() {
    let backend = Backend::memory(MemoryFs::new());
    support::run(&backend.store(), &[&["a"], &["b"]]).unwrap();
    support::run(&backend.store(), &[&["c"]]).unwrap();
    let before = backend.tree(&session_dir());
    assert_eq!(
        claim(&backend.store())
            .put_older_away(&mut |_, _| ())
            .unwrap()
            .segments,
        0
    );
    assert_eq!(backend.tree(&session_dir()), before);
}

/// LOG-4: bytes that do not count stay where they are, in the form they have.
#[test]
fn a_segment_with_a_stale_end_stays() {
    let backend = Backend::memory(MemoryFs::new());
    session(&backend.store());
    let first = backend.segments().remove(0);
    let mut bytes = backend.bytes(&first);
    bytes.extend_from_slice(b"a stale writer's");
    backend.overwrite(&first, &bytes);
    assert_eq!(
        claim(&backend.store())
            .put_older_away(&mut |_, _| ())
            .unwrap()
            .segments,
        1
    );
    assert_eq!(backend.bytes(&first), bytes);
    assert!(backend.store().read(&subject()).unwrap().damage.is_empty());
}

/// LOG-3, LOG-4: a broken member is reported, and what others hold counts.
#[test]
fn a_bit_that_flips_in_one_that_is_put_away_is_damage_and_costs_one_member() {
    let backend = Backend::memory(MemoryFs::new());
    let store = backend.store();
    session(&store);
    claim(&store).put_older_away(&mut |_, _| ()).unwrap();
    let whole = texts(&store.read(&subject()).unwrap());
    let older = session_dir().join("older");
    let (mut tried, mut harmless) = (0, 0);
    for (name, step) in names(&backend, "older").iter().zip([1, 2_003]) {
        let path = older.join(name);
        let bytes = backend.bytes(&path);
        for at in (0..bytes.len()).step_by(step) {
            let mut broken = bytes.clone();
            broken[at] ^= 0x10;
            backend.overwrite(&path, &broken);
            let scan = store.read(&subject()).unwrap();
            let found = texts(&scan);
            if scan.damage.is_empty() && found == whole {
                // The bits that fill the last byte of compressed data say nothing.
                harmless += 1;
                continue;
            }
            assert!(!scan.damage.is_empty(), "{name} byte {at}");
            assert!(found.iter().all(|record| whole.contains(record)));
            // 128 KiB are at most five records of 40,000 characters.
            assert!(
                found.len() + 5 >= whole.len(),
                "{name} byte {at}: {}",
                found.len()
            );
            assert_eq!(scan.next_seq, whole.len() as u64 + 1);
            let report = store.verify(&subject()).unwrap();
            let place = report.file(&report.damage[0].segment);
            assert_eq!(place, path, "the file that is broken is named");
            tried += 1;
        }
        backend.overwrite(&path, &bytes);
    }
    assert!(tried > 100 && harmless < 10, "{tried}, {harmless}");
}

/// RESUME-9: a fork shares what is put away, and can begin within it.
#[test]
fn a_fork_has_what_was_put_away() {
    for backend in backends() {
        let store = backend.store();
        session(&store);
        let mut held = claim(&store);
        held.put_older_away(&mut |_, _| ()).unwrap();
        let all = texts(&held.scan().unwrap());
        for at in [1, 2, 3, 6, all.len()] {
            let fork = held.fork(at as u64, &child(), &Owner::current()).unwrap();
            assert_eq!(
                texts(&fork.scan().unwrap()),
                all[..at],
                "{} {at}",
                backend.name
            );
            append(&fork.writer().unwrap(), &["mine"]).unwrap();
            drop(fork);
            let scan = store.read(&child()).unwrap();
            assert_eq!((scan.records.len(), scan.damage), (at + 1, vec![]));
            store.trash(&child(), &Owner::current(), at as u64).unwrap();
        }
        assert_eq!(texts(&held.scan().unwrap()), all);
    }
}

#[test]
fn an_export_holds_what_was_put_away_and_archives_take_it_along() {
    let backend = Backend::memory(MemoryFs::new());
    let store = backend.store();
    session(&store);
    claim(&store).put_older_away(&mut |_, _| ()).unwrap();
    let all = texts(&store.read(&subject()).unwrap());
    let mut file = Vec::new();
    store.export(&subject(), &mut file).unwrap();
    let elsewhere = Store::in_memory();
    elsewhere.import(&mut file.as_slice(), None).unwrap();
    assert_eq!(texts(&elsewhere.read(&subject()).unwrap()), all);
    store.archive(&subject(), &Owner::current()).unwrap();
    store.unarchive(&subject()).unwrap();
    assert_eq!(texts(&store.read(&subject()).unwrap()), all);
}

/// LOG-6: whatever operation fails, the log reads as before, and the next attempt ends it.
#[test]
fn a_failure_at_any_operation_loses_nothing() {
    let mut failed = 0;
    for at in 1.. {
        let memory = MemoryFs::new();
        session(&Backend::memory(memory.clone()).store());
        let whole = texts(
            &Backend::memory(memory.clone())
                .store()
                .read(&subject())
                .unwrap(),
        );
        let inner = Arc::new(memory.clone());
        let faulty = FaultFs::new(inner, at, Fault::Torn, Repeat::Once);
        let opened = Store::open(Arc::new(faulty), Path::new("test"));
        let claimed = opened.and_then(|store| store.claim(&subject(), &Owner::current()));
        let result = claimed.and_then(|mut held| held.put_older_away(&mut |_, _| ()));
        let now = Backend::memory(memory.clone()).store();
        let scan = now.read(&subject()).unwrap();
        assert_eq!(
            (texts(&scan), scan.damage),
            (whole, vec![]),
            "operation {at}"
        );
        if result.is_ok() {
            break;
        }
        failed += 1;
        claim(&now).put_older_away(&mut |_, _| ()).unwrap();
        let log: Vec<PathBuf> = Backend::memory(memory).segments();
        assert_eq!(log.len(), 1, "operation {at}");
    }
    assert!(failed > 10, "{failed}");
}

/// LOG-11: a store of the layout before gets a back-up before anything is put away in it.
#[test]
fn a_store_of_layout_1_is_brought_to_layout_2_behind_a_back_up() {
    for backend in backends() {
        session(&backend.store());
        backend.overwrite(Path::new("STORE"), b"{\"format\":1}\n");
        let before = backend.tree(Path::new("sessions"));
        let store = backend.store();
        // Who only reads changes nothing.
        let all = texts(&store.read(&subject()).unwrap());
        assert!(store.backups().unwrap().is_empty());
        let mut held = claim(&store);
        let backups = store.backups().unwrap();
        assert_eq!(backups, [Path::new("backup/format-1.1")]);
        assert_eq!(backend.bytes(Path::new("STORE")), b"{\"format\":2}\n");
        held.put_older_away(&mut |_, _| ()).unwrap();
        append(&held.writer().unwrap(), &["more"]).unwrap();
        drop(held);
        let place = &backups[0];
        assert_eq!(backend.bytes(&place.join("STORE")), b"{\"format\":1}\n");
        let kept = backend.tree(&place.join("sessions"));
        let kept = kept
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(place).unwrap().to_owned(), bytes));
        let without_lock = before
            .into_iter()
            .filter(|(path, _)| !path.ends_with("LOCK"));
        assert!(kept.eq(without_lock), "{}", backend.name);
        // It is a store by itself.
        let copy = MemoryFs::new();
        for (path, bytes) in backend.tree(place) {
            copy.put(path.strip_prefix(place).unwrap(), bytes);
        }
        let copy = Backend::memory(copy);
        assert_eq!(texts(&copy.store().read(&subject()).unwrap()), all);
        support::run(&copy.store(), &[&["on"]]).unwrap();
    }
}
