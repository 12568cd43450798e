//! What a sweep removes, and what it leaves alone.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use sessiond_log::fs::LockMode;
use sessiond_log::{INLINE_BYTES, Owner, Store, Subject, Sweep, Swept};
use support::{Backend, backends, lease, numbered, run, session_dir, subject, texts};

const CHILD: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";

fn sweep(store: &Store, how: Sweep) -> Swept {
    store
        .gc(how, 10, &Owner::current(), &mut |_, _| ())
        .unwrap()
}

fn put(backend: &Backend, path: &Path, bytes: &[u8]) {
    let mut file = backend.fs.create(path).unwrap();
    assert_eq!(file.write(bytes).unwrap(), bytes.len());
}

/// A session with a blob that counts, one that does not, a temporary file, a half-built session,
/// and two removed sessions of which one is old.
fn litter(backend: &Backend, large: &str) {
    let store = backend.store();
    for time in [5, 15] {
        run(&store, &[&["old"]]).unwrap();
        store.trash(&subject(), &Owner::current(), time).unwrap();
    }
    run(&store, &[&["a", large]]).unwrap();
    put(
        backend,
        &session_dir().join("blobs").join("0".repeat(64)),
        b"12345",
    );
    put(backend, &session_dir().join("log/.x.tmp"), b"123");
    let half = Path::new("sessions/.new.1");
    backend.fs.make_dir(half).unwrap();
    put(backend, &half.join("part"), b"1234567");
}

#[test]
fn a_sweep_says_first_and_removes_then_what_nobody_needs() {
    for backend in backends() {
        let large = "x".repeat(INLINE_BYTES);
        litter(&backend, &large);
        let store = backend.store();
        let old = backend.tree(Path::new("trash"));
        let old: usize = old
            .iter()
            .filter(|(path, _)| path.display().to_string().contains(".5/"))
            .map(|(_, bytes)| bytes.len())
            .sum();
        let before: Vec<_> = backend.tree(Path::new(""));
        let expected = Swept {
            blobs: 1,
            leftovers: 2,
            trashed: 1,
            bytes: 5 + 3 + 7 + old as u64,
            ..Swept::default()
        };
        assert_eq!(sweep(&store, Sweep::DryRun), expected, "{}", backend.name);
        let mut after = backend.tree(Path::new(""));
        after.retain(|(path, _)| !path.ends_with("sessions/.new.1/LOCK"));
        assert_eq!(after, before);
        assert_eq!(sweep(&store, Sweep::Remove), expected);
        assert_eq!(sweep(&store, Sweep::Remove), Swept::default());
        assert_eq!(
            texts(&store.read(&subject()).unwrap()),
            numbered(&["a", &large])
        );
        let names = backend.fs.list(Path::new("sessions")).unwrap();
        assert_eq!(names, [support::ID]);
        assert_eq!(store.tombstones().unwrap().len(), 2);
    }
}

/// LOG-10, LOG-12: the archive keeps what a session needs and nothing else.
#[test]
fn an_archived_session_is_swept_where_it_lies_unless_somebody_moves_it() {
    for backend in backends() {
        let large = "x".repeat(INLINE_BYTES);
        litter(&backend, &large);
        let store = backend.store();
        store.archive(&subject(), &Owner::current()).unwrap();
        let before = backend.tree(Path::new("archive"));
        let path = Path::new("archive").join(support::ID).join("LOCK");
        let lock = backend.fs.lock(&path, LockMode::Exclusive).unwrap();
        let swept = sweep(&store, Sweep::Remove);
        assert_eq!((swept.blobs, &swept.busy), (0, &vec![subject()]));
        assert_eq!(backend.tree(Path::new("archive")), before);
        drop(lock);
        let swept = sweep(&store, Sweep::Remove);
        assert_eq!((swept.blobs, swept.leftovers), (1, 1), "{}", backend.name);
        assert_eq!(store.archived().unwrap(), [subject()]);
        store.unarchive(&subject()).unwrap();
        let scan = store.read(&subject()).unwrap();
        assert_eq!(texts(&scan), numbered(&["a", &large]));
    }
}

