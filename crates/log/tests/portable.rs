//! A session as one file: what leaves a store comes whole into another, or not at all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Loss, MemoryFs};
use sessiond_log::{Health, INLINE_BYTES, LogError, Owner, Report, Store, Subject};
use support::{Backend, append, backends, numbered, run, session_dir, subject, texts};

const OTHER: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";

fn export(store: &Store) -> Vec<u8> {
    let mut file = Vec::new();
    let length = store.export(&subject(), &mut file).unwrap();
    assert_eq!(length, file.len() as u64);
    file
}

fn import(store: &Store, file: &[u8], id: Option<&str>) -> Result<Report, LogError> {
    let id: Option<Subject> = id.map(|id| id.parse().unwrap());
    store.import(&mut Cursor::new(file), id.as_ref())
}

fn large() -> String {
    "x".repeat(INLINE_BYTES)
}

fn source() -> Backend {
    let backend = Backend::memory(MemoryFs::new());
    run(&backend.store(), &[&["a", &large()], &["c"]]).unwrap();
    run(&backend.store(), &[&["d"]]).unwrap();
    backend
}

#[test]
fn an_exported_session_reads_the_same_in_another_store_and_goes_on_there() {
    let file = export(&source().store());
    for backend in backends() {
        let store = backend.store();
        let report = import(&store, &file, None).unwrap();
        assert_eq!((report.health, report.records), (Health::Clean, 4));
        assert_eq!(store.verify(&subject()).unwrap(), report);
        let (here, there) = (source().store().read(&subject()), store.read(&subject()));
        assert_eq!(here.unwrap().records, there.unwrap().records);
        run(&store, &[&["e", &large()]]).unwrap();
        let expected = numbered(&["a", &large(), "c", "d", "e", &large()]);
        assert_eq!(texts(&store.read(&subject()).unwrap()), expected);
        assert_eq!(import(&store, &file, None).unwrap_err().code(), "exists");
        store.archive(&subject(), &Owner::current()).unwrap();
        assert_eq!(import(&store, &file, None).unwrap_err().code(), "exists");
    }
}

/// LOG-8: a digest in a record can be compared where the session comes to; keys that it does not
/// name stay where they are.
#[test]
fn the_keys_of_digests_go_along_and_no_others() {
    let backend = Backend::memory(MemoryFs::new());
    let store = backend.store();
    let key = store.digest_key().unwrap();
    let digest = format!("blake3-keyed-1.{}.{}", key.id(), key.digest(b"content"));
    run(&store, &[&["a", &digest]]).unwrap();
    let there = Backend::memory(MemoryFs::new()).store();
    import(&there, &export(&store), None).unwrap();
    assert_eq!(there.digest_key_of(key.id()).unwrap(), Some(key));

    let backend = Backend::memory(MemoryFs::new());
    let store = backend.store();
    let unused = store.digest_key().unwrap();
    run(&store, &[&["a"]]).unwrap();
    let there = Backend::memory(MemoryFs::new()).store();
    import(&there, &export(&store), None).unwrap();
    assert_eq!(there.digest_key_of(unused.id()).unwrap(), None);
}

#[test]
fn an_import_under_a_new_id_is_a_log_of_its_own() {
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a", &large()]]).unwrap();
        let file = export(&store);
        let report = import(&store, &file, Some(OTHER)).unwrap();
        assert_eq!((report.health, report.records), (Health::Clean, 2));
        let other: Subject = OTHER.parse().unwrap();
        let scan = store.read(&other).unwrap();
        assert_eq!(texts(&scan), numbered(&["a", &large()]));
        assert_eq!(scan.parent.unwrap().session, subject());
        let held = store.claim(&other, &Owner::current()).unwrap();
        append(&held.writer().unwrap(), &["b"]).unwrap();
        let report = store.verify(&other).unwrap();
        assert_eq!((report.health, report.records), (Health::Clean, 3));
        assert_eq!(store.verify(&subject()).unwrap().records, 2);
        // And out again, with the segments under both ids.
        let mut again = Vec::new();
        store.export(&other, &mut again).unwrap();
        let third = Backend::memory(MemoryFs::new()).store();
        let report = import(&third, &again, None).unwrap();
        assert_eq!((report.subject, report.records), (other, 3));
    }
}

