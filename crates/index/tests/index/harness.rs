//! Stores with sessions in them, and looks at the database behind the index's back.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::{Value, json};
use sessiond_index::{Index, Query};
use sessiond_log::{Durability, Lease, NewRecord, Owner, Store, Subject, Writer};
use sessiond_protocol::{Cursor, EventFrame, SessionId};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A store in a directory of its own.
pub(crate) struct Bench {
    pub(crate) store: Store,
    dir: TempDir,
    runtime: Runtime,
}

/// A session that is open for writing.
pub(crate) struct Open {
    pub(crate) lease: Lease,
    writer: Writer,
    session: SessionId,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_real(&dir.path().join("store")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        Self {
            store,
            dir,
            runtime,
        }
    }

    pub(crate) fn index(&self) -> Index {
        Index::open(&self.store)
    }

    /// Beside the store.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.store.root().join(name)
    }

    /// A session of one prompt, closed again.
    pub(crate) fn session(&self, number: u32, cwd: &str, at: &str, title: &str) -> SessionId {
        let open = self.open(number, cwd, at);
        self.append(&open, at, &[titled(title), said_by_user(title)]);
        self.close(open);
        id(number)
    }

    /// A new session with its header.
    pub(crate) fn open(&self, number: u32, cwd: &str, at: &str) -> Open {
        let session = id(number);
        let lease = self
            .store
            .create(&subject(session), &Owner::current())
            .unwrap();
        let writer = lease.writer().unwrap();
        let open = Open {
            lease,
            writer,
            session,
        };
        self.append(&open, at, &[opened(session, cwd)]);
        open
    }

    pub(crate) fn reopen(&self, session: SessionId) -> Open {
        let lease = self
            .store
            .claim(&subject(session), &Owner::current())
            .unwrap();
        let writer = lease.writer().unwrap();
        Open {
            lease,
            writer,
            session,
        }
    }

    /// Appends events; the frames are what the engine would deliver after the acknowledgement.
    pub(crate) fn append(&self, open: &Open, at: &str, events: &[Value]) -> Vec<EventFrame> {
        let record = |event: &Value| NewRecord {
            kind: event["type"].as_str().unwrap().to_owned(),
            at: at.to_owned(),
            data: json!({ "event": event }).to_string(),
        };
        let records = events.iter().map(record).collect();
        let ticket = open.writer.append(records, Durability::Synced);
        let first = self.runtime.block_on(ticket).unwrap().first_seq;
        let frame = |(event, seq): (&Value, u64)| EventFrame {
            session: open.session,
            cursor: Some(Cursor(seq)),
            turn: None,
            item: None,
            cause: None,
            at: Some(at.to_owned()),
            event: serde_json::from_value(event.clone()).unwrap(),
        };
        events.iter().zip(first..).map(frame).collect()
    }

    pub(crate) fn close(&self, open: Open) {
        self.runtime.block_on(open.writer.shutdown()).unwrap();
    }

    /// Gives every directory of the store an old time, as if nothing had happened for a while.
    pub(crate) fn age(&self) {
        let hour = Duration::from_secs(3600);
        let sessions = self.path("sessions");
        let mut dirs = vec![self.path("open"), sessions.clone()];
        let entries = std::fs::read_dir(&sessions).unwrap();
        dirs.extend(entries.map(|entry| entry.unwrap().path().join("log")));
        for (dir, nanos) in dirs.iter().zip(1..) {
            let time = SystemTime::now() - hour + Duration::from_nanos(nanos);
            if dir.exists() {
                File::open(dir).unwrap().set_modified(time).unwrap();
            }
        }
    }

    /// Changes every row's title behind the index's back: what then still shows it was not read
    /// from a log.
    pub(crate) fn tamper(&self) {
        let changed = self
            .sqlite()
            .execute("UPDATE session SET title = 'from the row'", []);
        assert!(changed.unwrap() > 0);
    }

    pub(crate) fn sqlite(&self) -> Connection {
        Connection::open(self.path("index.sqlite")).unwrap()
    }
}

pub(crate) fn id(number: u32) -> SessionId {
    format!("0199b0c5-7e51-7d3c-9f6e-0000{number:08x}")
        .parse()
        .unwrap()
}

pub(crate) fn subject(session: SessionId) -> Subject {
    session.to_string().parse().unwrap()
}

pub(crate) fn log_dir(store: &Path, session: SessionId) -> PathBuf {
    store.join("sessions").join(session.to_string()).join("log")
}

/// All sessions that have a text in title or first prompt.
pub(crate) fn having(text: &str) -> Query {
    Query {
        search: Some(text.to_owned()),
        ..all()
    }
}

/// The titles of all sessions, in the order of the list.
pub(crate) fn titles(index: &Index) -> Vec<String> {
    let page = index.list(&all()).unwrap();
    let rows = page.rows.into_iter();
    rows.map(|row| row.title.unwrap_or_default()).collect()
}

pub(crate) fn all() -> Query {
    Query {
        limit: 1000,
        ..Query::default()
    }
}

fn opened(session: SessionId, cwd: &str) -> Value {
    json!({
        "type": "session.opened", "start": "new", "id": session, "format": 1,
        "program": "test", "source": "test", "cwd": cwd,
        "agent": { "name": "script", "version": null }, "model": null, "instructions": null,
        "mode": null, "principal": null, "parent": null,
        "workspace": { "root": null, "repository": null, "worktree": null, "branch": null },
    })
}

pub(crate) fn titled(title: &str) -> Value {
    json!({ "type": "session.changed", "title": title })
}

pub(crate) fn forked(parent: SessionId, at: u64) -> Value {
    json!({ "type": "marker", "marker": "fork", "parent": parent, "at": at })
}

pub(crate) fn said_by_user(text: &str) -> Value {
    let content = [json!({ "type": "text", "text": text })];
    json!({ "type": "item.ended", "item": { "type": "user_message", "content": content } })
}

pub(crate) fn said_by_agent(text: &str) -> Value {
    json!({ "type": "item.ended", "item": { "type": "agent_message", "text": text } })
}
