//! Sessions that are put away, removed, and brought back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Loss, MemoryFs};
use sessiond_log::{Content, Owner, Store};
use support::{Backend, backends, lease, numbered, run, subject, texts};

fn archive(store: &Store) -> Result<(), sessiond_log::LogError> {
    store.archive(&subject(), &Owner::current())
}

/// LOG-10
#[test]
fn an_archived_session_is_whole_and_not_among_the_sessions() {
    for backend in backends() {
        let store = backend.store();
        assert_eq!(archive(&store).unwrap_err().code(), "not_found");
        run(&store, &[&["a"]]).unwrap();
        let files = backend.tree(Path::new("sessions"));
        archive(&store).unwrap();
        assert_eq!(store.subjects().unwrap(), []);
        assert_eq!(store.archived().unwrap(), [subject()]);
        let owner = Owner::current();
        assert_eq!(
            store.claim(&subject(), &owner).unwrap_err().code(),
            "not_found"
        );
        assert_eq!(
            store.create(&subject(), &owner).unwrap_err().code(),
            "exists"
        );
        assert_eq!(archive(&store).unwrap_err().code(), "not_found");
        assert!(backend.fs.list(Path::new("open")).unwrap().is_empty());

        store.unarchive(&subject()).unwrap();
        assert_eq!(
            backend.tree(Path::new("sessions")),
            files,
            "{}",
            backend.name
        );
        assert_eq!(store.archived().unwrap(), []);
        assert_eq!(store.unarchive(&subject()).unwrap_err().code(), "not_found");
        run(&store, &[&["b"]]).unwrap();
        assert_eq!(
            texts(&store.read(&subject()).unwrap()),
            numbered(&["a", "b"])
        );
    }
}

/// RESUME-15
#[test]
fn a_session_in_use_is_neither_archived_nor_removed() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        let held = lease(&backend.store()).unwrap();
        let store = backend.store();
        let before = backend.tree(Path::new(""));
        assert_eq!(archive(&store).unwrap_err().code(), "busy");
        let removed = store.trash(&subject(), &Owner::current(), 7);
        assert_eq!(removed.unwrap_err().code(), "busy");
        assert_eq!(backend.tree(Path::new("")), before, "{}", backend.name);
        drop(held);
    }
}

/// LOG-12
#[test]
fn a_removed_session_goes_to_the_trash_and_leaves_a_tombstone() {
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a"]]).unwrap();
        store.trash(&subject(), &Owner::current(), 10).unwrap();
        run(&store, &[&["again"]]).unwrap();
        archive(&store).unwrap();
        store.trash(&subject(), &Owner::current(), 20).unwrap();
        assert_eq!(
            (store.subjects().unwrap(), store.archived().unwrap()),
            (vec![], vec![])
        );
        let stones = |store: &Store| -> Vec<_> {
            let stones = store.tombstones().unwrap();
            assert!(stones.iter().all(|s| s.subject == subject()));
            stones.iter().map(|s| (s.removed_at, s.content)).collect()
        };
        assert_eq!(stones(&store), [(10, Content::Kept), (20, Content::Kept)]);
        assert_eq!(store.empty_trash(10).unwrap(), 0);
        let kept = backend.tree(Path::new("trash"));
        let first: usize = kept
            .iter()
            .filter(|(path, _)| {
                path.iter()
                    .nth(1)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .ends_with(".10")
            })
            .map(|(_, bytes)| bytes.len())
            .sum();
        assert_eq!(
            store.empty_trash(20).unwrap(),
            first as u64,
            "{}",
            backend.name
        );
        assert_eq!(
            stones(&store),
            [(10, Content::Deleted), (20, Content::Kept)]
        );
        assert!(store.empty_trash(u64::MAX).unwrap() > 0);
        assert_eq!(store.empty_trash(u64::MAX).unwrap(), 0);
        assert_eq!(
            stones(&store),
            [(10, Content::Deleted), (20, Content::Deleted)]
        );
        let missing = store.trash(&subject(), &Owner::current(), 30);
        assert_eq!(missing.unwrap_err().code(), "not_found");
    }
}

/// LOG-5: put away, brought back, removed: at each point it is somewhere, and whole.
#[test]
fn a_crash_while_a_session_moves_leaves_it_whole_somewhere() {
    let fs = CrashFs::new();
    let mut backend = Backend::memory(MemoryFs::new());
    backend.fs = Arc::new(fs.clone());
    let store = backend.store();
    run(&store, &[&["a"], &["b"]]).unwrap();
    let start = fs.changes();
    archive(&store).unwrap();
    let archived = fs.changes();
    store.unarchive(&subject()).unwrap();
    let back = fs.changes();
    store.trash(&subject(), &Owner::current(), 5).unwrap();
    let removed = fs.changes();
    store.empty_trash(6).unwrap();
    let end = fs.changes();
    for point in start..=end {
        let seeds = (0..60).map(|seed| Loss::Some(seed * 1000 + point as u64));
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let case = format!("{loss:?} after {point}");
            let disk = Backend::memory(fs.after_crash(point, loss));
            let store = disk.store();
            let in_use = store.exists(&subject()).unwrap();
            let put_away = !store.archived().unwrap().is_empty();
            let stones = store.tombstones().unwrap();
            assert!(in_use || put_away || stones.len() == 1, "{case}");
            match point {
                p if p == archived => assert!(put_away && !in_use, "{case}"),
                p if p == back => assert!(in_use && !put_away, "{case}"),
                p if p >= removed => assert!(!in_use && !put_away, "{case}"),
                _ => {}
            }
            if point == end {
                assert_eq!(stones[0].content, Content::Deleted, "{case}");
                assert_eq!(store.empty_trash(6).unwrap(), 0, "{case}");
            }
            if put_away && !in_use {
                store.unarchive(&subject()).unwrap();
            }
            if in_use || put_away {
                let scan = store.read(&subject()).unwrap();
                assert_eq!(texts(&scan), numbered(&["a", "b"]), "{case}");
            }
            store.empty_trash(6).unwrap();
        }
    }
}
