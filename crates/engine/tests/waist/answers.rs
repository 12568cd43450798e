//! Answers that come too late, from elsewhere or altered change nothing and are counted.

use crate::harness::{Client, engine};
use crate::ledger::dies;
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, ErrorCode, Event, OnDisconnect, Op, Outcome, Replay, RequestFrame, RequestKind,
    SessionId, SessionResume, TurnOutcome, Verdict,
};

fn allow() -> Outcome {
    let option = "allow_once".to_owned();
    Outcome::Selected { option }
}

/// Answers, and waits until that is refused.
async fn refused(client: &mut Client, request: &RequestFrame, outcome: Outcome) {
    let before = client.errors.len();
    client.answer(request, outcome).await;
    while client.errors.len() == before {
        client.next().await;
    }
    let error = client.errors.last().map(|error| error.code);
    assert_eq!(error, Some(ErrorCode::Refused));
}

/// How many answers each request had refused, as its end says.
fn counted(client: &Client) -> Vec<u64> {
    let refused = |event: &Event| match event {
        Event::RequestClosed { refused, .. } => Some(*refused),
        _ => None,
    };
    let events = client.events.iter();
    events.filter_map(|frame| refused(&frame.event)).collect()
}

/// WIRE-7, WIRE-8
#[tokio::test]
async fn refused_answers_leave_the_request_open_and_its_end_counts_them() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let turn = client.start(session, "ask").await;
    let request = client.request().await;
    let mut altered = request.clone();
    altered.digest = "0".repeat(32);
    refused(&mut client, &altered, allow()).await;
    refused(&mut client, &request, Outcome::Done).await;
    // Another client that learned of the request is not asked.
    let mut stranger = Client::connect(&engine).await;
    refused(&mut stranger, &request, allow()).await;
    client.answer(&request, allow()).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    refused(&mut client, &request, allow()).await;
    assert_eq!(counted(&client), [2], "by the connection that was asked");
}

/// WIRE-8: a request of a run of the session is none of the next.
#[test]
fn an_answer_to_a_request_of_a_dead_process_is_refused() {
    let store = Store::in_memory();
    let (session, request) = dies(async {
        let engine = engine(store.clone());
        let mut client = Client::connect(&engine).await;
        let session = client.new_session().await;
        client.start(session, "ask").await;
        let request = client.request().await;
        std::mem::forget((client, engine));
        (session, request)
    });
    let living = tokio::runtime::Runtime::new().unwrap();
    living.block_on(async {
        let engine = engine(store);
        let mut client = Client::connect(&engine).await;
        client.resume(session, Replay::All).await;
        refused(&mut client, &request, allow()).await;
        let turn = client.start(session, "ask").await;
        let again = client.request().await;
        assert_ne!(again.digest, request.digest);
        let mut forged = again.clone();
        forged.digest.clone_from(&request.digest);
        refused(&mut client, &forged, allow()).await;
        client.answer(&again, allow()).await;
        assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    });
}

async fn attach(client: &mut Client, session: SessionId) {
    let resume = SessionResume {
        setup: Default::default(),
        session,
        cwd: None,
        found_by: Default::default(),
        accept: Vec::new(),
        replay: Replay::None,
        mode: Default::default(),
        answers: vec![RequestKind::Permission],
        on_disconnect: OnDisconnect::Finish,
    };
    let resumed = client.submit(None, Op::SessionResume(resume)).await;
    assert!(
        matches!(resumed, Verdict::Accepted(Accepted::Session(_))),
        "{resumed:?}"
    );
}

/// WIRE-8: a request is of the connection that was asked, also where another one takes over.
#[tokio::test]
async fn the_next_client_does_not_answer_for_the_one_before() {
    let engine = engine(Store::in_memory());
    let mut first = Client::connect(&engine).await;
    let session = first.new_session().await;
    attach(&mut first, session).await;
    let turn = first.start(session, "ask hang").await;
    let request = first.request().await;
    drop(first);
    let mut second = Client::connect(&engine).await;
    loop {
        let resume = second.resume(session, Replay::All).await;
        if matches!(resume, Verdict::Accepted(_)) {
            break;
        }
    }
    refused(&mut second, &request, allow()).await;
    let interrupt = Op::TurnInterrupt {
        turn: Some(turn),
        queued: Default::default(),
    };
    second.submit(Some(session), interrupt).await;
    assert_eq!(second.ended(turn).await, TurnOutcome::Cancelled);
    assert_eq!(counted(&second), [0]);
}
