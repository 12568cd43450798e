//! Every decision about a session leaves its reason in the store (LOG-19).

use sessiond_log::{
    AuditEntry, Store,
    Verdict::{self, Accepted, Refused},
};
use sessiond_protocol::{AttachMode, Op, Replay, SessionId};

use crate::harness::{Client, engine};

fn trail(store: &Store) -> Vec<(String, Verdict, String)> {
    let line = |entry: AuditEntry| (entry.action, entry.verdict, entry.reason);
    store.audit_trail().unwrap().into_iter().map(line).collect()
}

/// LOG-19
#[tokio::test]
async fn what_was_granted_and_what_was_refused_is_in_the_audit_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open_real(&root).unwrap();
    let engine_ = engine(store.clone());
    let mut client = Client::connect(&engine_).await;
    assert_eq!(trail(&store), [], "nothing is opened before a decision");
    let session = client.new_session().await;
    client.turn(session, "say:one").await;
    client.resume(session, Replay::None).await;
    let mut rival = Client::connect(&engine_).await;
    rival.resume(session, Replay::None).await;
    for client in [&mut rival, &mut client] {
        client.attach(session, Replay::None, AttachMode::View).await;
    }
    let other = engine(Store::open_real(&root).unwrap());
    let mut stranger = Client::connect(&other).await;
    stranger.resume(session, Replay::None).await;
    stranger
        .resume(SessionId::new(uuid::Uuid::from_u128(9)), Replay::None)
        .await;
    client
        .submit(Some(session), Op::SessionFork { at: None, id: None })
        .await;
    stranger.submit(Some(session), Op::SessionArchive {}).await;
    client.submit(Some(session), Op::SessionClose {}).await;
    engine_.drain().await.unwrap();
    stranger.submit(Some(session), Op::SessionArchive {}).await;
    for op in [
        Op::SessionRestore {},
        Op::SessionDelete {},
        Op::SessionRestore {},
    ] {
        stranger.submit(Some(session), op).await;
    }
    let expected = [
        ("new", Accepted, "id_free"),
        ("attach", Accepted, "no_controller"),
        ("attach", Refused, "busy"),
        ("view", Accepted, "may_look_on"),
        ("view", Refused, "invalid"),
        ("resume", Refused, "busy"),
        ("resume", Refused, "not_found"),
        ("fork", Accepted, "record_of_the_chain"),
        ("archive", Refused, "busy"),
        ("archive", Accepted, "lease_free"),
        ("restore", Refused, "not_found"),
        ("delete", Accepted, "lease_free"),
        ("restore", Accepted, "in_trash"),
    ];
    let expected =
        expected.map(|(action, verdict, reason)| (action.into(), verdict, reason.into()));
    assert_eq!(trail(&store), expected);
    let busy = store
        .audit_trail()
        .unwrap()
        .into_iter()
        .find(|e| e.reason == "busy");
    assert_eq!(
        busy.unwrap().holder.map(|holder| holder.pid),
        Some(std::process::id())
    );
}
