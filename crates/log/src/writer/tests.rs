use super::schedule_tests::explore;
use super::{Durability, QUEUE_BYTES};
use crate::{NewRecord, Owner, Store};

/// The bound of the queue: a disk that stalls makes appends fail, not the memory full.
#[test]
fn a_full_queue_refuses_a_batch_and_takes_the_next_once_there_is_room() {
    explore(3, a_full_queue);
}

fn a_full_queue() {
    let subject = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10".parse().unwrap();
    let lease = Store::in_memory()
        .create(&subject, &Owner::current())
        .unwrap();
    let writer = lease.writer().unwrap();
    let large = || NewRecord {
        kind: "item.ended".to_owned(),
        at: "2026-11-29T12:00:00Z".to_owned(),
        data: format!("\"{}\"", "x".repeat(1024 * 1024)),
    };
    // While the test holds the appender, the disk makes no progress.
    let stalled = writer.shared.appender();
    let batches = QUEUE_BYTES / (1024 * 1024) + 8;
    let tickets: Vec<_> = (0..batches)
        .map(|_| writer.append(vec![large()], Durability::Written))
        .collect();
    let taken = writer.next_seq() - 1;
    assert!(taken < batches);
    drop(stalled);
    let outcomes: Vec<_> = tickets.into_iter().map(shuttle::future::block_on).collect();
    let (good, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(good.len() as u64, taken);
    assert!(
        refused
            .into_iter()
            .all(|r| r.unwrap_err().code() == "queue_full")
    );
    shuttle::future::block_on(writer.ready());
    let appended =
        shuttle::future::block_on(writer.append(vec![large()], Durability::Synced)).unwrap();
    assert_eq!(appended.first_seq, taken + 1);
}