/// Nothing else of it is another than it was: each file it came with byte for byte, and one segment
/// that holds no record.
#[test]
fn a_new_id_adds_a_segment_and_rewrites_nothing() {
    let source = source();
    let file = export(&source.store());
    for backend in backends() {
        let store = backend.store();
        import(&store, &file, Some(OTHER)).unwrap();
        let there = Path::new("sessions").join(OTHER);
        let mut files: Vec<_> = backend
            .tree(&there)
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(&there).unwrap().to_owned(), bytes))
            .collect();
        let old = source.tree(&session_dir()).into_iter();
        for (path, bytes) in old.filter(|(_, bytes)| !bytes.is_empty()) {
            let path = path.strip_prefix(session_dir()).unwrap().to_owned();
            let found = files
                .iter()
                .position(|file| *file == (path.clone(), bytes.clone()));
            files.remove(found.unwrap_or_else(|| panic!("{}: {path:?}", backend.name)));
        }
        files.retain(|(path, _)| path != Path::new("LOCK"));
        let [(path, bytes)] = files.as_slice() else {
            panic!("{files:?}")
        };
        assert!(path.starts_with("log"), "{path:?}");
        assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 1);
        let other: Subject = OTHER.parse().unwrap();
        let (old, new) = (source.store().read(&subject()), store.read(&other));
        assert_eq!(old.unwrap().records, new.unwrap().records);
    }
}

/// LOG-10: the archive is no worse a place to copy a session from.
#[test]
fn an_archived_session_is_exported_where_it_lies() {
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a", &large()], &["c"]]).unwrap();
        let before = export(&store);
        store.archive(&subject(), &Owner::current()).unwrap();
        let put_away = backend.tree(Path::new("archive"));
        assert_eq!(export(&store), before, "{}", backend.name);
        assert_eq!(backend.tree(Path::new("archive")), put_away);
        assert_eq!(store.archived().unwrap(), [subject()]);
    }
}

/// CKPT-6: an import makes room as a creation does; one that is refused moves nothing.
#[test]
fn remains_of_a_dead_creation_are_set_aside_by_an_import() {
    let file = export(&source().store());
    for backend in backends() {
        let store = backend.store();
        drop(store.create(&subject(), &Owner::current()).unwrap());
        backend.fs.make_dir(&session_dir().join("log")).unwrap();
        let segment = session_dir().join("log/00000001-00000000000000000001.jsonl");
        drop(backend.fs.create(&segment).unwrap());
        import(&store, &file[..file.len() - 1], None).unwrap_err();
        assert!(store.aside().unwrap().is_empty());
        let report = import(&store, &file, None).unwrap();
        assert_eq!((report.health, report.records), (Health::Clean, 4));
        let aside = store.aside().unwrap();
        assert_eq!(aside.len(), 1, "{}", backend.name);
        let names = backend.fs.list(&aside[0].join("log")).unwrap();
        assert_eq!(names, ["00000001-00000000000000000001.jsonl"]);

        let other: Subject = OTHER.parse().unwrap();
        let creating = store.create(&other, &Owner::current()).unwrap();
        let busy = import(&store, &file, Some(OTHER)).unwrap_err();
        assert_eq!(busy.code(), "busy");
        drop(creating);
        import(&store, &file, Some(OTHER)).unwrap();
        assert_eq!(store.aside().unwrap(), aside, "a lock alone is nothing");
    }
}

/// LOG-4: damage goes along, and is the same damage there; a torn end stays behind.
#[test]
fn a_damaged_session_is_exported_as_it_is() {
    let source = source();
    let segments = source.segments();
    let mut first = source.bytes(&segments[0]);
    let a = first.windows(3).position(|w| w == b"\"a\"").unwrap();
    first[a + 1] = b'y';
    source.overwrite(&segments[0], &first);
    let last = source.bytes(&segments[1]);
    source.overwrite(&segments[1], &last[..last.len() - 9]);
    let here = source.store().verify(&subject()).unwrap();
    let store = Backend::memory(MemoryFs::new()).store();
    let there = import(&store, &export(&source.store()), None).unwrap();
    assert_eq!((&there.damage, there.records), (&here.damage, here.records));
    assert_eq!((there.torn, there.health), (None, Health::Damaged));
}

