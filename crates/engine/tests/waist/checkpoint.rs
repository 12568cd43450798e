//! Long sessions and cleared ones, through the waist.

use std::{path::Path, sync::Arc};

use sessiond_log::{
    NewRecord, Owner, Store,
    fs::{Fs as _, MemoryFs},
};
use sessiond_protocol::{
    Cursor, ErrorCode, Event, Marker, Op, Replay, SessionId, TurnOutcome, Verdict,
};

use crate::harness::{Client, engine};

fn store(fs: &MemoryFs) -> Store {
    Store::open(Arc::new(fs.clone()), Path::new("/store")).unwrap()
}

async fn clear(client: &mut Client, session: SessionId) {
    let cleared = client.submit(Some(session), Op::SessionClear {}).await;
    assert!(matches!(cleared, Verdict::Accepted(_)), "{cleared:?}");
}

/// LOG-10
#[tokio::test]
async fn a_long_session_is_opened_without_its_older_segments() {
    let fs = MemoryFs::new();
    let engine_1 = engine(store(&fs));
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    for _ in 0..3 {
        let prompt = format!("say:{}", "x".repeat(400_000));
        let outcome = client.turn(session, &prompt).await;
        assert_eq!(outcome, TurnOutcome::Completed);
    }
    client.turn(session, "say:last").await;
    let is_checkpoint = |event: &Event| matches!(event, Event::Marker(Marker::Checkpoint { .. }));
    let checkpoints = client.events.iter().filter(|e| is_checkpoint(&e.event));
    assert_eq!(checkpoints.count(), 1, "one after two mebibytes");
    drop(client);
    engine_1.drain().await.unwrap();
    let log = format!("sessions/{session}/log");
    let mut names = fs.list(log.as_ref()).unwrap();
    names.sort();
    assert_eq!(names.len(), 2);
    fs.remove(&Path::new(&log).join(&names[0])).unwrap();

    let engine_2 = engine(store(&fs));
    let mut client = Client::connect(&engine_2).await;
    let resumed = client.resume(session, Replay::None).await;
    assert!(matches!(resumed, Verdict::Accepted(_)), "{resumed:?}");
    let outcome = client.turn(session, "say:more").await;
    assert_eq!(outcome, TurnOutcome::Completed);
    drop(client);
    engine_2.drain().await.unwrap();
    let mut client = Client::connect(&engine(store(&fs))).await;
    client.resume(session, Replay::All).await;
    assert_eq!(client.said(), ["last", "more"]);
    let is_damage = |event: &Event| matches!(event, Event::Damage { .. });
    assert!(client.events.iter().any(|e| is_damage(&e.event)));
}

/// RESUME-1
#[tokio::test]
async fn what_was_cleared_is_neither_shown_nor_remembered_and_a_fork_takes_it_up() {
    let fs = MemoryFs::new();
    let engine_1 = engine(store(&fs));
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    client.turn(session, "say:before").await;
    let before = client.events.last().unwrap().cursor.unwrap();
    clear(&mut client, session).await;
    client.turn(session, "known").await;
    assert_eq!(client.said(), ["before", "0 items"]);
    drop(client);
    engine_1.drain().await.unwrap();

    let engine_2 = engine(store(&fs));
    let shown = [
        (Replay::All, vec!["0 items"]),
        (Replay::After(Cursor::START), vec!["before", "0 items"]),
    ];
    for (replay, expected) in shown {
        let mut client = Client::connect(&engine_2).await;
        client.resume(session, replay).await;
        assert_eq!(client.said(), expected, "{replay:?}");
        client.submit(Some(session), Op::SessionClose {}).await;
    }
    let mut client = Client::connect(&engine_2).await;
    let at = Some(before);
    let fork = client
        .submit(Some(session), Op::SessionFork { at, id: None })
        .await;
    let Verdict::Accepted(sessiond_protocol::Accepted::Session(view)) = fork else {
        panic!("{fork:?}");
    };
    client.resume(view.session, Replay::All).await;
    assert_eq!(client.said(), ["before"]);
}

/// RESUME-1
#[tokio::test]
async fn a_session_is_not_cleared_under_a_running_turn() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.start(session, "hang").await;
    let refused = client.submit(Some(session), Op::SessionClear {}).await;
    let Verdict::Error(error) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(error.code, ErrorCode::Busy);
}

/// LOG-10, LOG-11: a checkpoint of a later kind of fold costs a longer opening, nothing else.
#[tokio::test]
async fn a_session_with_a_checkpoint_that_is_not_understood_is_opened_from_its_beginning() {
    let fs = MemoryFs::new();
    let engine_1 = engine(store(&fs));
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    client.turn(session, "say:one").await;
    drop(client);
    engine_1.drain().await.unwrap();
    let subject = session.to_string().parse().unwrap();
    let lease = store(&fs).claim(&subject, &Owner::current()).unwrap();
    let writer = lease.writer().unwrap();
    let marker = r#"{"event":{"type":"marker","marker":"checkpoint","version":99,"standing":[]}}"#;
    let checkpoint = writer.checkpoint(NewRecord {
        kind: "marker".into(),
        at: "2026-11-30T00:00:00.000Z".into(),
        data: marker.into(),
    });
    checkpoint.await.unwrap();
    writer.shutdown().await.unwrap();
    drop((writer, lease));

    let mut client = Client::connect(&engine(store(&fs))).await;
    let resumed = client.resume(session, Replay::None).await;
    assert!(matches!(resumed, Verdict::Accepted(_)), "{resumed:?}");
    assert_eq!(client.turn(session, "known").await, TurnOutcome::Completed);
    assert_eq!(client.said(), ["2 items"]);
}
