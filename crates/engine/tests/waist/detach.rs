//! A controller that goes and leaves its turn to itself.

use sessiond_log::Store;
use sessiond_protocol::{
    AttachMode, Event, EventFrame, OnDisconnect, Op, Outcome, Replay, RequestId, RequestKind,
    SessionId, SessionNew, TurnOutcome, Verdict,
};

use crate::harness::{Client, engine};

async fn session_that_goes_on(client: &mut Client) -> SessionId {
    let new = SessionNew {
        setup: Default::default(),
        id: None,
        cwd: "/w".into(),
        agent: None,
        answers: vec![RequestKind::Permission],
        on_disconnect: OnDisconnect::Detach,
    };
    client.create(new).await
}

fn opened(events: &[EventFrame]) -> Vec<RequestId> {
    let opened = |frame: &EventFrame| match &frame.event {
        Event::RequestOpened { request, .. } => Some(*request),
        _ => None,
    };
    events.iter().filter_map(opened).collect()
}

fn allow() -> Outcome {
    let option = "allow_once".into();
    Outcome::Selected { option }
}

/// SQEQ-7, WIRE-8: the turn waits for whoever comes next, who is asked after the receipt.
async fn the_next_controller_answers(store: Store) {
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    let session = session_that_goes_on(&mut client).await;
    let turn = client
        .start(session, "say:one ask say:two ask say:three")
        .await;
    let old = client.request().await;
    let seen = client.events.iter().filter_map(|frame| frame.cursor).max();
    drop(client);

    let mut next = Client::connect(&engine).await;
    let verdict = loop {
        // The engine may still take the old client for alive.
        let replay = Replay::After(seen.unwrap());
        match next.attach(session, replay, AttachMode::Control).await {
            Verdict::Error(error) if error.holder.is_some() => {}
            verdict => break verdict,
        }
    };
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
    assert_eq!(opened(&next.events), [], "it was asked before the cursor");
    let request = next.request().await;
    assert_ne!(request.id, old.id);
    assert_eq!(request.item, old.item);
    next.answer(&old, allow()).await;
    while next.errors.is_empty() {
        next.next().await;
    }
    next.answer(&request, allow()).await;
    while next.requests.iter().any(|open| open.id == request.id) {
        next.next().await;
    }
    let second = next.request().await;
    next.answer(&second, allow()).await;
    assert_eq!(next.ended(turn).await, TurnOutcome::Completed);
    assert_eq!(next.said(), ["two", "three"]);
}

#[tokio::test]
async fn a_question_waits_for_the_next_controller_when_the_client_is_gone() {
    the_next_controller_answers(Store::in_memory()).await;
}

#[tokio::test]
async fn a_question_waits_for_the_next_controller_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    the_next_controller_answers(store).await;
}

/// SQEQ-7
#[tokio::test]
async fn what_is_asked_while_nobody_is_there_is_asked_of_who_comes() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = session_that_goes_on(&mut client).await;
    let turn = client.start(session, "take ask").await;
    let mut viewer = Client::connect(&engine).await;
    viewer.attach(session, Replay::All, AttachMode::View).await;
    client.steer(session, "more").await;
    client.submit(Some(session), Op::SessionDetach {}).await;
    while opened(&viewer.events).is_empty() {
        viewer.next().await;
    }
    client.resume(session, Replay::None).await;
    let request = client.request().await;
    client.answer(&request, allow()).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    assert_eq!(viewer.ended(turn).await, TurnOutcome::Completed);
}

/// SQEQ-7: a client that detaches is asked nothing any more, and its turn ends without it.
#[tokio::test]
async fn a_turn_that_was_left_to_itself_ends_and_is_there_for_the_next_client() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = session_that_goes_on(&mut client).await;
    let turn = client.start(session, "take call say:done").await;
    client.steer(session, "more").await;
    drop(client);
    engine.drain().await.unwrap();
    let mut next = Client::connect(&engine).await;
    next.resume(session, Replay::All).await;
    assert_eq!(next.ended(turn).await, TurnOutcome::Completed);
    assert_eq!(next.said(), ["more", "done"]);
}
