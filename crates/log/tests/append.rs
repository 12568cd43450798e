//! Writing and reading a log that nothing happens to.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use sessiond_log::{Durability, INLINE_BYTES, LogError, NewRecord, Owner, SEGMENT_BYTES, Store};
use support::{ID, append, backends, lease, log_dir, numbered, record, run, subject, texts, wait};

/// LOG-1, LOG-3
#[test]
fn what_was_appended_is_read_in_order_across_runs() {
    for backend in backends() {
        run(&backend.store(), &[&["a"], &["b", "c"]]).unwrap();
        run(&backend.store(), &[]).unwrap();
        run(&backend.store(), &[&["d"]]).unwrap();
        let scan = backend.store().read(&subject()).unwrap();
        assert_eq!(
            texts(&scan),
            numbered(&["a", "b", "c", "d"]),
            "{}",
            backend.name
        );
        let epochs: Vec<u64> = scan.records.iter().map(|r| r.epoch).collect();
        assert_eq!(
            epochs,
            [1, 1, 1, 2],
            "a run without an append takes no epoch"
        );
        assert_eq!((scan.next_seq, scan.highest_epoch), (5, 2));
        assert!(scan.damage.is_empty() && scan.torn.is_none() && scan.stale.is_empty());
        assert_eq!(backend.store().subjects().unwrap(), [subject()]);
    }
}

/// LOG-3: the header line of the contract, and links from line to line.
#[test]
fn a_segment_begins_with_its_header_and_each_line_names_the_checksum_before_it() {
    let [backend, _] = backends();
    run(&backend.store(), &[&["a", "b"]]).unwrap();
    run(&backend.store(), &[&["c"]]).unwrap();
    let names: Vec<_> = backend.segments();
    let log = log_dir();
    assert_eq!(names[0], log.join("00000001-00000000000000000001.jsonl"));
    assert_eq!(names[1], log.join("00000002-00000000000000000003.jsonl"));
    let lines: Vec<Vec<serde_json::Value>> = names
        .iter()
        .map(|n| String::from_utf8(backend.bytes(n)).unwrap())
        .map(|text| {
            text.lines()
                .map(|l| serde_json::from_str(l).unwrap())
                .collect()
        })
        .collect();
    for segment in &lines {
        assert_eq!(segment[0]["prev"], "00000000");
        assert_eq!(segment[0]["kind"], "segment");
        assert!(segment[0].get("seq").is_none());
        for pair in segment.windows(2) {
            assert_eq!(pair[1]["prev"], pair[0]["crc"]);
        }
    }
    let (first, second) = (&lines[0][0]["data"], &lines[1][0]["data"]);
    assert_eq!(first["session"], ID);
    assert_eq!(
        (&first["first_seq"], &first["after"]),
        (&1.into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&second["epoch"], &second["first_seq"]),
        (&2.into(), &3.into())
    );
    let after = serde_json::json!({
        "segment": first["segment"],
        "number": 1,
        "seq": 2,
        "length": backend.bytes(&names[0]).len(),
    });
    assert_eq!(second["after"], after);
}

/// RESUME-3
#[test]
fn a_load_changes_no_byte_under_sessions() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        let before = backend.tree(Path::new("sessions"));
        let store = backend.store();
        let lease = store.claim(&subject(), &Owner::current()).unwrap();
        assert_eq!(texts(&lease.scan().unwrap()), numbered(&["a"]));
        let writer = lease.writer().unwrap();
        assert_eq!(writer.next_seq(), 2);
        wait(writer.append(Vec::new(), Durability::Synced)).unwrap();
        wait(writer.shutdown()).unwrap();
        drop(lease);
        assert_eq!(
            backend.tree(Path::new("sessions")),
            before,
            "{}",
            backend.name
        );
    }
}

/// RESUME-3
#[test]
fn looking_for_a_session_that_is_not_there_creates_nothing() {
    for backend in backends() {
        let store = backend.store();
        let error = store.claim(&subject(), &Owner::current()).unwrap_err();
        assert_eq!(error.code(), "not_found");
        assert_eq!(store.head(&subject()).unwrap(), None);
        assert!(store.read(&subject()).unwrap().is_blank());
        assert!(!store.exists(&subject()).unwrap());
        assert!(store.holder(&subject()).unwrap().is_none());
        assert!(backend.fs.stat(Path::new("")).is_err(), "{}", backend.name);
    }
}

