//! What a resume relies on: the log is what was chosen, and what reads as empty is kept.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use sessiond_log::fs::MemoryFs;
use sessiond_log::{Generation, LogError, Owner, Since, Store};
use support::{Backend, append, backends, lease, numbered, run, session_dir, subject, texts, wait};

fn generation(store: &Store) -> Generation {
    store.read(&subject()).unwrap().generation()
}

/// RESUME-14: the epoch and the high-water mark that a candidate was chosen at.
#[test]
fn a_generation_is_another_after_every_append_and_the_same_after_every_look() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        let first = generation(&backend.store());
        assert_eq!((first.epoch, first.last_seq), (1, 1));
        drop(lease(&backend.store()).unwrap());
        assert_eq!(generation(&backend.store()), first);
        run(&backend.store(), &[&["b"]]).unwrap();
        let second = generation(&backend.store());
        assert_eq!((second.epoch, second.last_seq), (2, 2));
    }
}

/// RESUME-15: whatever happens to the log between the lookup and the moment before it is used.
#[test]
fn a_log_that_was_changed_since_it_was_read_is_not_confirmed() {
    type Change = fn(&Backend);
    let changes: [(&str, Change); 5] = [
        ("nothing", |_| {}),
        ("a line without a lease", |b| {
            let path = b.segments().pop().unwrap();
            let mut bytes = b.bytes(&path);
            bytes.extend_from_slice(b"{\"v\":1");
            b.overwrite(&path, &bytes);
        }),
        ("a rival's segment", |b| {
            let name = "00000002-00000000000000000002.jsonl";
            drop(b.fs.create(&support::log_dir().join(name)).unwrap());
        }),
        ("another lock", |b| {
            let path = session_dir().join("LOCK");
            b.overwrite(&path, b"");
        }),
        ("moved away", |b| {
            b.fs.rename(&session_dir(), Path::new("sessions/elsewhere"))
                .unwrap();
        }),
    ];
    for (name, change) in changes {
        let backend = Backend::memory(MemoryFs::new());
        run(&backend.store(), &[&["a"]]).unwrap();
        let held = lease(&backend.store()).unwrap();
        let read = held.visit(Since::Checkpoint, &mut |_| ()).unwrap();
        change(&backend);
        let confirmed = held.confirm(&read.generation());
        match name {
            "nothing" => confirmed.unwrap(),
            _ => assert!(matches!(confirmed, Err(LogError::Fenced(_))), "{name}"),
        }
    }
}

/// RESUME-17: a fork point is a record of the verified chain, or there is no fork.
#[test]
fn a_fork_point_outside_of_the_chain_is_refused_and_leaves_nothing() {
    for backend in backends() {
        run(&backend.store(), &[&["a", "b"]]).unwrap();
        let held = lease(&backend.store()).unwrap();
        let child = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11".parse().unwrap();
        for at in [0, 3, u64::MAX] {
            let refused = held.fork(at, &child, &Owner::current()).unwrap_err();
            assert_eq!(refused.code(), "no_record", "at {at}");
        }
        assert_eq!(backend.store().subjects().unwrap(), [subject()]);
        held.fork(2, &child, &Owner::current()).unwrap();
    }
}

/// RESUME-18: what happens to one side leaves the other byte for byte as it was.
#[test]
fn nothing_done_to_a_fork_or_its_parent_reaches_the_other() {
    let child = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11".parse().unwrap();
    for backend in backends() {
        let store = backend.store();
        run(&store, &[&["a", "b"]]).unwrap();
        let held = lease(&store).unwrap();
        let fork = held.fork(2, &child, &Owner::current()).unwrap();
        let parent_before = backend.tree(&session_dir());
        let writer = fork.writer().unwrap();
        append(&writer, &["mine"]).unwrap();
        wait(writer.shutdown()).unwrap();
        drop(fork);
        assert_eq!(backend.tree(&session_dir()), parent_before);
        let child_dir = Path::new("sessions").join(child.to_string());
        let child_before = backend.tree(&child_dir);
        let writer = held.writer().unwrap();
        append(&writer, &["theirs"]).unwrap();
        wait(writer.shutdown()).unwrap();
        drop(held);
        store.trash(&subject(), &Owner::current(), 1).unwrap();
        store.empty_trash(2).unwrap();
        assert_eq!(backend.tree(&child_dir), child_before);
        let left = store.read(&child).unwrap();
        assert_eq!(texts(&left), numbered(&["a", "b", "mine"]));
    }
}

/// CKPT-6: remains that hold no record are kept under a marked name, however often that happens.
#[test]
fn a_session_that_reads_as_empty_is_set_aside_and_never_written_over() {
    let remains: [&[u8]; 3] = [b"", b"\0\0\0\0", b"{\"v\":1,\"epoch\":1,\"prev\""];
    for backend in backends() {
        let store = backend.store();
        run(&store, &[]).unwrap();
        assert!(store.aside().unwrap().is_empty(), "a lock alone is nothing");
        for (count, bytes) in (1..).zip(remains) {
            let log = support::log_dir();
            for dir in [&session_dir(), &log] {
                backend.fs.make_dir(dir).unwrap();
            }
            let path = log.join("00000001-00000000000000000001.jsonl");
            let mut file = backend.fs.create(&path).unwrap();
            assert_eq!(file.write(bytes).unwrap(), bytes.len());
            run(&store, &[&["a"]]).unwrap();
            assert_eq!(texts(&store.read(&subject()).unwrap()), numbered(&["a"]));
            let aside = store.aside().unwrap();
            assert_eq!(aside.len(), count, "{}", backend.name);
            let kept = backend.tree(aside.last().unwrap());
            assert!(kept.iter().any(|(_, content)| content == bytes));
            store.trash(&subject(), &Owner::current(), 1).unwrap();
            store.empty_trash(2).unwrap();
        }
        for (count, path) in (1..).zip(store.aside().unwrap()) {
            let name = format!("aside/{}.{count}", subject());
            assert_eq!(path, Path::new(&name));
        }
    }
}
