//! Checkpoints: where a visit may begin, whatever became of what lies before.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Fault, FaultFs, Loss, MemoryFs, Repeat};
use sessiond_log::{
    Durability, INLINE_BYTES, Lease, LogError, NewRecord, Owner, Seen, Since, Store, Subject,
};
use support::{Backend, append, backends, lease, record, subject, wait};

const CHILD: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";

fn checkpoint(text: &str) -> NewRecord {
    NewRecord {
        kind: "checkpoint".to_owned(),
        ..record(text)
    }
}

/// Texts of the records that a visit shows, cut short.
fn seen(lease: &Lease, since: Since) -> Vec<String> {
    let mut seen = Vec::new();
    lease
        .visit(since, &mut |what| match what {
            Seen::Record(record) => {
                let data: serde_json::Value = serde_json::from_str(record.data).unwrap();
                let text = data["text"].as_str().unwrap();
                seen.push(text.chars().take(8).collect());
            }
            Seen::Damage(place) => seen.push(format!("! {}", place.reason)),
        })
        .unwrap();
    seen
}

/// Records a, b, a checkpoint of `first` bytes more, c, another checkpoint, d.
fn two_checkpoints(store: &Store, first: usize) -> Result<(), LogError> {
    let lease = lease(store)?;
    let writer = lease.writer()?;
    append(&writer, &["a", "b"])?;
    let long = format!("first{}", " ".repeat(first));
    wait(writer.checkpoint(checkpoint(&long)))?;
    append(&writer, &["c"])?;
    wait(writer.checkpoint(checkpoint("second")))?;
    append(&writer, &["d"])?;
    wait(writer.shutdown())
}

fn claim(store: &Store) -> Lease {
    store.claim(&subject(), &Owner::current()).unwrap()
}

/// LOG-10
#[test]
fn a_visit_begins_with_the_newest_checkpoint_and_the_log_goes_on_behind_it() {
    for backend in backends() {
        two_checkpoints(&backend.store(), 0).unwrap();
        let held = claim(&backend.store());
        let all = ["a", "b", "first", "c", "second", "d"];
        assert_eq!(seen(&held, Since::Start), all, "{}", backend.name);
        assert_eq!(seen(&held, Since::Checkpoint), ["second", "d"]);
        let writer = held.writer().unwrap();
        assert_eq!(append(&writer, &["e"]).unwrap().first_seq, 7);
        assert_eq!(seen(&held, Since::Checkpoint), ["second", "d", "e"]);
    }
}

/// LOG-10: the older segments may be elsewhere; a reader of all of it says what is missing.
#[test]
fn nothing_before_the_checkpoint_is_needed_to_go_on() {
    for backend in backends() {
        two_checkpoints(&backend.store(), 0).unwrap();
        let segments = backend.segments();
        assert_eq!(segments.len(), 3, "a checkpoint begins a segment");
        for old in &segments[..2] {
            backend.fs.remove(old).unwrap();
        }
        let held = claim(&backend.store());
        assert_eq!(seen(&held, Since::Checkpoint), ["second", "d"]);
        let writer = held.writer().unwrap();
        assert_eq!(append(&writer, &["e"]).unwrap().first_seq, 7);
        wait(writer.shutdown()).unwrap();
        assert_eq!(seen(&held, Since::Start), ["! missing", "second", "d", "e"]);
    }
}

/// LOG-10, LOG-4
#[test]
fn a_checkpoint_that_is_broken_is_passed_over_for_the_one_before() {
    let cases: [(&[usize], usize, &[&str]); 4] = [
        (&[], 0, &["second", "d"]),
        (&[2], 0, &["first", "c", "! checksum", "d"]),
        (
            &[1, 2],
            0,
            &["a", "b", "! checksum", "c", "! checksum", "d"],
        ),
        // Out of line, in a blob.
        (&[2], INLINE_BYTES, &["first   ", "c", "! checksum", "d"]),
    ];
    for (broken, bytes, expected) in cases {
        let backend = Backend::memory(MemoryFs::new());
        two_checkpoints(&backend.store(), bytes).unwrap();
        for segment in broken {
            let path = &backend.segments()[*segment];
            let mut bytes = backend.bytes(path);
            let second_line = bytes.iter().position(|b| *b == b'\n').unwrap() + 20;
            bytes[second_line] ^= 1;
            backend.overwrite(path, &bytes);
        }
        assert_eq!(seen(&claim(&backend.store()), Since::Checkpoint), expected);
    }
}

