//! What becomes of input while a turn is active, and how turns are stopped, through the waist.

use std::sync::atomic::Ordering;

use sessiond_engine::TurnContext;
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Content, Event, EventFrame, IfBusy, Item, Op, Queued, Replay, SessionId, TurnId,
    TurnOutcome, Verdict,
};

use crate::harness::{Client, ENDED, engine};

/// What the obedient agent knows of a cancellation.
pub(crate) fn told(context: &TurnContext) -> &'static str {
    if context.is_cancelled() {
        "cancelled"
    } else {
        "go on"
    }
}

fn start(text: &str, (if_busy, key): (IfBusy, Option<&str>)) -> Op {
    Op::TurnStart {
        input: vec![Content::text(text)],
        if_busy,
        idempotency_key: key.map(|key| key.to_owned().try_into().unwrap()),
    }
}

async fn turn_of(client: &mut Client, session: SessionId, op: Op) -> TurnId {
    match client.submit(Some(session), op).await {
        Verdict::Accepted(Accepted::Turn { turn } | Accepted::Repeated { turn, .. }) => turn,
        other => panic!("{other:?}"),
    }
}

/// The texts of a turn in the order they ended, the user's and the agent's.
fn texts(client: &Client, turn: TurnId) -> Vec<String> {
    let of = |frame: &&EventFrame| frame.turn == Some(turn);
    let text = |frame: &EventFrame| match &frame.event {
        Event::ItemEnded {
            item: Item::UserMessage { content },
        } => Some(content.first()?.as_text()?.to_owned()),
        Event::ItemEnded {
            item: Item::AgentMessage { text, .. },
        } => Some(text.clone()),
        _ => None,
    };
    client.events.iter().filter(of).filter_map(text).collect()
}

/// SQEQ-2
#[tokio::test]
async fn a_steer_reaches_the_agent_that_runs_and_the_conversation() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    for (prompt, said) in [
        ("take say:end", &["take say:end", "added", "addedend"][..]),
        // What the agent does not take becomes its next prompt in the same turn.
        ("leave say:end", &["leave say:end", "added", "end", "added"]),
    ] {
        let turn = client.start(session, prompt).await;
        let steer = Op::TurnSteer {
            input: vec![Content::text("added")],
            turn: Some(turn),
        };
        assert_eq!(turn_of(&mut client, session, steer).await, turn);
        assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
        assert_eq!(texts(&client, turn), said, "{prompt}");
    }
}

/// SQEQ-3: the end of the one comes before the start of the other.
#[tokio::test]
async fn a_replacement_begins_when_the_replaced_turn_has_ended() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    for prompt in ["hang", "stubborn"] {
        let first = client.start(session, prompt).await;
        let waiting = client.start(session, "say:waits").await;
        let instead = start("say:instead", (IfBusy::Replace, None));
        let instead = turn_of(&mut client, session, instead).await;
        assert_eq!(client.ended(waiting).await, TurnOutcome::Completed);
        let begun = |frame: &&EventFrame| {
            matches!(frame.event, Event::TurnStarted { .. } | Event::TurnEnded(_))
        };
        let order: Vec<_> = client.events.iter().filter(begun).collect();
        let order: Vec<_> = order.iter().rev().take(6).rev().map(|f| f.turn).collect();
        let turns = [first, first, instead, instead, waiting, waiting];
        assert_eq!(order, turns.map(Some));
        assert_eq!(client.ended(first).await, TurnOutcome::Cancelled);
    }
}

