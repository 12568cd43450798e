//! Verify says what is wrong with a log, repair takes note of it in new segments.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Fs as _, Loss, MemoryFs};
use sessiond_log::{DamageReason, Health, LogError, Owner, Place, Report, Store};
use support::{Backend, append, backends, lease, log_dir, run, subject, texts};

const AT: &str = "2026-11-29T13:00:00Z";

fn repair(store: &Store) -> Result<Report, LogError> {
    store
        .claim(&subject(), &Owner::current())?
        .repair(AT, &mut |_| ())
}

/// Two segments: the second line of the first is broken, the second ends in the middle of a line.
fn break_log(backend: &Backend) {
    run(&backend.store(), &[&["a", "b", "c"]]).unwrap();
    run(&backend.store(), &[&["d", "e"]]).unwrap();
    let segments = backend.segments();
    let mut first = backend.bytes(&segments[0]);
    let b = first.windows(3).position(|w| w == b"\"b\"").unwrap();
    first[b + 1] = b'x';
    backend.overwrite(&segments[0], &first);
    let second = backend.bytes(&segments[1]);
    backend.overwrite(&segments[1], &second[..second.len() - 9]);
}

#[test]
fn a_sound_log_is_clean_and_a_missing_one_is_not_found() {
    for backend in backends() {
        let store = backend.store();
        assert_eq!(store.verify(&subject()).unwrap_err().code(), "not_found");
        run(&store, &[&["a"], &["b"]]).unwrap();
        let report = store.verify(&subject()).unwrap();
        assert_eq!((report.health, report.records), (Health::Clean, 2));
        let before = backend.tree(Path::new("sessions"));
        assert_eq!(repair(&store).unwrap(), report, "{}", backend.name);
        assert_eq!(backend.tree(Path::new("sessions")), before);
    }
}

/// LOG-10: also in the archive, and the place that is named is there.
#[test]
fn an_archived_log_is_looked_at_where_it_lies() {
    for backend in backends() {
        let store = backend.store();
        break_log(&backend);
        let before = store.verify(&subject()).unwrap();
        assert_eq!(before.place, Place::Sessions);
        store.archive(&subject(), &Owner::current()).unwrap();
        let files = backend.tree(Path::new("archive"));
        let after = store.verify(&subject()).unwrap();
        assert_eq!(after.place, Place::Archive);
        assert_eq!((&after.damage, &after.torn), (&before.damage, &before.torn));
        let broken = after.file(&after.damage[0].segment);
        assert!(broken.starts_with("archive"), "{broken:?}");
        assert!(backend.fs.stat(&broken).is_ok());
        assert_eq!(
            backend.tree(Path::new("archive")),
            files,
            "{}",
            backend.name
        );
    }
}

/// LOG-4: a torn end alone is told apart from damage, and repaired without cutting it.
#[test]
fn a_torn_end_alone_is_torn_and_its_repair_leaves_its_bytes() {
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a", "b"]]).unwrap();
        let segment = backend.segments().remove(0);
        let whole = backend.bytes(&segment);
        let torn = &whole[..whole.len() - 9];
        backend.overwrite(&segment, torn);
        let report = store.verify(&subject()).unwrap();
        assert_eq!((report.health, report.records), (Health::Torn, 1));
        let after = repair(&store).unwrap();
        assert_eq!((after.health, &after.torn), (Health::Clean, &None));
        assert_eq!(after.repaired.len(), 1);
        assert_eq!(after.repaired[0].offset, report.torn.unwrap().offset);
        assert_eq!(backend.bytes(&segment), torn, "{}", backend.name);
        run(&store, &[&["c"]]).unwrap();
        let scan = store.read(&subject()).unwrap();
        assert_eq!(texts(&scan), support::numbered(&["a", "c"]));
    }
}

/// LOG-4
#[test]
fn a_repair_writes_new_segments_only_and_is_idempotent() {
    for backend in backends() {
        let store = backend.store();
        break_log(&backend);
        let broken = store.verify(&subject()).unwrap();
        assert_eq!((broken.health, broken.damage.len()), (Health::Damaged, 1));
        let (damage, torn) = (&broken.damage[0], broken.torn.as_ref().unwrap());
        assert_eq!(
            (damage.after_seq, damage.reason),
            (1, DamageReason::Checksum)
        );
        let path = broken.file(&damage.segment);
        assert_eq!(path, backend.segments()[0]);
        let at = usize::try_from(damage.offset).unwrap();
        let bytes = &backend.bytes(&path)[at..at + usize::try_from(damage.length).unwrap()];
        assert!(bytes.windows(3).any(|w| w == b"\"x\""));
        let old = backend.tree(&log_dir());
        let counted = texts(&store.read(&subject()).unwrap());

        let repaired = repair(&store).unwrap();
        assert_eq!((repaired.health, repaired.records), (Health::Clean, 3));
        let spans: Vec<_> = repaired
            .repaired
            .iter()
            .map(|d| (d.segment.as_str(), d.offset, d.length, d.reason))
            .collect();
        let expected = [
            (
                damage.segment.as_str(),
                damage.offset,
                damage.length,
                DamageReason::Checksum,
            ),
            (
                torn.segment.as_str(),
                torn.offset,
                torn.length,
                DamageReason::Torn,
            ),
        ];
        assert_eq!(spans, expected);
        let now = backend.tree(&log_dir());
        assert_eq!(now[..old.len()], old, "{}", backend.name);
        assert_eq!(now.len(), old.len() + 1);
        let scan = store.read(&subject()).unwrap();
        assert_eq!(texts(&scan), counted);
        assert_eq!(scan.damage, broken.damage, "still reported on every face");

        assert_eq!(repair(&store).unwrap(), repaired);
        assert_eq!(backend.tree(&log_dir()), now);
        run(&store, &[&["f"]]).unwrap();
        let later = store.verify(&subject()).unwrap();
        assert_eq!((later.health, later.records), (Health::Clean, 4));
        assert_eq!(later.repaired, repaired.repaired);
    }
}

