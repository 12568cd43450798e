//! Threads are archived, brought back, deleted, named.

use serde_json::{Value, json};
use sessiond_protocol::{
    AttachMode, ErrorCode, FoundBy, OnDisconnect, Op, Replay, SessionId, SessionResume, WireError,
};
use sessiond_wire::rpc::RawId;

use super::face::{Begun, Face};
use super::params::{self, ThreadParams, ThreadSetNameParams, thread_id};
use super::refuse::{invalid, refused, unreadable};
use super::thread::Keep;

/// Where a thread goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Archive,
    Trash,
}

impl Face {
    pub(super) fn archive_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        self.put_away(id, params, To::Archive)
    }

    pub(super) fn delete_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        self.put_away(id, params, To::Trash)
    }

    /// A thread that is loaded is let go of first.
    fn put_away(&mut self, id: &RawId, params: &Value, to: To) -> Begun {
        let params: ThreadParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "session")?;
        let id = id.clone();
        if !self.threads.contains_key(&session) {
            return self.put_away_resting(id, session, to);
        }
        self.submit(Some(session), Op::SessionClose {}, move |face, _| {
            face.threads.remove(&session);
            if let Err(error) = face.put_away_resting(id.clone(), session, to) {
                face.client.fail(&id, &error);
            }
        })
    }

    fn put_away_resting(&mut self, id: RawId, session: SessionId, to: To) -> Begun {
        let (op, told) = match to {
            To::Archive => (Op::SessionArchive {}, "thread/archived"),
            To::Trash => (Op::SessionDelete {}, "thread/deleted"),
        };
        self.submit(Some(session), op, move |face, done| match done {
            Ok(_) => {
                face.client.answer(&id, &json!({}));
                face.client.notify(told, &json!({ "threadId": session }));
            }
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    /// Begins to move the ephemeral threads to the trash; gives how many there are.
    pub(super) fn forget(&mut self) -> usize {
        let ephemeral = self.threads.iter();
        let ephemeral = ephemeral.filter(|(_, thread)| thread.keep == Keep::Ephemeral);
        let ephemeral: Vec<SessionId> = ephemeral.map(|(session, _)| *session).collect();
        for session in &ephemeral {
            let session = *session;
            let closed = self.submit(Some(session), Op::SessionClose {}, move |face, _| {
                let deleted = face.submit(Some(session), Op::SessionDelete {}, |_, _| {});
                if deleted.is_err() {
                    tracing::error!("a deletion could not be submitted");
                }
            });
            if closed.is_err() {
                tracing::error!("a close could not be submitted");
            }
        }
        ephemeral.len()
    }

    pub(super) fn unarchive_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "session")?;
        let id = id.clone();
        let op = Op::SessionUnarchive {};
        self.submit(Some(session), op, move |face, done| match done {
            Ok(_) => face.unarchived(id, session),
            Err(wire) if wire.code == ErrorCode::NotFound => {
                let text = format!("no archived rollout found for thread id {session}");
                face.client.fail(&id, &invalid(text));
            }
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    fn unarchived(&mut self, id: RawId, session: SessionId) {
        let failed = id.clone();
        let begun = self.read_log(session, move |face, past| match past {
            Ok(past) => {
                let thread = face.about(session, &past);
                face.client.answer(&id, &json!({ "thread": thread }));
                let params = json!({ "threadId": session });
                face.client.notify("thread/unarchived", &params);
            }
            Err(wire) => face.client.fail(&id, &unreadable(&wire, session)),
        });
        if let Err(error) = begun {
            self.client.fail(&failed, &error);
        }
    }

    pub(super) fn name_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadSetNameParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let name = params.name.trim().to_owned();
        if name.is_empty() {
            return Err(invalid("thread name must not be empty"));
        }
        let id = id.clone();
        let rename = Op::SessionRename {
            title: name.clone(),
        };
        let named = move |face: &mut Face, done: Result<(), WireError>| match done {
            Ok(()) => {
                face.client.answer(&id, &json!({}));
                let params = json!({ "threadId": session, "threadName": name });
                face.client.notify("thread/name/updated", &params);
            }
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        };
        let Some(thread) = self.threads.get_mut(&session) else {
            return self.visit(session, rename, named);
        };
        thread.renames += 1;
        self.submit(Some(session), rename, move |face, done| {
            if let Some(thread) = face.threads.get_mut(&session) {
                thread.renames -= 1;
            }
            named(face, done.map(drop));
        })
    }

    /// Opens a thread for one op, and lets go of it.
    fn visit(
        &mut self,
        session: SessionId,
        op: Op,
        then: impl FnOnce(&mut Face, Result<(), WireError>) + Send + 'static,
    ) -> Begun {
        let resume = Op::SessionResume(SessionResume {
            session,
            cwd: None,
            setup: None,
            found_by: FoundBy::Id,
            accept: self.options.accept.clone(),
            replay: Replay::None,
            mode: AttachMode::Control,
            answers: Vec::new(),
            on_disconnect: OnDisconnect::Cancel,
        });
        self.submit(None, resume, move |face, opened| {
            if let Err(wire) = opened {
                return then(face, Err(wire));
            }
            let submitted = face.submit(Some(session), op, move |face, done| {
                let close = Op::SessionClose {};
                let closed = face.submit(Some(session), close, move |face, _| {
                    then(face, done.map(drop));
                });
                if closed.is_err() {
                    tracing::error!("a close could not be submitted");
                }
            });
            if submitted.is_err() {
                tracing::error!("an op could not be submitted");
            }
        })
    }
}
