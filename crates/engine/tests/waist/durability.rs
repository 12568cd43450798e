//! Nothing that a client was told is lost: not by a failing disk, a power cut or a dead process.

use std::{path::Path, sync::Arc};

use crate::harness::{Client, engine};
use sessiond_log::{
    Store,
    fs::{CrashFs, Fault, FaultFs, Fs, Loss, MemoryFs, Repeat},
};
use sessiond_protocol::{
    Accepted, Content, ErrorCode, Event, EventFrame, Finish, IfBusy, Item, Op, Replay, SessionId,
    SessionNew, ToolStatus, TurnId, TurnOutcome, Verdict,
};

const ROOT: &str = "/store";

fn store(fs: Arc<dyn Fs>) -> Store {
    Store::open(fs, Path::new(ROOT)).unwrap()
}

/// The turns of a session that its log says completed.
async fn completed(store: Store, session: SessionId) -> Vec<TurnId> {
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    let read = Op::SessionRead {
        after: Default::default(),
        before: None,
        limit: None,
        extent: Default::default(),
    };
    let events = match client.submit(Some(session), read).await {
        Verdict::Accepted(Accepted::Events { events, .. }) => events,
        Verdict::Error(error) if error.code == ErrorCode::NotFound => Vec::new(),
        other => panic!("{other:?}"),
    };
    let frames = events
        .into_iter()
        .map(|event| serde_json::from_value(event).unwrap());
    let ended = |frame: EventFrame| match frame.event {
        Event::TurnEnded(ended) if ended.outcome == TurnOutcome::Completed => frame.turn,
        _ => None,
    };
    frames.filter_map(ended).collect()
}

/// A client's two turns; what it was told that completed, and when by `clock`.
async fn two_turns(
    store: Store,
    clock: impl Fn() -> usize,
) -> Option<(SessionId, Vec<(usize, TurnId)>)> {
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    let new = SessionNew {
        setup: Default::default(),
        id: None,
        cwd: "/w".into(),
        agent: None,
        answers: Vec::new(),
        on_disconnect: Default::default(),
    };
    let made = client.submit(None, Op::SessionNew(new)).await;
    let Verdict::Accepted(Accepted::Session(view)) = made else {
        return None;
    };
    let mut told = Vec::new();
    for prompt in ["say:one call", "say:two"] {
        let input = vec![Content::text(prompt)];
        let op = Op::TurnStart {
            input,
            if_busy: IfBusy::Reject,
            idempotency_key: None,
        };
        // A refused prompt is an answer too: nothing was promised.
        let started = client.submit(Some(view.session), op).await;
        let Verdict::Accepted(Accepted::Turn { turn }) = started else {
            continue;
        };
        if client.ended(turn).await == TurnOutcome::Completed {
            told.push((clock(), turn));
        }
        let is_end = |frame: &&EventFrame| {
            frame.turn == Some(turn) && matches!(frame.event, Event::TurnEnded(_))
        };
        let end = client.events.iter().find(is_end);
        assert!(end.is_some_and(|end| end.cause.is_some()), "{end:?}");
    }
    Some((view.session, told))
}

/// LOG-5, LOG-6; the end of a turn that the disk failed names what asked for it, as every end does.
#[tokio::test]
async fn whichever_operation_of_the_disk_fails_every_prompt_is_answered_and_no_answer_is_lost() {
    for repeat in [Repeat::Once, Repeat::Sticky] {
        let mut failures = 0;
        for fail_at in 1.. {
            let disk = Arc::new(MemoryFs::new());
            let faulty = FaultFs::new(disk.clone(), fail_at, Fault::Torn, repeat);
            let Ok(opened) = Store::open(Arc::new(faulty.clone()), Path::new(ROOT)) else {
                continue;
            };
            if let Some((session, told)) = two_turns(opened, || 0).await {
                failures += usize::from(told.len() < 2);
                let stored = completed(store(disk), session).await;
                for (_, turn) in told {
                    assert!(
                        stored.contains(&turn),
                        "operation {fail_at}: {turn} is lost"
                    );
                }
            }
            if faulty.operations() < fail_at {
                break;
            }
        }
        assert!(failures > 3, "the faults must have hit turns: {failures}");
    }
}

/// LOG-5
#[tokio::test]
async fn whenever_the_power_fails_what_was_told_before_is_there_after() {
    let disk = CrashFs::new();
    let clock = disk.clone();
    let run = two_turns(store(Arc::new(disk.clone())), move || clock.changes()).await;
    let (session, told) = run.unwrap();
    assert_eq!(told.len(), 2);
    for point in 0..=disk.changes() {
        for loss in [
            Loss::Everything,
            Loss::Nothing,
            Loss::Some(7),
            Loss::Some(point as u64),
        ] {
            let after = store(Arc::new(disk.after_crash(point, loss)));
            let stored = completed(after, session).await;
            for (at, turn) in &told {
                assert!(
                    *at > point || stored.contains(turn),
                    "point {point}, {loss:?}: lost"
                );
            }
        }
    }
}

/// RESUME-3, RESUME-6, LOG-17
#[test]
fn what_a_dead_process_left_open_is_closed_the_same_in_every_load() {
    let store = Store::in_memory();
    // On one thread a runtime that is dropped runs nothing any more: death, as far as tasks go.
    let dying = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (session, turn) = dying.block_on(async {
        let engine = engine(store.clone());
        let mut client = Client::connect(&engine).await;
        let session = client.new_session().await;
        let turn = client.start(session, "say:shown ask").await;
        client.request().await;
        std::mem::forget((client, engine));
        (session, turn)
    });
    drop(dying);
    let living = tokio::runtime::Runtime::new().unwrap();
    living.block_on(async {
        let mut loads = Vec::new();
        for _ in 0..2 {
            let engine = engine(store.clone());
            let mut client = Client::connect(&engine).await;
            let resumed = client.resume(session, Replay::All).await;
            assert!(matches!(resumed, Verdict::Accepted(_)), "{resumed:?}");
            assert_eq!(client.ended(turn).await, TurnOutcome::Interrupted);
            loads.push(std::mem::take(&mut client.events));
            drop(client);
            engine.drain().await.unwrap();
        }
        assert_eq!(loads.first(), loads.last());
        let items = loads.concat().into_iter().filter_map(|frame| match frame.event {
            Event::ItemEnded { item } => Some(item),
            _ => None,
        });
        let items: Vec<Item> = items.collect();
        let shown = Item::AgentMessage { text: "shown".into(), finish: Finish::Whole };
        assert_eq!(items.iter().filter(|item| **item == shown).count(), 2, "{items:?}");
        let unknown = |item: &&Item| {
            matches!(item, Item::ToolCall(call) if call.status == ToolStatus::Unknown)
        };
        assert_eq!(items.iter().filter(unknown).count(), 2, "{items:?}");
    });
}
