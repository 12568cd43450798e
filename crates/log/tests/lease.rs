//! Who may write: the lock, its fence, and what a store accepts to live in.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use sessiond_log::fs::{FsKind, filesystem, sync_probe};
use sessiond_log::{HolderState, LogError, Owner, Store};
use support::{
    Backend, append, backends, lease, log_dir, numbered, run, session_dir, subject, texts,
};

/// LOG-7
#[test]
fn a_second_claim_is_busy_and_names_the_holder_until_the_first_is_gone() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        let owner = Owner::current().at_endpoint("/run/user/1/sessiond/abc");
        let first = backend.store().claim(&subject(), &owner).unwrap();
        let store = backend.store();
        let Err(LogError::Busy {
            holder: Some(holder),
            ..
        }) = store.claim(&subject(), &owner)
        else {
            panic!("{}: not busy", backend.name);
        };
        assert_eq!((&holder.owner, holder.state), (&owner, HolderState::Open));
        assert_eq!(store.holder(&subject()).unwrap(), Some(*holder));
        assert_eq!(
            texts(&store.read(&subject()).unwrap()),
            numbered(&["a"]),
            "viewers read"
        );
        drop(first);
        assert_eq!(store.holder(&subject()).unwrap(), None);
        drop(store.claim(&subject(), &owner).unwrap());
        assert!(backend.fs.list(Path::new("open")).unwrap().is_empty());
    }
}

/// LOG-7: the record of a holder that was killed names nobody.
#[test]
fn an_owner_record_without_its_lock_is_a_leftover() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        let held = lease(&backend.store()).unwrap();
        let record = Path::new("open").join(support::ID);
        let left = backend.bytes(&record);
        drop(held);
        backend.fs.create(&record).unwrap().write(&left).unwrap();
        assert_eq!(backend.store().holder(&subject()).unwrap(), None);
        drop(lease(&backend.store()).unwrap());
    }
}

#[test]
fn a_claim_waits_for_a_holder_that_is_closing() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        let first = lease(&backend.store()).unwrap();
        first.set_state(HolderState::Closing).unwrap();
        let start = Instant::now();
        let store = backend.store();
        let second = std::thread::spawn(move || store.claim(&subject(), &Owner::current()));
        // Longer than an open holder is given, so that only the state can explain the success.
        while start.elapsed() < Duration::from_millis(400) {
            std::thread::yield_now();
        }
        assert!(!second.is_finished());
        drop(first);
        second.join().unwrap().unwrap();
    }
}

/// LOG-7: never an append, not even of the rest of a batch.
#[test]
fn a_holder_whose_lock_was_replaced_is_fenced() {
    for backend in backends() {
        let held = lease(&backend.store()).unwrap();
        let writer = held.writer().unwrap();
        append(&writer, &["a"]).unwrap();
        let before = backend.tree(&log_dir());
        backend.fs.remove(&session_dir().join("LOCK")).unwrap();
        assert_eq!(append(&writer, &["b"]).unwrap_err().code(), "fenced");
        run(&backend.store(), &[&["c"]]).unwrap();
        assert_eq!(append(&writer, &["d"]).unwrap_err().code(), "fenced");
        assert_eq!(
            append(&held.writer().unwrap(), &["e"]).unwrap_err().code(),
            "fenced"
        );
        assert_eq!(backend.tree(&log_dir())[0], before[0], "{}", backend.name);
        assert_eq!(
            texts(&backend.store().read(&subject()).unwrap()),
            numbered(&["a", "c"])
        );
    }
}

