//! What a client sees of sessions that are elsewhere.

use serde_json::json;
use sessiond_host::{listen, relay, route};
use sessiond_protocol::{
    Accepted, Answer, ClientFrame, ErrorCode, Event, Outcome, ServerFrame, SessionId, TurnOutcome,
    Verdict,
};
use sessiond_wire::socket::connect;

use crate::client::{Client, resume, turn};
use crate::fake::{Fake, Peer};
use crate::world::{Always, World};

fn code(verdict: &Verdict) -> Option<ErrorCode> {
    match verdict {
        Verdict::Error(error) => Some(error.code),
        Verdict::Accepted(_) => None,
    }
}

/// A session of `engine`, which nobody controls.
async fn left_behind(world: &World, engine: &sessiond_engine::Engine) -> SessionId {
    let mut owner = Client::greet(engine.connect()).await;
    let cwd = world.path("").display().to_string();
    let session = owner.new_session(&cwd).await;
    assert_eq!(code(&owner.start(session, "/sleep 30").await), None);
    session
}

/// A client whose session is with a holder that the test plays.
async fn relayed(world: &World, session: SessionId) -> (Client, Peer) {
    let fake = Fake::listen(&world.path("fake"));
    let here = world.engine();
    let mut client = Client::greet(route(here.connect(), Always(fake.path.clone()))).await;
    let resumed = client.submit(None, resume(session)).await;
    let mut peer = fake.accept().await;
    peer.welcome().await;
    peer.accept_resume().await;
    assert_eq!(code(&client.receipt(&resumed).await), None);
    (client, peer)
}

/// LOG-7: the second process relays to the holder, whose own client is gone.
#[tokio::test]
async fn a_session_that_another_process_holds_is_used_through_it() {
    let world = World::new();
    let holder = world.engine();
    let waist = holder.clone();
    let door = listen(&world.place().own(), move || waist.connect()).unwrap();
    let session = left_behind(&world, &holder).await;

    let here = world.engine();
    let routed = route(here.connect(), Always(door.path().to_owned()));
    let mut client = Client::greet(routed).await;
    // The holder learns a moment later that its client is gone.
    while let Some(code) = code(&client.call(None, resume(session)).await) {
        assert_eq!(code, ErrorCode::Busy);
    }
    let interrupt = serde_json::from_value(json!({"type": "turn.interrupt"})).unwrap();
    assert_eq!(code(&client.call(Some(session), interrupt).await), None);
    assert_eq!(client.ended().await, TurnOutcome::Cancelled);

    // Questions and answers find their way, and a session of one's own is not in theirs.
    let cwd = world.path("").display().to_string();
    let own = client.new_session(&cwd).await;
    let write = format!("/write {} there", world.path("there").display());
    let verdict = client.start(session, &write).await;
    assert_eq!(code(&verdict), None);
    while client.requests.is_empty() {
        client.next().await;
    }
    let asked = client.requests.remove(0);
    assert_eq!(asked.session, session);
    let (request, digest) = (asked.id, asked.digest);
    let option = "allow_once".to_owned();
    let outcome = Outcome::Selected { option };
    let answer = Answer {
        request,
        digest,
        outcome,
    };
    client.send(ClientFrame::Answer(answer)).await;
    assert_eq!(client.ended().await, TurnOutcome::Completed);
    let there = std::fs::read_to_string(world.path("there")).unwrap();
    assert_eq!(there.trim_end(), "there");
    assert_eq!(code(&client.start(own, "here").await), None);
    assert_eq!(client.ended().await, TurnOutcome::Completed);
    let own_events = client.events.iter().filter(|event| event.session == own);
    assert!(own_events.count() > 3);
}

/// SQEQ-1: whatever becomes of the holder, each submission gets one receipt.
#[tokio::test]
async fn a_holder_that_goes_leaves_no_submission_without_an_answer() {
    let world = World::new();
    // It holds the session's lease; what says so to the client is the fake.
    let holder = world.engine();
    let session = left_behind(&world, &holder).await;
    let (mut client, mut peer) = relayed(&world, session).await;

    let open = [
        client.submit(Some(session), turn("one")).await,
        client.submit(Some(session), turn("two")).await,
    ];
    assert_eq!(peer.next().await["op"]["type"], "turn.start");
    assert_eq!(peer.next().await["op"]["type"], "turn.start");
    drop(peer);
    for id in open {
        let verdict = client.receipt(&id).await;
        assert_eq!(code(&verdict), Some(ErrorCode::LeaseLost));
    }
    while client.errors.is_empty() {
        client.next().await;
    }
    assert_eq!(client.errors[0].session, Some(session));
    // From now on the session is asked for here again.
    let verdict = client.start(session, "three").await;
    assert_eq!(code(&verdict), Some(ErrorCode::NotFound));
}