#[test]
fn a_session_is_created_once_and_exists_from_its_first_record_on() {
    for backend in backends() {
        let store = backend.store();
        drop(store.create(&subject(), &Owner::current()).unwrap());
        let error = store.claim(&subject(), &Owner::current()).unwrap_err();
        assert_eq!(error.code(), "not_found", "nobody was told of it");
        run(&store, &[&["a"]]).unwrap();
        let error = store.create(&subject(), &Owner::current()).unwrap_err();
        assert_eq!(error.code(), "exists");
    }
}

/// LOG-2
#[test]
fn the_head_of_a_log_is_its_first_record() {
    for backend in backends() {
        run(&backend.store(), &[&["a"], &["b"]]).unwrap();
        let store = backend.store();
        let head = store.head(&subject()).unwrap().unwrap();
        assert_eq!(head, store.read(&subject()).unwrap().records[0]);
    }
}

/// LOG-5
#[test]
fn tickets_resolve_in_order_with_dense_numbers() {
    for backend in backends() {
        let lease = lease(&backend.store()).unwrap();
        let writer = lease.writer().unwrap();
        let tickets: Vec<_> = (0..200)
            .map(|n| {
                let durability = if n % 3 == 0 {
                    Durability::Synced
                } else {
                    Durability::Written
                };
                writer.append(vec![record("x"), record("y")], durability)
            })
            .collect();
        assert_eq!(writer.next_seq(), 401);
        for (n, ticket) in (0..).zip(tickets) {
            let appended = wait(ticket).unwrap();
            assert_eq!(
                (appended.first_seq, appended.last_seq),
                (2 * n + 1, 2 * n + 2)
            );
        }
        wait(writer.shutdown()).unwrap();
        assert_eq!(
            wait(writer.append(vec![record("z")], Durability::Written))
                .unwrap_err()
                .code(),
            "closed"
        );
        assert_eq!(lease.scan().unwrap().records.len(), 400);
    }
}

#[test]
fn a_lease_has_one_writer_at_a_time() {
    let store = Store::in_memory();
    let lease = lease(&store).unwrap();
    let first = lease.writer().unwrap();
    append(&first, &["a"]).unwrap();
    assert_eq!(lease.writer().unwrap_err().code(), "writer_exists");
    wait(first.shutdown()).unwrap();
    append(&lease.writer().unwrap(), &["b"]).unwrap();
    assert_eq!(texts(&lease.scan().unwrap()), numbered(&["a", "b"]));
}

#[test]
fn a_record_that_could_not_be_read_back_is_refused_and_takes_no_number() {
    let lease = lease(&Store::in_memory()).unwrap();
    let writer = lease.writer().unwrap();
    let good = record("a");
    let bad = [
        NewRecord {
            data: String::new(),
            ..good.clone()
        },
        NewRecord {
            data: "{".to_owned(),
            ..good.clone()
        },
        NewRecord {
            data: "1 2".to_owned(),
            ..good.clone()
        },
        NewRecord {
            kind: String::new(),
            ..good.clone()
        },
        NewRecord {
            kind: "segment".to_owned(),
            ..good.clone()
        },
        NewRecord {
            kind: "a\"b".to_owned(),
            ..good.clone()
        },
        NewRecord {
            kind: "k".repeat(129),
            ..good.clone()
        },
        NewRecord {
            at: "a\nb".to_owned(),
            ..good.clone()
        },
    ];
    for record in bad {
        let batch = vec![good.clone(), record.clone()];
        let error = wait(writer.append(batch, Durability::Synced)).unwrap_err();
        assert_eq!(error.code(), "invalid_record", "{record:?}");
    }
    let spread = NewRecord {
        data: " {\n \"text\":\r\"b\\n\"} ".to_owned(),
        ..good.clone()
    };
    wait(writer.append(vec![good, spread], Durability::Synced)).unwrap();
    let scan = lease.scan().unwrap();
    assert_eq!(texts(&scan), numbered(&["a", "b\n"]));
    assert_eq!(&*scan.records[1].data, "{  \"text\": \"b\\n\"}");
}

