//! Forks: two logs that begin with the same records and know nothing of each other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Fault, FaultFs, FileKind, Fs, Loss, MemoryFs, Repeat};
use sessiond_log::{Durability, Health, INLINE_BYTES, Lease, LogError, Owner, Store, Subject};
use support::{Backend, append, backends, lease, numbered, run, subject, texts, wait};

const CHILD: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";
const GRANDCHILD: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d12";

fn id(text: &str) -> Subject {
    text.parse().unwrap()
}

fn large(letter: &str) -> String {
    letter.repeat(INLINE_BYTES)
}

fn fork(from: &Lease, at: u64, to: &str) -> Result<Lease, LogError> {
    from.fork(at, &id(to), &Owner::current())
}

fn claim(store: &Store, text: &str) -> Lease {
    store.claim(&id(text), &Owner::current()).unwrap()
}

fn add(lease: &Lease, batch: &[&str]) {
    let writer = lease.writer().unwrap();
    append(&writer, batch).unwrap();
    wait(writer.shutdown()).unwrap();
}

fn read(store: &Store, text: &str) -> Vec<(u64, String)> {
    let report = store.verify(&id(text)).unwrap();
    assert_eq!(report.health, Health::Clean, "{text}: {:?}", report.damage);
    assert!(report.stale.is_empty(), "{text}: {:?}", report.stale);
    texts(&store.read(&id(text)).unwrap())
}

fn remove(fs: &dyn Fs, path: &Path) {
    for path in fs.list(path).unwrap().iter().map(|n| path.join(n)) {
        match fs.stat(&path).unwrap().kind {
            FileKind::Directory => remove(fs, &path),
            _ => fs.remove(&path).unwrap(),
        }
    }
    fs.remove_dir(path).unwrap();
}

fn session(text: &str) -> PathBuf {
    Path::new("sessions").join(text)
}

/// Memory, the real disk, and a disk that knows no hard links.
fn disks() -> Vec<Backend> {
    let mut disks = Vec::from(backends());
    disks.push(Backend::memory(MemoryFs::without_links()));
    disks
}

/// RESUME-9
#[test]
fn a_fork_begins_with_the_records_up_to_its_point_and_goes_its_own_way() {
    for backend in disks() {
        let store = backend.store();
        let (x, y) = (large("x"), large("y"));
        run(&store, &[&["a", &x], &["c"]]).unwrap();
        run(&store, &[&["d", &y]]).unwrap();
        let parent = lease(&store).unwrap();
        for (at, name) in [(2, CHILD), (4, GRANDCHILD)] {
            let child = fork(&parent, at, name).unwrap();
            let all = numbered(&["a", &x, "c", "d"]);
            let at = usize::try_from(at).unwrap();
            assert_eq!(read(&store, name), all[..at]);
            add(&child, &["child"]);
            let mut expected = all[..at].to_vec();
            expected.push((at as u64 + 1, "child".to_owned()));
            assert_eq!(read(&store, name), expected);
            drop(child);
            add(&claim(&store, name), &["later"]);
            assert_eq!(read(&store, name).len(), at + 2);
            let blobs = backend.fs.list(&session(name).join("blobs")).unwrap();
            assert_eq!(blobs.len(), 1, "those of its own records only");
        }
        add(&parent, &["parent"]);
        let expected = numbered(&["a", &x, "c", "d", &y, "parent"]);
        assert_eq!(read(&store, support::ID), expected, "{}", backend.name);
        let crc = store.read(&id(CHILD)).unwrap().parent.unwrap();
        assert_eq!((crc.session, crc.seq), (subject(), 2));
        let line = backend.bytes(&backend.segments()[0]);
        let line = String::from_utf8(line).unwrap();
        assert!(line.lines().nth(2).unwrap().contains(&crc.crc));
    }
}

