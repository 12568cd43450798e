//! A log on a disk in memory, and what must hold of whatever is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sessiond_log::fs::MemoryFs;
use sessiond_log::{Durability, NewRecord, Owner, Scan, Store, Subject};

const ID: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10";

pub fn subject() -> Subject {
    ID.parse().unwrap()
}

pub fn store(fs: &MemoryFs) -> Store {
    Store::open(Arc::new(fs.clone()), Path::new("fuzz")).unwrap()
}

/// The `number`-th segment, as the first of its records is `first_seq`.
pub fn segment(number: u32, first_seq: u64) -> PathBuf {
    Path::new("sessions")
        .join(ID)
        .join("log")
        .join(format!("{number:08}-{first_seq:020}.jsonl"))
}

pub fn record(text: &str) -> NewRecord {
    NewRecord {
        kind: "item.ended".to_owned(),
        at: "2026-11-30T00:00:00Z".to_owned(),
        data: format!("{{\"text\":\"{text}\"}}"),
    }
}

/// Claims the log, or makes it, and appends one record; `None` where that is refused.
pub fn append(store: &Store, text: &str) -> Option<u64> {
    let owner = Owner::current();
    let lease = store
        .claim(&subject(), &owner)
        .or_else(|_| store.create(&subject(), &owner));
    let writer = lease.ok()?.writer().ok()?;
    let wait = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let ticket = writer.append(vec![record(text)], Durability::Synced);
    let appended = wait.block_on(ticket).unwrap();
    wait.block_on(writer.shutdown()).unwrap();
    Some(appended.first_seq)
}

/// Whatever was read: it is in order, it is read again alike, and the log goes on behind it.
pub fn check(store: &Store) -> Scan {
    let scan = store.read(&subject()).unwrap();
    assert!(
        scan.records
            .windows(2)
            .all(|pair| pair[0].seq < pair[1].seq)
    );
    assert!(
        scan.records
            .last()
            .is_none_or(|last| last.seq < scan.next_seq)
    );
    assert_eq!(store.read(&subject()).unwrap(), scan);
    let _verified = store.verify(&subject());
    let is_blank = scan.is_blank();
    if let Some(seq) = append(store, "appended") {
        let after = store.read(&subject()).unwrap();
        let last = after.records.last().unwrap();
        assert_eq!((last.seq, &*last.data), (seq, "{\"text\":\"appended\"}"));
        if !is_blank {
            // What reads as empty is set aside; everything else stays where it is.
            assert!(seq >= scan.next_seq, "{seq} was given before");
            assert!(after.records.starts_with(&scan.records));
        }
    }
    scan
}
