//! Clients that attach while a turn is in full flow.

use std::collections::HashMap;

use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, AttachMode, Cursor, Event, EventFrame, Item, ItemId, Replay, TurnOutcome, Verdict,
};

use crate::harness::{Client, durable, engine};

/// How much of a text a client has, and where the last delta of it ended.
#[derive(Default)]
struct Text {
    known: String,
    delta_end: u64,
}

impl Text {
    fn add(&mut self, offset: u64, more: &str) {
        let at = usize::try_from(offset).unwrap();
        assert!(at <= self.known.len(), "a gap before {offset}");
        let end = at + more.len();
        let both = end.min(self.known.len());
        assert_eq!(&self.known[at..both], &more[..both - at]);
        if end > self.known.len() {
            self.known.push_str(&more[both - at..]);
        }
    }
}

/// WIRE-9: nothing is missing and no delta comes twice, where text came in pieces; the end has it
/// all.
fn put_together(events: &[EventFrame]) {
    let mut texts: HashMap<ItemId, Text> = HashMap::new();
    for frame in events {
        let Some(item) = frame.item else { continue };
        match &frame.event {
            Event::ItemPartial { offset, text, .. } => {
                texts.entry(item).or_default().add(*offset, text);
            }
            Event::ItemDelta { offset, text, .. } => {
                let known = texts.entry(item).or_default();
                assert!(*offset >= known.delta_end, "a delta came twice");
                known.add(*offset, text);
                known.delta_end = *offset + text.len() as u64;
            }
            Event::ItemEnded {
                item: Item::AgentMessage { text, .. },
            } => {
                if let Some(known) = texts.get(&item) {
                    assert_eq!(known.known, *text);
                }
            }
            _ => {}
        }
    }
}

/// SQEQ-6, WIRE-9
async fn whoever_joins_in_full_flow_misses_nothing_and_gets_nothing_twice(store: Store) {
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    // The agent waits for its controller, which reads some of it for each that joins.
    let words = format!("{}call ", "say:abc ".repeat(20)).repeat(400) + "take";
    let turn = client.start(session, &words).await;
    let mut joined = Vec::new();
    for n in 0..30 {
        for _ in 0..40 {
            client.next().await;
        }
        let mut viewer = Client::connect(&engine).await;
        let newest = client.newest();
        let (replay, after) = match n % 3 {
            0 => (Replay::None, None),
            1 => (Replay::After(newest), Some(newest)),
            _ => (Replay::All, Some(Cursor::START)),
        };
        let verdict = viewer.attach(session, replay, AttachMode::View).await;
        let Verdict::Accepted(Accepted::Session(view)) = verdict else {
            panic!("{verdict:?}")
        };
        let ending = async move {
            assert_eq!(viewer.ended(turn).await, TurnOutcome::Completed);
            viewer.events
        };
        joined.push((after.unwrap_or(view.cursor), tokio::spawn(ending)));
    }
    client.steer(session, "enough").await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    let all = durable(&client.events);
    for (after, viewer) in joined {
        let events = viewer.await.unwrap();
        let expected = all.iter().filter(|frame| frame.cursor > Some(after));
        let expected: Vec<EventFrame> = expected.cloned().collect();
        assert_eq!(durable(&events), expected, "after {after}");
        put_together(&events);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_joins_in_full_flow_misses_nothing_and_gets_nothing_twice_in_memory() {
    whoever_joins_in_full_flow_misses_nothing_and_gets_nothing_twice(Store::in_memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_joins_in_full_flow_misses_nothing_and_gets_nothing_twice_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    whoever_joins_in_full_flow_misses_nothing_and_gets_nothing_twice(store).await;
}
