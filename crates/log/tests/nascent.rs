//! A log that is made where nobody looks: it appears whole or not at all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use sessiond_log::{
    Attachment, Detached, Durability, Health, LogError, NewRecord, Owner, Store, Sweep,
};
use support::{backends, run, subject, wait};

fn record(data: &str) -> NewRecord {
    NewRecord {
        kind: "k".to_owned(),
        at: "2026-11-30T12:00:00Z".to_owned(),
        data: data.to_owned(),
    }
}

fn write(store: &Store, records: &[String]) -> Result<sessiond_log::Nascent, LogError> {
    let nascent = store.conceive(&subject(), &Owner::current())?;
    let writer = nascent.writer()?;
    let records = records.iter().map(|data| record(data)).collect();
    wait(writer.append(records, Durability::Synced))?;
    wait(writer.shutdown())?;
    Ok(nascent)
}

#[test]
fn nobody_sees_it_before_it_is_settled_and_everybody_does_afterwards() {
    for backend in backends() {
        let store = backend.store();
        let nascent = write(&store, &["1".to_owned(), "2".to_owned()]).unwrap();
        assert!(!store.exists(&subject()).unwrap());
        assert_eq!(store.subjects().unwrap(), []);
        assert_eq!(store.holder(&subject()).unwrap(), None);
        nascent.settle().unwrap();
        assert_eq!(store.read(&subject()).unwrap().records.len(), 2);
        assert!(store.verify(&subject()).is_ok());
        run(&store, &[&["3"]]).unwrap();
        assert_eq!(store.read(&subject()).unwrap().records.len(), 3);
        let again = store.conceive(&subject(), &Owner::current());
        assert_eq!(again.unwrap_err().code(), "exists");
    }
}

#[test]
fn one_that_is_dropped_leaves_nothing() {
    for backend in backends() {
        let store = backend.store();
        drop(write(&store, &["1".to_owned()]).unwrap());
        assert_eq!(store.subjects().unwrap(), []);
        let swept = store.gc(Sweep::Remove, 0, &Owner::current(), &mut |_, _| ());
        assert_eq!(swept.unwrap().leftovers, 0);
    }
}

#[test]
fn of_two_that_are_made_at_once_the_second_one_finds_the_first() {
    for backend in backends() {
        let store = backend.store();
        let first = write(&store, &["1".to_owned()]).unwrap();
        let second = write(&store, &["2".to_owned()]).unwrap();
        first.settle().unwrap();
        assert_eq!(second.settle().unwrap_err().code(), "exists");
        assert_eq!(store.read(&subject()).unwrap().records.len(), 1);
    }
}

/// LOG-8: what is attached is kept once, out of line, as long as a record names it, and goes where
/// the log goes.
#[test]
fn an_attachment_is_kept_exported_forked_and_swept_with_the_record_that_names_it() {
    for backend in backends() {
        let store = backend.store();
        let nascent = store.conceive(&subject(), &Owner::current()).unwrap();
        let bytes = b"\0no text \xff".to_vec();
        let attachment = nascent.attach(&bytes).unwrap();
        let unnamed = nascent.attach(b"unnamed").unwrap();
        assert_eq!(attachment.bytes(), bytes.len() as u64);
        let named = serde_json::to_string(&[&attachment]).unwrap();
        let writer = nascent.writer().unwrap();
        let data = format!("{{\"$attached\":{named},\"x\":1}}");
        wait(writer.append(vec![record(&data)], Durability::Synced)).unwrap();
        wait(writer.shutdown()).unwrap();
        nascent.settle().unwrap();
        let of = |store: &Store, attachment| store.attachment(&subject(), attachment).unwrap();
        assert_eq!(of(&store, &attachment), Some(bytes.clone()));
        assert_eq!(of(&store, &unnamed), Some(b"unnamed".to_vec()));
        let swept = store.gc(Sweep::Remove, 0, &Owner::current(), &mut |_, _| ());
        assert_eq!(swept.unwrap().blobs, 1);
        assert_eq!(of(&store, &attachment), Some(bytes.clone()));
        assert_eq!(of(&store, &unnamed), None);
        assert_eq!(store.verify(&subject()).unwrap().detached, []);
        let mut file = Vec::new();
        store.export(&subject(), &mut file).unwrap();
        let there = Store::in_memory();
        there.import(&mut file.as_slice(), None).unwrap();
        assert_eq!(of(&there, &attachment), Some(bytes.clone()));
        let child = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11".parse().unwrap();
        let lease = store.claim(&subject(), &Owner::current()).unwrap();
        drop(lease.fork(1, &child, &Owner::current()).unwrap());
        assert_eq!(store.attachment(&child, &attachment).unwrap(), Some(bytes));
    }
}

/// LOG-3: an attachment that is gone, or is another, is found and named by the record that has it.
#[test]
fn a_lost_attachment_is_found_and_the_log_beside_it_is_sound() {
    for backend in backends() {
        let store = backend.store();
        let nascent = store.conceive(&subject(), &Owner::current()).unwrap();
        let attached = [nascent.attach(b"kept"), nascent.attach(b"lost")].map(Result::unwrap);
        let writer = nascent.writer().unwrap();
        let data = |named: &[Attachment]| {
            let named = serde_json::to_string(named).unwrap();
            record(&format!("{{\"$attached\":{named},\"x\":1}}"))
        };
        let records = vec![data(&attached[..1]), data(&attached), data(&attached)];
        wait(writer.append(records, Durability::Synced)).unwrap();
        wait(writer.shutdown()).unwrap();
        nascent.settle().unwrap();
        assert_eq!(store.verify(&subject()).unwrap().detached, []);
        let named = serde_json::to_value(&attached[1]).unwrap();
        let name = named["name"].as_str().unwrap();
        let place = store.verify(&subject()).unwrap();
        let lost = Detached {
            name: name.to_owned(),
            seq: 2,
            bytes: 4,
        };
        let path = place.attachment(&lost);
        for replaced in [Some(&b"mist"[..]), None] {
            match replaced {
                Some(other) => backend.overwrite(&path, other),
                None => backend.fs.remove(&path).unwrap(),
            }
            let report = store.verify(&subject()).unwrap();
            assert_eq!(
                report.detached,
                std::slice::from_ref(&lost),
                "{}",
                backend.name
            );
            assert_eq!((report.health, report.records), (Health::Clean, 3));
        }
    }
}
