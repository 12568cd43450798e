//! Pages of a session's events, read without attaching.

use crate::harness::{Client, engine};
use sessiond_log::Store;
use sessiond_protocol::{Accepted, Cursor, Extent, Op, SessionId, TurnOutcome, Verdict};

/// WIRE-4, RESUME-11: pages follow each other in order, with no gap and no duplicate.
#[tokio::test]
async fn a_page_of_large_events_ends_before_it_is_a_mebibyte_and_the_next_goes_on() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    for _ in 0..8 {
        let prompt = "x".repeat(150_000);
        assert_eq!(client.turn(session, &prompt).await, TurnOutcome::Completed);
    }
    let (mut after, mut cursors, mut pages) = (Cursor::START, Vec::new(), 0);
    loop {
        let read = Op::SessionRead {
            after,
            before: None,
            limit: None,
            extent: Default::default(),
        };
        let Verdict::Accepted(Accepted::Events { events, next }) =
            client.submit(Some(session), read).await
        else {
            panic!("refused")
        };
        assert!(serde_json::to_string(&events).unwrap().len() < 1 << 20);
        cursors.extend(events.iter().map(|event| event["cursor"].as_u64().unwrap()));
        pages += 1;
        match next {
            Some(next) => after = next,
            None => break,
        }
    }
    assert!(pages > 3, "{pages} pages");
    let all: Vec<_> = (1..=cursors.len() as u64).collect();
    assert_eq!(cursors, all, "no gap and no duplicate");
}

/// RESUME-11: pages from the log's end are those from its beginning, whatever a page holds, and what is
/// not in force is left out where only the conversation is read.
#[tokio::test]
async fn pages_can_be_read_from_either_end_of_a_log() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    for turn in 0..12 {
        // Enough for more than one segment.
        let prompt = format!("{turn} {}", "x".repeat(60_000 * (turn % 3)));
        assert_eq!(client.turn(session, &prompt).await, TurnOutcome::Completed);
    }
    let all = read_all(&mut client, (session, None, None), Extent::All).await;
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let newest = Some(Cursor(u64::MAX));
    for limit in [None, Some(1), Some(5)] {
        let back = read_all(&mut client, (session, newest, limit), Extent::All).await;
        assert_eq!(back, all, "{limit:?}");
    }
    let between = Op::SessionRead {
        after: Cursor(3),
        before: Some(Cursor(9)),
        limit: Some(4),
        extent: Extent::All,
    };
    let (events, next) = page(&mut client, session, between).await;
    assert_eq!((events, next), (vec![5, 6, 7, 8], Some(Cursor(5))));
    let clear = client.submit(Some(session), Op::SessionClear {}).await;
    assert!(matches!(clear, Verdict::Accepted(_)), "{clear:?}");
    assert_eq!(client.turn(session, "anew").await, TurnOutcome::Completed);
    for before in [None, newest] {
        let read = (session, before, Some(2));
        let shown = read_all(&mut client, read, Extent::Conversation).await;
        assert!(shown.len() >= 3, "{shown:?}");
        assert!(
            shown.iter().all(|cursor| *cursor > all.len() as u64),
            "{shown:?}"
        );
    }
}

/// A page: its cursors, and the next one's.
async fn page(client: &mut Client, session: SessionId, op: Op) -> (Vec<u64>, Option<Cursor>) {
    let read = client.submit(Some(session), op).await;
    let Verdict::Accepted(Accepted::Events { events, next }) = read else {
        panic!("{read:?}")
    };
    let cursor = |event: &serde_json::Value| event["cursor"].as_u64().unwrap();
    (events.iter().map(cursor).collect(), next)
}

/// All cursors in order, read page by page from the end that `before` names.
async fn read_all(
    client: &mut Client,
    (session, mut before, limit): (SessionId, Option<Cursor>, Option<u32>),
    extent: Extent,
) -> Vec<u64> {
    let (mut after, mut all) = (Cursor::START, Vec::new());
    loop {
        let op = Op::SessionRead {
            after,
            before,
            limit,
            extent,
        };
        let (mut events, next) = page(client, session, op).await;
        if before.is_some() {
            events.append(&mut all);
            all = events;
        } else {
            all.append(&mut events);
        }
        match (next, &mut before) {
            (None, _) => return all,
            (Some(next), Some(before)) => *before = next,
            (Some(next), None) => after = next,
        }
    }
}