/// RESUME-18: deleting either side leaves the other whole, also where they share files.
#[test]
fn deleting_one_side_of_a_fork_leaves_the_other_whole() {
    for backend in disks() {
        for gone in [support::ID, CHILD] {
            let store = backend.store();
            let x = large("x");
            run(&store, &[&["a", &x]]).unwrap();
            let parent = lease(&store).unwrap();
            drop(fork(&parent, 2, CHILD).unwrap());
            let first = store.read(&subject()).unwrap();
            assert_eq!(store.read(&id(CHILD)).unwrap().records, first.records);
            drop(parent);
            remove(backend.fs.as_ref(), &session(gone));
            let left = if gone == CHILD { support::ID } else { CHILD };
            assert_eq!(read(&store, left), numbered(&["a", &x]));
            add(&claim(&store, left), &["more"]);
            assert_eq!(read(&store, left), numbered(&["a", &x, "more"]));
            remove(backend.fs.as_ref(), &session(left));
        }
    }
}

/// RESUME-9: sealed segments are shared, what comes behind the fork point is not.
#[test]
fn sealed_segments_are_hard_links_and_the_rest_is_copied() {
    let backend = Backend::real();
    let store = backend.store();
    run(&store, &[&["a", "b"]]).unwrap();
    run(&store, &[&["c", "d"]]).unwrap();
    drop(fork(&lease(&store).unwrap(), 3, CHILD).unwrap());
    let parent = backend.segments();
    let child: Vec<_> = parent
        .iter()
        .map(|p| session(CHILD).join("log").join(p.file_name().unwrap()))
        .collect();
    let inode = |path: &PathBuf| backend.fs.stat(path).unwrap().id;
    assert_eq!(inode(&child[0]), inode(&parent[0]));
    assert_ne!(inode(&child[1]), inode(&parent[1]));
    let copied = String::from_utf8(backend.bytes(&child[1])).unwrap();
    assert!(copied.contains("\"c\"") && !copied.contains("\"d\""));
}

/// RESUME-18: the writer of the parent ends its segment, so nothing shared is written again.
#[test]
fn a_fork_under_a_working_writer_shares_a_segment_that_the_writer_has_ended() {
    for backend in disks() {
        let store = backend.store();
        let parent = lease(&store).unwrap();
        let writer = parent.writer().unwrap();
        append(&writer, &["a", "b"]).unwrap();
        let child = fork(&parent, 2, CHILD).unwrap();
        let shared = backend.tree(&session(CHILD));
        append(&writer, &["c"]).unwrap();
        assert_eq!(backend.tree(&session(CHILD)), shared, "{}", backend.name);
        add(&child, &["d"]);
        append(&writer, &["e"]).unwrap();
        assert_eq!(read(&store, CHILD), numbered(&["a", "b", "d"]));
        assert_eq!(read(&store, support::ID), numbered(&["a", "b", "c", "e"]));
    }
}

#[test]
fn a_fork_of_a_fork_holds_the_records_of_all_three() {
    for backend in disks() {
        let store = backend.store();
        run(&store, &[&["a", "b"]]).unwrap();
        let child = fork(&lease(&store).unwrap(), 2, CHILD).unwrap();
        add(&child, &["c"]);
        for (at, expected) in [(3, vec!["a", "b", "c", "x"]), (1, vec!["a", "x"])] {
            let grandchild = fork(&child, at, GRANDCHILD).unwrap();
            add(&grandchild, &["x"]);
            drop(grandchild);
            assert_eq!(read(&store, GRANDCHILD), numbered(&expected));
            let parent = store.read(&id(GRANDCHILD)).unwrap().parent.unwrap();
            assert_eq!((parent.session, parent.seq), (id(CHILD), at));
            remove(backend.fs.as_ref(), &session(GRANDCHILD));
        }
    }
}