/// RESUME-4: one body, on memory and on disk.
async fn a_key_stands_for_its_turn_in_the_next_process_too(store: Store) {
    let keyed = |text: &str| start(text, (IfBusy::Queue, Some("mine")));
    let mut first = None;
    let mut session = None;
    for _ in 0..3 {
        let engine = engine(store.clone());
        let mut client = Client::connect(&engine).await;
        let session = match session {
            Some(session) => {
                client.resume(session, Replay::All).await;
                session
            }
            None => *session.insert(client.new_session().await),
        };
        let turn = turn_of(&mut client, session, keyed("say:once")).await;
        assert_eq!(*first.get_or_insert(turn), turn);
        assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
        assert_eq!(client.said(), ["once"]);
        let other = client.submit(Some(session), keyed("say:more")).await;
        let Verdict::Error(error) = other else {
            panic!("{other:?}")
        };
        assert_eq!(error.turn, Some(turn));
        drop(client);
        engine.drain().await.unwrap();
    }
}

#[tokio::test]
async fn a_key_stands_for_its_turn_in_memory() {
    a_key_stands_for_its_turn_in_the_next_process_too(Store::in_memory()).await;
}

#[tokio::test]
async fn a_key_stands_for_its_turn_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    a_key_stands_for_its_turn_in_the_next_process_too(store).await;
}

/// TASK-4: also where the agent itself had to be dropped.
#[tokio::test]
async fn a_turn_ends_when_what_its_agent_left_behind_has_ended() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let turn = client.start(session, "linger").await;
    while client
        .events
        .iter()
        .all(|frame| frame.event.kind() != "item.delta")
    {
        client.next().await;
    }
    let interrupt = Op::TurnInterrupt {
        turn: None,
        queued: Queued::Keep,
    };
    client.submit(Some(session), interrupt).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Cancelled);
    assert_eq!(ENDED.load(Ordering::SeqCst), 1);
}

/// SQEQ-4: before the agent has started.
#[tokio::test]
async fn a_cancel_that_comes_before_the_agent_starts_is_known_to_it() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let begin = start("told", (IfBusy::Reject, None));
    let begin = client.send(Some(session), begin).await;
    let interrupt = Op::TurnInterrupt {
        turn: None,
        queued: Queued::Keep,
    };
    let interrupt = client.send(Some(session), interrupt).await;
    let Verdict::Accepted(Accepted::Turn { turn }) = client.receipt(begin).await else {
        panic!("a turn")
    };
    client.receipt(interrupt).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Cancelled);
    assert_eq!(texts(&client, turn), ["told", "cancelled"]);
}

/// Who comes while a session is being closed is sent away, or has it in full.
#[tokio::test]
async fn a_resume_right_behind_a_close_gets_a_session_that_lives_or_none() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    for _ in 0..50 {
        client.turn(session, "say:x").await;
        let close = client.send(Some(session), Op::SessionClose {}).await;
        let resumed = client.resume(session, Replay::None).await;
        // The receipt of the close came before.
        drop(close);
        let mut resumed = matches!(resumed, Verdict::Accepted(_));
        while !resumed {
            let again = client.resume(session, Replay::None).await;
            resumed = matches!(again, Verdict::Accepted(_));
        }
    }
    assert_eq!(client.turn(session, "say:y").await, TurnOutcome::Completed);
}

/// SQEQ-4: a submission that waits is taken back by its connection, which names no session.
#[tokio::test]
async fn what_waits_is_taken_back() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let runs = client.start(session, "hang").await;
    let mut queued = Vec::new();
    for text in ["say:one", "say:two"] {
        let op = start(text, (IfBusy::Queue, None));
        let id = client.send(Some(session), op).await;
        match client.receipt(id.clone()).await {
            Verdict::Accepted(Accepted::Turn { turn }) => queued.push((id, turn)),
            other => panic!("{other:?}"),
        }
    }
    let (kept, (withdrawn, turn)) = (queued[1].1, queued[0].clone());
    client.withdraw(withdrawn).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Cancelled);
    assert_eq!(client.ended_already(runs), None);
    let interrupt = Op::TurnInterrupt {
        turn: Some(runs),
        queued: Queued::Keep,
    };
    client.submit(Some(session), interrupt).await;
    assert_eq!(client.ended(kept).await, TurnOutcome::Completed);
    assert_eq!(client.said(), ["two"]);
}