/// LOG-8
#[test]
fn data_beyond_the_inline_size_is_a_blob_and_reads_like_any_other() {
    for backend in backends() {
        let large = "é".repeat(INLINE_BYTES);
        let posing = NewRecord {
            data: "{\"$blob\":{\"text\":1}}".to_owned(),
            ..record("")
        };
        let lease = lease(&backend.store()).unwrap();
        let writer = lease.writer().unwrap();
        append(&writer, &["a", &large, &large]).unwrap();
        wait(writer.append(vec![posing.clone()], Durability::Synced)).unwrap();
        let mut scan = lease.scan().unwrap();
        assert_eq!(*scan.records.pop().unwrap().data, *posing.data);
        assert_eq!(
            texts(&scan),
            numbered(&["a", &large, &large]),
            "{}",
            backend.name
        );
        let blobs = support::session_dir().join("blobs");
        assert_eq!(
            backend.fs.list(&blobs).unwrap().len(),
            2,
            "equal content is kept once"
        );
        let segment = backend.bytes(&backend.segments()[0]);
        assert!(segment.len() < 4096, "lines stay short");
        drop((lease, writer));
    }
}

/// LOG-8: names tell nothing without the key of the store.
#[test]
fn the_same_blob_has_another_name_in_another_store() {
    let large = "x".repeat(INLINE_BYTES);
    let [a, b] = backends();
    let blobs = support::session_dir().join("blobs");
    let name = |backend: &support::Backend| {
        run(&backend.store(), &[&[&large]]).unwrap();
        backend.fs.list(&blobs).unwrap()
    };
    assert_ne!(name(&a), name(&b));
}

/// LOG-10
#[test]
fn a_segment_is_closed_before_it_outgrows_its_size() {
    let [backend, _] = backends();
    let lease = lease(&backend.store()).unwrap();
    let writer = lease.writer().unwrap();
    let text = "t".repeat(INLINE_BYTES / 2);
    let count = 3 * SEGMENT_BYTES / text.len() as u64;
    let tickets: Vec<_> = (0..count)
        .map(|_| writer.append(vec![record(&text)], Durability::Written))
        .collect();
    for ticket in tickets {
        wait(ticket).unwrap();
    }
    wait(writer.shutdown()).unwrap();
    let sizes: Vec<u64> = backend
        .segments()
        .iter()
        .map(|s| backend.bytes(s).len() as u64)
        .collect();
    assert_eq!(
        sizes.len(),
        4,
        "three and the envelopes' share of a fourth: {sizes:?}"
    );
    assert!(sizes.iter().all(|s| *s <= SEGMENT_BYTES), "{sizes:?}");
    let scan = lease.scan().unwrap();
    assert_eq!((scan.records.len() as u64, scan.damage), (count, vec![]));
    assert!(scan.records.iter().all(|r| r.epoch == 1));
}

/// LOG-11
#[test]
fn a_newer_store_is_read_and_not_written() {
    for backend in backends() {
        run(&backend.store(), &[&["a"]]).unwrap();
        backend.overwrite(Path::new("STORE"), b"{\"format\":3,\"more\":true}\n");
        let store = backend.store();
        assert_eq!(texts(&store.read(&subject()).unwrap()), numbered(&["a"]));
        let claim = store.claim(&subject(), &Owner::current()).unwrap_err();
        let create = store.create(&subject(), &Owner::current()).unwrap_err();
        // Nobody may say of a layout that is not known that a session is not there.
        let missing = uuid::Uuid::nil().to_string().parse().unwrap();
        let missing = store.claim(&missing, &Owner::current()).unwrap_err();
        for error in [claim, create, missing] {
            assert!(
                matches!(error, LogError::TooNew { found: 3, known: 2 }),
                "{error}"
            );
        }
    }
}

/// LOG-5: more than goes to the disk at once.
#[test]
fn a_shutdown_writes_all_that_waits_however_much_it_is() {
    for backend in backends() {
        let lease = lease(&backend.store()).unwrap();
        let writer = lease.writer().unwrap();
        let long = "l".repeat(INLINE_BYTES - 64);
        let batch = || (0..40).map(|_| record(&long)).collect();
        let tickets: Vec<_> = (0..5)
            .map(|_| writer.append(batch(), Durability::Written))
            .collect();
        wait(writer.shutdown()).unwrap();
        for ticket in tickets {
            wait(ticket).unwrap();
        }
        assert_eq!(lease.scan().unwrap().records.len(), 200);
    }
}