/// RESUME-17
#[test]
fn a_fork_point_is_a_record_of_the_log() {
    for backend in disks() {
        let store = backend.store();
        run(&store, &[&["a", "b", "c"]]).unwrap();
        let segment = backend.segments().remove(0);
        let mut bytes = backend.bytes(&segment);
        let b = bytes.windows(3).position(|w| w == b"\"b\"").unwrap();
        bytes[b + 1] = b'x';
        backend.overwrite(&segment, &bytes);
        let before = backend.tree(Path::new("sessions"));
        let parent = lease(&store).unwrap();
        for at in [0, 2, 4, u64::MAX] {
            assert_eq!(fork(&parent, at, CHILD).unwrap_err().code(), "no_record");
        }
        assert_eq!(fork(&parent, 3, support::ID).unwrap_err().code(), "exists");
        assert_eq!(backend.tree(Path::new("sessions")), before);
        // Damage before the point is the same damage in the child.
        drop(fork(&parent, 3, CHILD).unwrap());
        let child = store.verify(&id(CHILD)).unwrap();
        assert_eq!(child.damage, store.verify(&subject()).unwrap().damage);
        assert_eq!((child.records, child.damage.len()), (2, 1));
    }
}

/// RESUME-15: what was only written may be gone after a power cut.
#[test]
fn a_writer_that_fails_at_the_cut_gives_no_fork() {
    let count = |fail_at| {
        let disk = MemoryFs::new();
        let fs = FaultFs::new(Arc::new(disk.clone()), fail_at, Fault::Error, Repeat::Once);
        let store = Store::open(Arc::new(fs.clone()), Path::new("test")).unwrap();
        let parent = lease(&store).unwrap();
        let writer = parent.writer().unwrap();
        append(&writer, &["a", "b"]).unwrap();
        let before = fs.operations();
        let forked = fork(&parent, 2, CHILD).is_ok();
        let after = fs.operations();
        let store = Backend::memory(disk.clone()).store();
        assert_eq!(
            read(&store, support::ID),
            numbered(&["a", "b"]),
            "{fail_at}"
        );
        if forked {
            assert_eq!(read(&store, CHILD), numbered(&["a", "b"]), "{fail_at}");
        } else {
            let left = store.subjects().unwrap().len();
            assert!(left == 1 || read(&store, CHILD).len() == 2, "{fail_at}");
        }
        // The parent's writer lives, or another one can be had.
        let writer = append(&writer, &["c"]).map_or_else(|_| parent.writer().unwrap(), |_| writer);
        append(&writer, &["d"]).unwrap();
        (before, after)
    };
    let (before, after) = count(0);
    assert!(after > before + 10);
    for fail_at in before + 1..=after {
        count(fail_at);
    }
}

/// LOG-5: a fork is there whole or not at all, and the parent always is.
#[test]
fn a_crash_at_any_point_of_a_fork_loses_nothing() {
    let fs = CrashFs::new();
    let mut backend = Backend::memory(MemoryFs::new());
    backend.fs = Arc::new(fs.clone());
    let store = backend.store();
    let x = large("x");
    let parent = lease(&store).unwrap();
    let writer = parent.writer().unwrap();
    append(&writer, &["a", &x]).unwrap();
    let before = fs.changes();
    let child = fork(&parent, 2, CHILD).unwrap();
    let forked = fs.changes();
    add(&child, &["c"]);
    let end = fs.changes();
    for point in before..=end {
        let seeds = (0..40).map(|seed| Loss::Some(seed * 1000 + point as u64));
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let case = format!("{loss:?} after {point}");
            let disk = Backend::memory(fs.after_crash(point, loss));
            let store = disk.store();
            assert_eq!(read(&store, support::ID), numbered(&["a", &x]), "{case}");
            let is_there = store.exists(&id(CHILD)).unwrap();
            assert!(is_there || point < forked, "{case}");
            if is_there {
                let report = store.verify(&id(CHILD)).unwrap();
                assert!(report.damage.is_empty(), "{case}: {:?}", report.damage);
                let found = texts(&store.read(&id(CHILD)).unwrap());
                assert_eq!(found[..2], numbered(&["a", &x]), "{case}");
                assert!(point < end || found.len() == 3, "{case}");
                add(&claim(&store, CHILD), &["more"]);
                assert_eq!(store.verify(&id(CHILD)).unwrap().health, Health::Clean);
            } else {
                drop(fork(&lease(&store).unwrap(), 2, CHILD).unwrap());
            }
        }
    }
}