/// LOG-10: one whose blob is gone is none.
#[test]
fn a_checkpoint_without_its_blob_is_passed_over() {
    let backend = Backend::memory(MemoryFs::new());
    let held = lease(&backend.store()).unwrap();
    let writer = held.writer().unwrap();
    append(&writer, &["a"]).unwrap();
    let long = "b".repeat(INLINE_BYTES);
    wait(writer.checkpoint(checkpoint(&long))).unwrap();
    assert_eq!(seen(&held, Since::Checkpoint), ["bbbbbbbb"]);
    for (path, _) in backend.tree(&support::session_dir().join("blobs")) {
        backend.fs.remove(&path).unwrap();
    }
    assert_eq!(seen(&held, Since::Checkpoint), ["a", "! blob"]);
}

/// LOG-5, LOG-10: whatever the crash left, a visit since a checkpoint is the end of a whole one.
#[test]
fn after_every_crash_a_visit_since_a_checkpoint_is_the_end_of_the_whole() {
    let fs = CrashFs::default();
    two_checkpoints(
        &Store::open(Arc::new(fs.clone()), Path::new("test")).unwrap(),
        0,
    )
    .unwrap();
    let mut begun_later = 0;
    for point in 0..=fs.changes() {
        let seeds = (0..8).map(Loss::Some);
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let backend = Backend::memory(fs.after_crash(point, loss));
            let Ok(held) = backend.store().claim(&subject(), &Owner::current()) else {
                continue;
            };
            let (all, end) = (seen(&held, Since::Start), seen(&held, Since::Checkpoint));
            assert!(
                all.ends_with(&end),
                "{loss:?} after {point}: {all:?} {end:?}"
            );
            begun_later += usize::from(end.len() < all.len());
        }
    }
    assert!(begun_later > 20, "only {begun_later} began at a checkpoint");
}

/// LOG-6: a failed disk operation, and the writer after it begins with a checkpoint: behind the lines
/// that the failed one had acknowledged.
#[test]
fn a_checkpoint_after_a_failed_writer_comes_behind_what_that_one_had_acknowledged() {
    let mut carried = 0;
    for fail_at in 1..60 {
        let fs = FaultFs::new(
            Arc::new(MemoryFs::new()),
            fail_at,
            Fault::Torn,
            Repeat::Once,
        );
        let Ok(store) = Store::open(Arc::new(fs), Path::new("test")) else {
            continue;
        };
        let Ok(held) = lease(&store) else { continue };
        let Ok(writer) = held.writer() else { continue };
        let mut told = Vec::new();
        for (text, durability) in [
            ("a", Durability::Synced),
            ("written", Durability::Written),
            ("c", Durability::Synced),
        ] {
            if wait(writer.append(vec![record(text)], durability)).is_ok() {
                told.push(text);
            }
        }
        if wait(writer.append(Vec::new(), Durability::Synced)).is_ok() {
            continue;
        }
        carried += usize::from(told == ["a", "written"]);
        let writer = held.writer().unwrap();
        wait(writer.checkpoint(checkpoint("first"))).unwrap();
        append(&writer, &["b"]).unwrap();
        told.extend(["first", "b"]);
        assert_eq!(seen(&held, Since::Start), told, "operation {fail_at}");
        assert_eq!(seen(&held, Since::Checkpoint), ["first", "b"]);
    }
    assert!(carried > 0, "no failure left lines to carry");
}

/// RESUME-9, RESUME-17: a fork begins with a checkpoint of its parent's that it shares.
#[test]
fn a_fork_goes_on_from_a_checkpoint_before_its_fork_point() {
    let cases: [(u64, &[&str]); 3] = [
        (2, &["a", "b"]),
        (4, &["first", "c"]),
        (6, &["second", "d"]),
    ];
    for (at, expected) in cases {
        let backend = Backend::memory(MemoryFs::new());
        two_checkpoints(&backend.store(), 0).unwrap();
        let child: Subject = CHILD.parse().unwrap();
        let fork = claim(&backend.store()).fork(at, &child, &Owner::current());
        assert_eq!(seen(&fork.unwrap(), Since::Checkpoint), expected, "at {at}");
    }
}