/// LOG-7: two writers that both believe in their lock are told apart by the segments.
#[test]
fn a_writer_that_finds_a_newer_segment_than_it_knows_is_fenced() {
    let names = [
        "00000002-00000000000000000002.jsonl",
        "00000003-00000000000000000009.jsonl",
    ];
    for (backend, name) in names.into_iter().flat_map(|n| backends().map(|b| (b, n))) {
        run(&backend.store(), &[&["a"]]).unwrap();
        let first = lease(&backend.store()).unwrap();
        let late = first.writer().unwrap();
        // Another storage, or a copied directory: the same lock file, but not the same lock.
        backend
            .fs
            .create(&log_dir().join(name))
            .unwrap()
            .write(b"{}")
            .unwrap();
        let files = backend.segments().len();
        assert_eq!(
            append(&late, &["b"]).unwrap_err().code(),
            "fenced",
            "{}",
            backend.name
        );
        assert_eq!(backend.segments().len(), files);
    }
}

/// LOG-15
#[test]
fn directories_are_0700_and_files_0600() {
    let backend = Backend::real();
    let large = "x".repeat(sessiond_log::INLINE_BYTES);
    run(&backend.store(), &[&["a", &large]]).unwrap();
    let held = lease(&backend.store()).unwrap();
    let mut paths = vec![backend.root()];
    let mut files = 0;
    while let Some(path) = paths.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o777;
        if meta.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            paths.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            assert_eq!(mode, 0o600, "{}", path.display());
            files += 1;
        }
    }
    assert_eq!(
        files, 7,
        "STORE, owner, LOCK, segment, blob, key, current key"
    );
    drop(held);
}

/// LOG-15
#[test]
fn no_link_below_the_root_is_followed_and_no_root_is_one() {
    let planted = ["sessions", "open", "LOCK", "log", "segment"];
    for name in planted {
        let backend = Backend::real();
        run(&backend.store(), &[&["a"]]).unwrap();
        let path = match name {
            "LOCK" | "log" => session_dir().join(name),
            "segment" => backend.segments().remove(0),
            other => Path::new(other).to_owned(),
        };
        let inside = backend.root().join(&path);
        let outside = backend.root().with_file_name("outside");
        std::fs::rename(&inside, &outside).unwrap();
        symlink(&outside, &inside).unwrap();
        let outcome = run(&backend.store(), &[&["b"]]);
        assert!(outcome.is_err(), "{name} was followed");
    }
    let backend = Backend::real();
    run(&backend.store(), &[&["a"]]).unwrap();
    let link = backend.root().with_file_name("link");
    symlink(backend.root(), &link).unwrap();
    for root in [link.clone(), link.join("")] {
        assert_eq!(Store::open_real(&root).unwrap_err().code(), "unsafe_root");
    }
    let file = backend.root().join("STORE");
    assert_eq!(Store::open_real(&file).unwrap_err().code(), "unsafe_root");
}

/// LOG-15: needs the right to give files away, so it says nothing where that is missing.
#[test]
fn a_store_of_somebody_else_is_refused() {
    let backend = Backend::real();
    run(&backend.store(), &[&["a"]]).unwrap();
    if std::os::unix::fs::chown(backend.root(), Some(12_345), None).is_ok() {
        assert_eq!(
            Store::open_real(&backend.root()).unwrap_err().code(),
            "unsafe_root"
        );
    }
}

/// LOG-7: a tool that the process starts must not keep the lock alive.
#[test]
fn descriptors_are_closed_in_children() {
    let backend = Backend::real();
    let held = lease(&backend.store()).unwrap();
    append(&held.writer().unwrap(), &["a"]).unwrap();
    let root = backend.root();
    let listing = std::process::Command::new("ls")
        .args(["-l", "/proc/self/fd"])
        .output()
        .unwrap();
    let listing = String::from_utf8(listing.stdout).unwrap();
    assert!(!listing.contains(root.to_str().unwrap()), "{listing}");
}

#[test]
fn the_doctor_learns_the_kind_of_disk_and_the_time_of_a_sync() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("not/yet/made");
    assert_ne!(filesystem(&root).unwrap(), FsKind::Network);
    assert!(sync_probe(&root).unwrap() > Duration::ZERO);
    assert_eq!(
        std::fs::read_dir(&root).unwrap().count(),
        0,
        "the probe is removed"
    );
}
