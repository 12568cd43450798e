//! Part of a log is read: from a record on, as far as somebody wants.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::ops::ControlFlow;

use sessiond_log::{Seen, Since, Store};
use support::{Backend, backends, run, subject, texts};

/// What is shown of the log of `store`, at most so much of it: seqs, damage as 0.
fn seen(store: &Store, since: Since, most: usize) -> Vec<u64> {
    let mut seen = Vec::new();
    let mut visit = |what: Seen<'_>| {
        seen.push(match what {
            Seen::Record(record) => record.seq,
            Seen::Damage(_) => 0,
        });
        match seen.len() < most {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    store.visit_some(&subject(), since, &mut visit).unwrap();
    seen
}

/// Three segments of three records each.
fn nine(backend: &Backend) -> Store {
    let store = backend.store();
    let batch: &[&str] = &["a", "b", "c"];
    for _ in 0..3 {
        run(&store, &[batch]).unwrap();
    }
    store
}

/// RESUME-11
#[test]
fn a_visit_begins_behind_any_record_and_ends_where_it_is_enough() {
    for backend in backends() {
        let store = nine(&backend);
        assert_eq!(texts(&store.read(&subject()).unwrap()).len(), 9);
        assert_eq!(store.beginnings(&subject()).unwrap(), [1, 4, 7]);
        for after in 0..=12 {
            for most in 1..=10 {
                let expected: Vec<u64> = (after + 1..=9).take(most).collect();
                let found = seen(&store, Since::Behind(after), most);
                assert_eq!(found, expected, "{} {after} {most}", backend.name);
            }
        }
    }
}

/// LOG-4: damage is told of once, where it lies, and what is behind it needs nothing before it.
#[test]
fn damage_belongs_to_the_part_that_it_lies_in() {
    let backend = Backend::memory(sessiond_log::fs::MemoryFs::new());
    let store = nine(&backend);
    let path = &backend.segments()[1];
    let mut bytes = backend.bytes(path);
    let second_line = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 20;
    bytes[second_line] ^= 1;
    backend.overwrite(path, &bytes);
    let all = [1, 2, 3, 0, 5, 6, 7, 8, 9];
    assert_eq!(seen(&store, Since::Start, 20), all);
    let cases: [(u64, &[u64]); 6] = [
        (0, &all),
        (2, &[3, 0, 5, 6, 7, 8, 9]),
        (3, &[0, 5, 6, 7, 8, 9]),
        (4, &[5, 6, 7, 8, 9]),
        (5, &[6, 7, 8, 9]),
        (8, &[9]),
    ];
    for (after, expected) in cases {
        assert_eq!(seen(&store, Since::Behind(after), 20), expected, "{after}");
    }
    // The first two segments are not even looked at.
    backend.overwrite(path, b"broken");
    assert_eq!(seen(&store, Since::Behind(7), 20), [8, 9]);
}
