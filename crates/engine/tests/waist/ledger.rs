//! What was done once is not done again: keys of submissions, and the record of each tool call.

use std::{path::Path, sync::Arc};

use crate::harness::{Client, engine};
use sessiond_log::{
    Store,
    fs::{CrashFs, Fs, Loss},
};
use sessiond_protocol::{
    Accepted, Content, Event, EventFrame, IfBusy, Item, ItemId, Op, Outcome, Replay, SessionId,
    ToolStatus, TurnId, TurnOutcome, Verdict,
};

fn keyed(key: &str, text: &str) -> Op {
    Op::TurnStart {
        input: vec![Content::text(text)],
        if_busy: IfBusy::Queue,
        idempotency_key: Some(key.to_owned().try_into().unwrap()),
    }
}

fn store(fs: Arc<dyn Fs>) -> Store {
    Store::open(fs, Path::new("/store")).unwrap()
}

async fn turn(client: &mut Client, session: SessionId, op: Op) -> TurnId {
    match client.submit(Some(session), op).await {
        Verdict::Accepted(Accepted::Turn { turn } | Accepted::Repeated { turn, .. }) => turn,
        other => panic!("{other:?}"),
    }
}

/// Runs a life on a store that ends in the middle: on one thread a runtime that is dropped runs
/// nothing any more, which is death as far as tasks go.
pub(crate) fn dies<T>(life: impl Future<Output = T>) -> T {
    let dying = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    dying.block_on(life)
}

/// RESUME-4, RESUME-6: a submission whose process died is answered as before, and not run again.
#[test]
fn a_key_stands_for_its_turn_though_the_process_died_under_it() {
    let store = Store::in_memory();
    let (session, turns) = dies(async {
        let engine = engine(store.clone());
        let mut client = Client::connect(&engine).await;
        let session = client.new_session().await;
        let runs = turn(&mut client, session, keyed("a", "hang")).await;
        let waits = turn(&mut client, session, keyed("b", "say:b")).await;
        std::mem::forget((client, engine));
        (session, [runs, waits])
    });
    let living = tokio::runtime::Runtime::new().unwrap();
    living.block_on(async {
        let engine = engine(store);
        let mut client = Client::connect(&engine).await;
        client.resume(session, Replay::All).await;
        let again = [keyed("a", "hang"), keyed("b", "say:b")];
        for (op, first) in again.into_iter().zip(turns) {
            assert_eq!(turn(&mut client, session, op).await, first);
        }
        let ends = [client.ended(turns[0]).await, client.ended(turns[1]).await];
        assert_eq!(ends, [TurnOutcome::Interrupted, TurnOutcome::NotRun]);
        assert_eq!(client.said(), [""; 0]);
        assert_eq!(client.turn(session, "say:on").await, TurnOutcome::Completed);
        assert_eq!(client.said(), ["on"]);
    });
}

/// LOG-5: what was told under a key before the power failed is told after it.
#[tokio::test]
async fn whenever_the_power_fails_a_key_that_was_answered_keeps_its_turn() {
    let disk = CrashFs::new();
    let mut told = Vec::new();
    let session = {
        let engine = engine(store(Arc::new(disk.clone())));
        let mut client = Client::connect(&engine).await;
        let session = client.new_session().await;
        for key in ["a", "b"] {
            let turn = turn(&mut client, session, keyed(key, "say:x")).await;
            told.push((disk.changes(), key, turn));
            client.ended(turn).await;
        }
        session
    };
    for point in 0..=disk.changes() {
        for loss in [Loss::Everything, Loss::Nothing, Loss::Some(point as u64)] {
            let engine = engine(store(Arc::new(disk.after_crash(point, loss))));
            let mut client = Client::connect(&engine).await;
            let resumed = client.resume(session, Replay::None).await;
            for (at, key, first) in &told {
                if *at > point || matches!(resumed, Verdict::Error(_)) {
                    assert!(*at > point, "point {point}, {loss:?}: {resumed:?}");
                    continue;
                }
                let again = turn(&mut client, session, keyed(key, "say:x")).await;
                assert_eq!(again, *first, "point {point}, {loss:?}: {key}");
            }
        }
    }
}

/// What the log says of one call, in order.
fn of_call(events: &[EventFrame], call: ItemId) -> Vec<&EventFrame> {
    let events = events.iter().filter(|frame| frame.cursor.is_some());
    events.filter(|frame| frame.item == Some(call)).collect()
}

fn a_call(events: &[EventFrame]) -> Option<ItemId> {
    let started = events.iter().find(|frame| {
        matches!(
            &frame.event,
            Event::ItemStarted {
                item: Item::ToolCall(_)
            }
        )
    });
    started?.item
}

/// TASK-5: an attempt is one item. It is on record before it may begin and with its authorisation;
/// its result and its status are one record; one without that has an unknown outcome, and nothing
/// runs it again.
#[test]
fn a_tool_call_is_prepared_authorised_and_ended_by_one_record_each_and_unknown_without_an_end() {
    let store = Store::in_memory();
    let session = dies(async {
        let engine = engine(store.clone());
        let mut client = Client::connect(&engine).await;
        let session = client.new_session().await;
        let turn = client.start(session, "ask").await;
        let request = client.request().await;
        let option = "allow_once".to_owned();
        client.answer(&request, Outcome::Selected { option }).await;
        assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
        let call = a_call(&client.events).unwrap();
        let records = of_call(&client.events, call);
        let kinds: Vec<&str> = records.iter().map(|frame| frame.event.kind()).collect();
        let whole = [
            "item.started",
            "request.opened",
            "request.closed",
            "item.ended",
        ];
        assert_eq!(kinds, whole);
        // The second attempt gets no further than its question.
        client.start(session, "ask").await;
        client.request().await;
        std::mem::forget((client, engine));
        session
    });
    let living = tokio::runtime::Runtime::new().unwrap();
    living.block_on(async {
        let engine = engine(store);
        let mut client = Client::connect(&engine).await;
        client.resume(session, Replay::All).await;
        client.turn(session, "say:on").await;
        let ends = client.events.iter().filter_map(|frame| match &frame.event {
            Event::ItemEnded {
                item: Item::ToolCall(call),
            } if frame.cursor.is_some() => Some(call.status),
            _ => None,
        });
        let ends: Vec<ToolStatus> = ends.collect();
        assert_eq!(ends, [ToolStatus::Completed, ToolStatus::Unknown]);
    });
}
