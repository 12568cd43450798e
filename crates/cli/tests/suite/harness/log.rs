//! Records that no program of ours would write: other times, other directories, many sessions.

use serde_json::{Value, json};
use sessiond_log::{Durability, NewRecord, Owner, Store};

use super::Home;

/// Appends events to a session that nobody holds, which is made if it is not there.
pub(crate) fn append(home: &Home, session: &str, at: &str, events: &[Value]) {
    let store = Store::open_real(&home.store()).unwrap();
    let (subject, owner) = (session.parse().unwrap(), Owner::current());
    let lease = match store.exists(&subject).unwrap() {
        true => store.claim(&subject, &owner),
        false => store.create(&subject, &owner),
    };
    let lease = lease.unwrap();
    let writer = lease.writer().unwrap();
    let record = |event: &Value| NewRecord {
        kind: event["type"].as_str().unwrap().to_owned(),
        at: at.to_owned(),
        data: json!({ "event": event }).to_string(),
    };
    let records = events.iter().map(record).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        let appended = writer.append(records, Durability::Written).await;
        appended.unwrap();
        writer.shutdown().await.unwrap();
    });
}

/// The header of a session.
pub(crate) fn opened(session: &str, cwd: &str) -> Value {
    json!({
        "type": "session.opened", "start": "new", "id": session, "format": 1,
        "program": "test", "source": "test", "cwd": cwd,
        "agent": { "name": "script", "version": null }, "model": null, "instructions": null,
        "mode": null, "principal": null, "parent": null,
        "workspace": { "root": null, "repository": null, "worktree": null, "branch": null },
    })
}