/// LOG-3: refused, with the place, and nothing of it stays.
#[test]
fn a_file_that_is_cut_or_altered_anywhere_is_refused() {
    let source = Backend::memory(MemoryFs::new());
    run(&source.store(), &[&["a"]]).unwrap();
    run(&source.store(), &[&["b"]]).unwrap();
    let file = export(&source.store());
    let mut cases = Vec::new();
    for length in 0..file.len() {
        cases.push((format!("cut to {length}"), length, file[..length].to_vec()));
    }
    for at in 0..file.len() {
        let mut bytes = file.clone();
        bytes[at] ^= 1 << (at % 7);
        cases.push((format!("altered at {at}"), at, bytes));
    }
    cases.push((
        "more".to_owned(),
        file.len(),
        [file.as_slice(), b"x"].concat(),
    ));
    let backend = Backend::memory(MemoryFs::new());
    let store = backend.store();
    for (case, at, bytes) in cases {
        match import(&store, &bytes, None).unwrap_err() {
            LogError::BadExport { offset, .. } => {
                assert!(offset <= at as u64, "{case}: said {offset}");
            }
            LogError::TooNew { .. } => assert!(at < 30, "{case}"),
            error => panic!("{case}: {error}"),
        }
        assert!(store.subjects().unwrap().is_empty(), "{case}");
        let left = backend.fs.list(Path::new("sessions"));
        assert_eq!(left.unwrap_or_default(), Vec::<String>::new(), "{case}");
    }
    import(&store, &file, None).unwrap();
}

/// SEC-1, LOG-13: a file whose sums hold still writes only where a session's files are.
#[test]
fn a_forged_export_writes_nothing_outside_of_its_session() {
    let title = format!(
        r#"{{"sessiond_export":1,"session":"{}","records":0,"next_seq":1,"damage":0"#,
        support::ID
    );
    for name in [
        "../x",
        "log/../../x",
        "blobs/x",
        "keys/../x",
        "LOCK",
        "log/",
        "/etc/x",
    ] {
        let mut sum = [0; 32];
        let mut add = |line: &str, bytes: &[u8]| -> Vec<u8> {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&sum);
            hasher.update(&(line.len() as u64).to_le_bytes());
            hasher.update(line.as_bytes());
            hasher.update(bytes);
            sum = *hasher.finalize().as_bytes();
            let digits = hasher.finalize().to_hex();
            format!("{line},\"sum\":\"{digits}\"}}\n").into_bytes()
        };
        let part = format!(r#"{{"file":"{name}","bytes":1"#);
        let file = [
            add(&title, b""),
            add(&part, b"z"),
            b"z\n".to_vec(),
            add(r#"{"end":1"#, b""),
        ];
        let backend = Backend::real();
        let error = import(&backend.store(), &file.concat(), None).unwrap_err();
        assert!(error.to_string().contains("not the"), "{name}: {error}");
        let files = backend.tree(Path::new(""));
        assert_eq!(files.len(), 1, "{name}: {files:?}");
    }
}

/// LOG-5
#[test]
fn a_crash_at_any_point_of_an_import_leaves_all_of_it_or_nothing() {
    let file = export(&source().store());
    let fs = CrashFs::new();
    let store = Store::open(Arc::new(fs.clone()), Path::new("test")).unwrap();
    import(&store, &file, Some(OTHER)).unwrap();
    let other: Subject = OTHER.parse().unwrap();
    for point in 0..=fs.changes() {
        let seeds = (0..40).map(|seed| Loss::Some(seed * 1000 + point as u64));
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let case = format!("{loss:?} after {point}");
            let disk = Backend::memory(fs.after_crash(point, loss));
            let store = disk.store();
            let is_there = !store.subjects().unwrap().is_empty();
            assert!(is_there || point < fs.changes(), "{case}");
            if !is_there {
                import(&store, &file, Some(OTHER)).unwrap();
            }
            let report = store.verify(&other).unwrap();
            assert_eq!(
                (report.health, report.records),
                (Health::Clean, 4),
                "{case}"
            );
        }
    }
}
