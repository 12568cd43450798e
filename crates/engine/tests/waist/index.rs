//! What the engine tells the index, and when (LOG-9).

use std::path::Path;
use std::time::Duration;

use sessiond_log::Store;
use sessiond_protocol::{Replay, SessionId, Verdict};

use crate::harness::{Client, engine};

/// Waits for the row: a process that ends does not wait for the index on a busy machine, only the
/// index goes on.
async fn soon(root: &Path, session: SessionId, expected: (String, i64, i64)) {
    let expected = Some(expected);
    for _ in 0..500 {
        if row(root, session) == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(row(root, session), expected);
}

/// The row as it lies in the database: title, turns, seq of the next record.
fn row(root: &Path, session: SessionId) -> Option<(String, i64, i64)> {
    let sqlite = rusqlite::Connection::open(root.join("index.sqlite")).unwrap();
    let sql = "SELECT title, turns, next_seq FROM session WHERE id = ?1";
    let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    sqlite.query_row(sql, [session.to_string()], columns).ok()
}

/// Start-up, a new session, even a load: none of them opens a database.
#[tokio::test]
async fn the_index_is_told_of_a_session_when_a_turn_of_it_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let store = Store::open_real(&root).unwrap();
    let database = root.join("index.sqlite");
    let engine = engine(store.clone());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    assert!(!database.exists());
    client.turn(session, "say:one").await;
    drop(client);
    engine.drain().await.unwrap();
    let subject = session.to_string().parse().unwrap();
    let next = || store.read(&subject).unwrap().next_seq.cast_signed();
    soon(&root, session, ("say:one".into(), 1, next())).await;

    // A row goes on from what it was, in another engine as in another process.
    let mut client = Client::connect(&engine).await;
    let resumed = client.resume(session, Replay::None).await;
    assert!(matches!(resumed, Verdict::Accepted(_)), "{resumed:?}");
    client.turn(session, "say:two").await;
    client.turn(session, "say:three").await;
    drop(client);
    engine.drain().await.unwrap();
    soon(&root, session, ("say:one".into(), 3, next())).await;
}