/// LOG-5: a line that a dead process wrote and never synced is durable in the child.
#[test]
fn what_a_fork_shares_was_synced_before() {
    let fs = CrashFs::new();
    let mut backend = Backend::memory(MemoryFs::new());
    backend.fs = Arc::new(fs.clone());
    let store = backend.store();
    let dying = lease(&store).unwrap();
    let writer = dying.writer().unwrap();
    append(&writer, &["a"]).unwrap();
    wait(writer.append(vec![support::record("b")], Durability::Written)).unwrap();
    drop((writer, dying));
    drop(fork(&lease(&store).unwrap(), 2, CHILD).unwrap());
    let store = Backend::memory(fs.after_crash(fs.changes(), Loss::Everything)).store();
    assert_eq!(read(&store, CHILD), numbered(&["a", "b"]));
}

/// LOG-3: one flipped bit takes one record, though the headers of a fork name two logs.
#[test]
fn a_flipped_bit_of_a_fork_takes_no_more_than_its_record() {
    let source = Backend::memory(MemoryFs::new());
    let store = source.store();
    run(&store, &[&["a"]]).unwrap();
    run(&store, &[&["b"]]).unwrap();
    // One that has only its first header yet, and one that went on.
    drop(fork(&lease(&store).unwrap(), 2, GRANDCHILD).unwrap());
    let child = fork(&lease(&store).unwrap(), 2, CHILD).unwrap();
    add(&child, &["c"]);
    drop(child);
    for (name, least) in [(GRANDCHILD, 1), (CHILD, 2)] {
        for (path, whole) in source.tree(&session(name).join("log")) {
            for bit in 0..whole.len() * 8 {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                source.overwrite(&path, &bytes);
                let scan = store.read(&id(name)).unwrap();
                let case = format!("{} bit {bit}", path.display());
                assert!(!scan.damage.is_empty() || scan.torn.is_some(), "{case}");
                let found = texts(&scan);
                let all = numbered(&["a", "b", "c"]);
                assert!(found.iter().all(|t| all.contains(t)), "{case}: {found:?}");
                assert!(found.len() >= least, "{case}: {found:?}");
            }
            source.overwrite(&path, &whole);
        }
    }
}

/// LOG-3: a segment of a third log under the name of a shared one.
#[test]
fn a_foreign_segment_among_the_shared_ones_is_damage() {
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a"]]).unwrap();
        drop(fork(&lease(&store).unwrap(), 1, CHILD).unwrap());
        let other = store.create(&id(GRANDCHILD), &Owner::current()).unwrap();
        add(&other, &["z"]);
        let name = backend.segments().remove(0);
        let name = name.file_name().unwrap();
        let foreign = backend.bytes(&session(GRANDCHILD).join("log").join(name));
        backend.overwrite(&session(CHILD).join("log").join(name), &foreign);
        let scan = store.read(&id(CHILD)).unwrap();
        assert!(scan.records.is_empty() && !scan.damage.is_empty());
    }
}

/// RESUME-9: who descends from whom is read without the records, also in the archive.
#[test]
fn a_log_knows_its_parent_wherever_it_lies() {
    for backend in backends() {
        let store = backend.store();
        let parent_of = |text: &str| {
            let parent = store.parent(&id(text)).unwrap();
            parent.map(|parent| parent.session)
        };
        assert_eq!(parent_of(CHILD), None);
        run(&store, &[&["a"]]).unwrap();
        let parent = lease(&store).unwrap();
        drop(fork(&parent, 1, CHILD).unwrap());
        drop(fork(&claim(&store, CHILD), 1, GRANDCHILD).unwrap());
        assert_eq!(store.parent(&subject()).unwrap(), None);
        store.archive(&id(CHILD), &Owner::current()).unwrap();
        assert_eq!(parent_of(CHILD), Some(subject()), "{}", backend.name);
        assert_eq!(parent_of(GRANDCHILD), Some(id(CHILD)));
    }
}