/// SQEQ-1: also one that takes nothing any more, however much it is sent.
#[tokio::test]
async fn a_holder_that_is_stuck_is_left_and_every_submission_is_answered() {
    let world = World::new();
    // It holds the session's lease; what says so to the client is the fake.
    let holder = world.engine();
    let session = left_behind(&world, &holder).await;
    let (mut client, peer) = relayed(&world, session).await;
    // Four mebibytes a prompt: neither the socket nor the queue before it takes many.
    let long = "x".repeat(4 << 20);
    let mut open = std::collections::HashSet::new();
    for _ in 0..100 {
        open.insert(client.submit(Some(session), turn(&long)).await);
    }
    while !open.is_empty() {
        if let ServerFrame::Receipt(receipt) = client.next().await {
            assert!(open.remove(&receipt.id), "one receipt each");
        }
    }
    // The other end is open all the while.
    drop(peer);
}

/// contract.md: "2 s deadline, then busy".
#[tokio::test]
async fn a_holder_that_says_nothing_is_busy() {
    let world = World::new();
    let holder = world.engine();
    let session = left_behind(&world, &holder).await;
    let silent = Fake::listen(&world.path("silent"));
    let here = world.engine();
    let mut client = Client::greet(route(here.connect(), Always(silent.path.clone()))).await;
    let verdict = client.call(None, resume(session)).await;
    let Verdict::Error(error) = verdict else {
        panic!("{verdict:?}")
    };
    assert_eq!(error.code, ErrorCode::Busy);
    assert!(error.holder.is_some(), "who holds it is said");
    // Nobody listening at all comes to the same.
    std::fs::remove_file(&silent.path).unwrap();
    let verdict = client.call(None, resume(session)).await;
    assert_eq!(code(&verdict), Some(ErrorCode::Busy));
}

/// WIRE-14: what is no frame ends the connection to the process that said it.
#[tokio::test]
async fn a_holder_that_does_not_speak_the_protocol_is_left() {
    let world = World::new();
    let fake = Fake::listen(&world.path("fake"));
    let waist = relay(connect(&fake.path).await.unwrap());
    let mut peer = fake.accept().await;
    peer.say(&json!({"v": 1, "type": "bye"})).await;
    peer.say(&json!("no frame")).await;
    assert!(waist.recv().await.is_some());
    assert!(waist.recv().await.is_none(), "the connection ended");
}

/// SQEQ-7: what a client started at a socket outlives its connection.
#[tokio::test]
async fn a_client_at_a_socket_is_served_as_one_in_the_process() {
    let world = World::new();
    let engine = world.engine();
    let waist = engine.clone();
    let door = listen(&world.place().host(), move || waist.connect()).unwrap();
    let stream = connect(door.path()).await.unwrap();
    let mut first = Client::greet(relay(stream)).await;
    let cwd = world.path("").display().to_string();
    let session = first.new_session(&cwd).await;
    assert_eq!(
        code(&first.start(session, "/sleep 1\n/say done").await),
        None
    );
    drop(first);
    let stream = connect(door.path()).await.unwrap();
    let mut second = Client::greet(relay(stream)).await;
    while let Some(code) = code(&second.call(None, resume(session)).await) {
        assert_eq!(code, ErrorCode::Busy);
    }
    assert_eq!(second.ended().await, TurnOutcome::Completed);
    let clears = |event: &Event| matches!(event, Event::TurnStarted { .. });
    let turns = second.events.iter().filter(|frame| clears(&frame.event));
    assert_eq!(turns.count(), 1, "in place, not again");
    let list = serde_json::from_value(json!({"type": "session.list"})).unwrap();
    let verdict = second.call(None, list).await;
    let Verdict::Accepted(Accepted::Sessions { sessions, .. }) = verdict else {
        panic!("{verdict:?}")
    };
    assert_eq!(sessions.len(), 1);
    let path = door.path().to_owned();
    drop(door);
    assert!(!path.exists(), "the name goes with the door");
}

/// SQEQ-4: a withdrawal names no session, and reaches the holder that has the submission.
#[tokio::test]
async fn what_waits_with_a_holder_is_taken_back_through_it() {
    let world = World::new();
    let holder = world.engine();
    let session = left_behind(&world, &holder).await;
    let (mut client, mut peer) = relayed(&world, session).await;
    let id = client.submit(Some(session), turn("one")).await;
    assert_eq!(peer.next().await["op"]["type"], "turn.start");
    client.send(ClientFrame::Withdraw { id: id.clone() }).await;
    let heard = tokio::time::timeout(crate::PATIENCE, peer.next()).await;
    let heard = heard.expect("the holder hears of it");
    assert_eq!(heard["type"], "withdraw");
    assert_eq!(heard["id"], id.as_str());
}

/// SEC-4: what is about no session stays with the engine here, also where it names one that is
/// elsewhere; what is about the session goes there.
#[tokio::test]
async fn what_is_about_the_store_is_not_asked_of_a_holder() {
    let world = World::new();
    let holder = world.engine();
    let session = left_behind(&world, &holder).await;
    let (mut client, mut peer) = relayed(&world, session).await;
    for op in [
        json!({"type": "session.list"}),
        json!({"type": "session.new", "cwd": world.path("")}),
        json!({"type": "session.import", "source": {"type": "file", "path": "/nothing/there"}}),
        json!({"type": "agent.options"}),
    ] {
        let op = serde_json::from_value(op).unwrap();
        client.call(Some(session), op).await;
    }
    client.submit(Some(session), turn("one")).await;
    let heard = peer.next().await;
    assert_eq!(heard["op"]["type"], "turn.start", "{heard}");
}
