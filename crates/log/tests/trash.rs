//! Removed sessions and the way back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use sessiond_log::fs::LockMode;
use sessiond_log::{Content, LogError, Owner, Store};
use support::{Backend, backends, lease, numbered, run, session_dir, subject, texts};

fn remove(store: &Store, texts: &[&str], time: u64) {
    run(store, &[texts]).unwrap();
    store.trash(&subject(), &Owner::current(), time).unwrap();
}

fn stones(store: &Store) -> Vec<(u64, Content)> {
    let stones = store.tombstones().unwrap();
    stones.iter().map(|s| (s.removed_at, s.content)).collect()
}

fn said(result: Result<(), LogError>) -> &'static str {
    result.unwrap_err().code()
}

/// LOG-12: the last one that was removed, every byte of it, and the log goes on.
#[test]
fn a_removed_session_comes_back_as_it_was_the_newest_first() {
    for backend in backends() {
        let store = backend.store();
        assert_eq!(said(store.restore(&subject())), "not_found");
        remove(&store, &["older"], 9);
        run(&store, &[&["newer"]]).unwrap();
        let whole = backend.tree(&session_dir());
        store.trash(&subject(), &Owner::current(), 10).unwrap();
        store.restore(&subject()).unwrap();
        assert_eq!(backend.tree(&session_dir()), whole, "{}", backend.name);
        assert_eq!(stones(&store), [(9, Content::Kept)]);
        run(&store, &[&["more"]]).unwrap();
        let scan = store.read(&subject()).unwrap();
        assert_eq!(texts(&scan), numbered(&["newer", "more"]));

        assert_eq!(said(store.restore(&subject())), "exists");
        store.archive(&subject(), &Owner::current()).unwrap();
        assert_eq!(said(store.restore(&subject())), "exists");
        assert_eq!(stones(&store), [(9, Content::Kept)]);
    }
}

/// LOG-12: what was deleted, or begun to be, does not come back as a part of itself.
#[test]
fn a_session_of_which_something_was_deleted_does_not_come_back() {
    for backend in backends() {
        let store = backend.store();
        remove(&store, &["kept"], 3);
        remove(&store, &["begun"], 5);
        let stone = format!("trash/{}.5.tombstone", support::ID);
        drop(backend.fs.create(Path::new(&stone)).unwrap());
        store.restore(&subject()).unwrap();
        let scan = store.read(&subject()).unwrap();
        assert_eq!(texts(&scan), numbered(&["kept"]));
        store.trash(&subject(), &Owner::current(), 7).unwrap();
        store.empty_trash(8).unwrap();
        assert_eq!(said(store.restore(&subject())), "not_found");
    }
}

/// LOG-12: whoever brings it back and whoever empties the trash exclude each other.
#[test]
fn what_is_being_brought_back_is_not_deleted_and_what_is_being_deleted_is_not_brought_back() {
    for backend in backends() {
        let store = backend.store();
        remove(&store, &["a"], 5);
        let path = format!("trash/{}.5/LOCK", support::ID);
        let lock = backend.fs.lock(Path::new(&path), LockMode::Exclusive);
        let lock = lock.unwrap().unwrap();
        assert_eq!(said(store.restore(&subject())), "busy");
        assert_eq!(store.empty_trash(u64::MAX).unwrap(), 0);
        assert_eq!(stones(&store), [(5, Content::Kept)], "{}", backend.name);
        drop(lock);
        store.restore(&subject()).unwrap();
    }
}

fn leave_remains(backend: &Backend) {
    let store = backend.store();
    drop(store.create(&subject(), &Owner::current()).unwrap());
    backend.fs.make_dir(&session_dir().join("log")).unwrap();
    let segment = session_dir().join("log/00000001-00000000000000000001.jsonl");
    let mut file = backend.fs.create(&segment).unwrap();
    file.write(b"{\"v\":1").unwrap();
}

/// CKPT-6: what a dead creation left where the session was is set aside; a lock alone is nothing.
#[test]
fn remains_of_a_dead_creation_are_in_nobodys_way() {
    for backend in backends() {
        let store = backend.store();
        remove(&store, &["a"], 5);
        drop(store.create(&subject(), &Owner::current()).unwrap());
        store.restore(&subject()).unwrap();
        assert!(store.aside().unwrap().is_empty(), "{}", backend.name);

        store.archive(&subject(), &Owner::current()).unwrap();
        leave_remains_beside_the_archive(&backend);
        store.unarchive(&subject()).unwrap();
        assert_eq!(store.aside().unwrap().len(), 1);

        store.trash(&subject(), &Owner::current(), 6).unwrap();
        leave_remains(&backend);
        store.restore(&subject()).unwrap();
        let aside = store.aside().unwrap();
        assert_eq!(aside.len(), 2, "{aside:?}");
        let kept = backend.tree(&aside[1]);
        assert!(kept.iter().any(|(_, bytes)| bytes == b"{\"v\":1"));
        let scan = store.read(&subject()).unwrap();
        assert_eq!(texts(&scan), numbered(&["a"]));
        let names = backend.fs.list(Path::new("sessions")).unwrap();
        assert_eq!(names, [support::ID]);
    }
}

/// By hand: a creation refuses an id that the archive has.
fn leave_remains_beside_the_archive(backend: &Backend) {
    let dir = session_dir();
    for dir in [dir.clone(), dir.join("log")] {
        backend.fs.make_dir(&dir).unwrap();
    }
    let segment = dir.join("log/00000001-00000000000000000001.jsonl");
    drop(backend.fs.create(&segment).unwrap());
}

/// LOG-7
#[test]
fn a_creation_that_is_under_way_is_in_the_way() {
    for backend in backends() {
        let store = backend.store();
        remove(&store, &["a"], 5);
        let held = lease(&backend.store()).unwrap();
        assert_eq!(said(store.restore(&subject())), "busy");
        drop(held);
        store.restore(&subject()).unwrap();
    }
}