#[test]
fn damage_after_a_repair_is_damage_again() {
    for backend in backends() {
        let store = backend.store();
        break_log(&backend);
        repair(&store).unwrap();
        let segment = backend.segments().remove(0);
        let mut bytes = backend.bytes(&segment);
        let c = bytes.windows(3).position(|w| w == b"\"c\"").unwrap();
        bytes[c + 1] = b'y';
        backend.overwrite(&segment, &bytes);
        let report = store.verify(&subject()).unwrap();
        assert_eq!(report.health, Health::Damaged);
        assert_eq!(repair(&store).unwrap().health, Health::Clean);
    }
}

/// Headers have a bounded length: many places take several.
#[test]
fn a_log_with_more_broken_places_than_a_header_holds_is_repaired_too() {
    for backend in backends() {
        let store = backend.store();
        let names: Vec<String> = (0..60).map(|n| format!("text {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        run(&store, &[&names]).unwrap();
        let segment = backend.segments().remove(0);
        let lines = backend.bytes(&segment);
        let lines = lines.split_inclusive(|b| *b == b'\n').enumerate();
        let broken: Vec<u8> = lines
            .flat_map(|(n, line)| {
                let mut line = line.to_vec();
                if n % 2 == 1 {
                    line[12] ^= 1;
                }
                line
            })
            .collect();
        backend.overwrite(&segment, &broken);
        assert_eq!(store.verify(&subject()).unwrap().damage.len(), 30);
        let report = repair(&store).unwrap();
        assert_eq!((report.health, report.repaired.len()), (Health::Clean, 30));
        for segment in backend.segments() {
            let bytes = backend.bytes(&segment);
            assert!(bytes.split(|b| *b == b'\n').next().unwrap().len() < 4096);
        }
    }
}

#[test]
fn a_lease_that_has_a_writer_repairs_nothing() {
    for backend in backends() {
        let mut held = lease(&backend.store()).unwrap();
        let writer = held.writer().unwrap();
        append(&writer, &["a"]).unwrap();
        assert_eq!(
            held.repair(AT, &mut |_| ()).unwrap_err().code(),
            "writer_exists"
        );
        let time = "not\na time";
        assert_eq!(
            held.repair(time, &mut |_| ()).unwrap_err().code(),
            "invalid_record"
        );
    }
}

/// LOG-4, LOG-5: whenever a repair dies, what counted counts, and the next repair mends all.
#[test]
fn a_crash_at_any_point_of_a_repair_loses_nothing() {
    let fs = CrashFs::new();
    let mut backend = Backend::memory(MemoryFs::new());
    backend.fs = Arc::new(fs.clone());
    run(&backend.store(), &[&["a", "b", "c"]]).unwrap();
    let segment = backend.segments().remove(0);
    let whole = backend.bytes(&segment);
    fs.truncate(&segment, whole.len() as u64 - 9).unwrap();
    fs.sync_file(&segment).unwrap();
    let before = fs.changes();
    repair(&backend.store()).unwrap();
    let acknowledged = fs.changes();
    for point in before..=acknowledged {
        let seeds = (0..40).map(|seed| Loss::Some(seed * 1000 + point as u64));
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let case = format!("{loss:?} after {point}");
            let disk = Backend::memory(fs.after_crash(point, loss));
            let store = disk.store();
            let report = store.verify(&subject()).unwrap();
            assert!(report.damage.is_empty(), "{case}: {:?}", report.damage);
            assert_eq!(report.records, 2, "{case}");
            if point == acknowledged {
                assert_eq!((report.health, report.repaired.len()), (Health::Clean, 1));
            }
            let report = repair(&store).unwrap();
            assert_eq!(report.health, Health::Clean, "{case}");
            assert_eq!(disk.bytes(&segment), whole[..whole.len() - 9], "{case}");
            run(&store, &[&["d"]]).unwrap();
            let texts = texts(&store.read(&subject()).unwrap());
            assert_eq!(texts, support::numbered(&["a", "b", "d"]), "{case}");
        }
    }
}