#[test]
fn progress_is_told_of_each_session_wherever_it_lies() {
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a"]]).unwrap();
        store.archive(&subject(), &Owner::current()).unwrap();
        let other: Subject = CHILD.parse().unwrap();
        drop(store.create(&other, &Owner::current()).unwrap());
        let mut told = Vec::new();
        let progress = &mut |done, total| told.push((done, total));
        let swept = store.gc(Sweep::DryRun, 0, &Owner::current(), progress);
        assert_eq!(swept.unwrap(), Swept::default());
        assert_eq!(told, [(1, 2), (2, 2)], "{}", backend.name);
    }
}

#[test]
fn a_session_in_use_and_one_being_built_are_left_alone() {
    for backend in backends() {
        litter(&backend, &"x".repeat(INLINE_BYTES));
        let store = backend.store();
        let half = Path::new("sessions/.new.1");
        let lock = backend
            .fs
            .lock(&half.join("LOCK"), LockMode::Exclusive)
            .unwrap();
        assert!(lock.is_some());
        let held = lease(&backend.store()).unwrap();
        let before = backend.tree(Path::new("sessions"));
        let swept = sweep(&store, Sweep::Remove);
        assert_eq!((swept.blobs, swept.leftovers), (0, 0));
        assert_eq!(swept.busy, [subject()]);
        assert_eq!(
            backend.tree(Path::new("sessions")),
            before,
            "{}",
            backend.name
        );
        drop(held);
    }
}

/// LOG-4: the record that named a blob may be the broken one.
#[test]
fn the_blobs_of_a_damaged_log_stay() {
    for backend in backends() {
        let store = backend.store();
        let large = "x".repeat(INLINE_BYTES);
        run(&store, &[&["a", &large, "c"]]).unwrap();
        let segment = backend.segments().remove(0);
        let mut bytes = backend.bytes(&segment);
        let at = bytes.windows(8).position(|w| w == b"{\"$blob\"").unwrap();
        bytes[at + 20] ^= 1;
        backend.overwrite(&segment, &bytes);
        let swept = sweep(&store, Sweep::Remove);
        assert_eq!((swept.blobs, swept.damaged), (0, vec![subject()]));
        let blobs = backend.fs.list(&session_dir().join("blobs")).unwrap();
        assert_eq!(blobs.len(), 1, "{}", backend.name);
    }
}

/// RESUME-18: a blob that one side of a fork no longer has is still that of the other.
#[test]
fn a_blob_that_a_fork_shares_stays_with_the_side_that_names_it() {
    for backend in backends() {
        let store = backend.store();
        let large = "x".repeat(INLINE_BYTES);
        run(&store, &[&["a", &large]]).unwrap();
        let child: Subject = CHILD.parse().unwrap();
        let parent = lease(&store).unwrap();
        drop(parent.fork(2, &child, &Owner::current()).unwrap());
        drop(parent);
        store.trash(&subject(), &Owner::current(), 1).unwrap();
        assert_eq!(sweep(&store, Sweep::Remove).trashed, 1);
        assert_eq!(
            texts(&store.read(&child).unwrap()),
            numbered(&["a", &large])
        );
    }
}

/// CKPT-6: what is left of a session that reads as empty is not litter.
#[test]
fn the_blobs_of_a_session_that_reads_as_empty_stay() {
    for backend in backends() {
        let store = backend.store();
        let large = "x".repeat(INLINE_BYTES);
        run(&store, &[&["a", &large]]).unwrap();
        backend.overwrite(&backend.segments()[0], b"");
        let before = backend.tree(&session_dir());
        let swept = sweep(&store, Sweep::Remove);
        assert_eq!((swept.blobs, swept.damaged), (0, vec![subject()]));
        assert_eq!(backend.tree(&session_dir()), before);
    }
}
