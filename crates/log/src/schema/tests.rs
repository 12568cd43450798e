//! Steps that change files, cut off at every change that they make.

use std::path::Path;
use std::sync::Arc;

use super::Step;
use crate::error::{Doing, LogError, found};
use crate::fs::{CrashFs, Fs, Loss, MemoryFs};
use crate::{Owner, Store};

/// Layouts of tomorrow: the key directory under another name, then under a third.
const STEPS: [Step; 2] = [
    Step {
        from: 2,
        apply: |store| move_keys(store, "keys", "keys-3"),
    },
    Step {
        from: 3,
        apply: |store| move_keys(store, "keys-3", "keys-4"),
    },
];

fn move_keys(store: &Store, from: &str, to: &str) -> Result<(), LogError> {
    let (fs, from, root) = (store.fs(), Path::new(from), Path::new(""));
    if found(fs.stat(from)).doing("look up", from)?.is_some() {
        fs.rename(from, Path::new(to)).doing("move", from)?;
    }
    fs.sync_dir(root).doing("sync", root)
}

/// The pool of a store locks with what explores schedules, in this crate's own tests; these have
/// one thread, so one schedule.
fn alone(test: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(test, 1);
}

fn store(fs: impl Fs + 'static) -> Store {
    Store::open(Arc::new(fs), Path::new("test")).unwrap()
}

/// The files of a session and of a key, on stable storage. The log's own writer needs threads that
/// this crate's tests do not have.
fn fill(fs: &CrashFs) {
    fs.make_root().unwrap();
    let dirs = [
        "keys",
        "sessions",
        "sessions/a",
        "sessions/a/log",
        "sessions/a/blobs",
    ];
    for dir in dirs {
        fs.make_dir(Path::new(dir)).unwrap();
    }
    for (path, text) in FILES {
        let mut file = fs.create(Path::new(path)).unwrap();
        file.write(text.as_bytes()).unwrap();
        file.sync().unwrap();
    }
    for dir in [
        "",
        "keys",
        "sessions",
        "sessions/a",
        "sessions/a/log",
        "sessions/a/blobs",
    ] {
        fs.sync_dir(Path::new(dir)).unwrap();
    }
}

const FILES: [(&str, &str); 5] = [
    ("STORE", "{\"format\":2}\n"),
    ("keys/blob-current", "key\n"),
    ("sessions/a/blobs/b", "blob"),
    (
        "sessions/a/log/00000001-00000000000000000001.jsonl",
        "sealed",
    ),
    (
        "sessions/a/log/00000002-00000000000000000003.jsonl",
        "the last",
    ),
];

/// Whether a back-up holds what the store held.
fn is_whole(disk: &MemoryFs, place: &Path) -> bool {
    FILES.iter().all(|(path, text)| {
        let bytes = disk.read(&place.join(path), 0..64);
        bytes.is_ok_and(|bytes| bytes == text.as_bytes())
    })
}

fn layout(fs: &dyn Fs) -> String {
    String::from_utf8(fs.read(Path::new("STORE"), 0..64).unwrap()).unwrap()
}

/// LOG-11: at each point a crash leaves the store as it was, or a whole back-up beside it; the next
/// attempt ends at the newest layout, and the back-ups read as the store did.
#[test]
fn a_migration_that_is_cut_off_anywhere_has_its_back_up_and_is_done_again() {
    alone(|| {
        let fs = CrashFs::default();
        fill(&fs);
        let first = store(fs.clone());
        let before = fs.changes();
        first.migrate_by(&STEPS).unwrap();
        let after = fs.changes();
        assert!(after - before > 20, "{} changes", after - before);
        let losses = [
            Loss::Nothing,
            Loss::Everything,
            Loss::Some(1),
            Loss::Some(2),
            Loss::Some(3),
        ];
        let mut states = 0;
        for point in before..=after {
            for loss in losses {
                let disk = fs.after_crash(point, loss);
                let crashed = store(disk.clone());
                let backups = crashed.backups().unwrap();
                let is_moved = disk.stat(Path::new("keys")).is_err();
                assert!(
                    !is_moved || backups.len() == 1,
                    "moved without a back-up, {loss:?} {point}"
                );
                for place in &backups {
                    assert!(is_whole(&disk, place), "{loss:?} after {point}");
                }
                crashed.migrate_by(&STEPS).unwrap();
                assert_eq!(layout(&disk), "{\"format\":4}\n");
                assert!(
                    disk.stat(Path::new("keys-4")).is_ok(),
                    "{loss:?} after {point}"
                );
                let made = crashed.backups().unwrap();
                let names = disk.list(Path::new("backup")).unwrap();
                assert_eq!(names.len(), made.len(), "leftovers: {names:?}");
                states += 1;
            }
        }
        assert!(states > 40, "{states}");
    });
}

/// LOG-11: and this program says so, before it writes anything.
#[test]
fn a_store_that_was_brought_further_is_too_new_for_this_program() {
    alone(|| {
        let memory = MemoryFs::new();
        let newer = store(memory.clone());
        newer.prepare().unwrap();
        newer.migrate_by(&STEPS).unwrap();
        let files = memory.files();
        let subject = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10".parse().unwrap();
        let error = newer.create(&subject, &Owner::current()).unwrap_err();
        assert_eq!(error.code(), "too_new");
        assert_eq!(memory.files(), files);
    });
}

#[test]
fn the_steps_lead_without_a_gap_to_the_layout_of_this_program() {
    let froms: Vec<_> = super::STEPS.iter().map(|step| step.from).collect();
    let expected: Vec<_> = (1..super::LAYOUT).collect();
    assert_eq!(froms, expected);
}
