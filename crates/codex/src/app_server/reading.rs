//! Logs are read page by page, for what shows a thread without opening it.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Cursor, EventFrame, Op, SessionId, WireError};
use sessiond_wire::rpc::RawId;
use sessiond_wire::waist;

use super::face::{Begun, Face};
use super::params::{self, ThreadReadParams, thread_id};
use super::past::{Extent, ItemsView, Past};
use super::refuse::unreadable;
use super::thread::About;

/// What a log that was read is for.
type Read = Box<dyn FnOnce(&mut Face, Result<Past, WireError>) + Send>;

/// Takes in a page of events. One of a later version that cannot be read is passed over.
pub(super) fn fold(past: &mut Past, events: Vec<Value>) {
    let frames = events.into_iter().map(serde_json::from_value::<EventFrame>);
    frames.flatten().for_each(|frame| past.apply(&frame));
}

impl Face {
    /// Reads all of a thread's log.
    pub(super) fn read_log(
        &mut self,
        session: SessionId,
        then: impl FnOnce(&mut Face, Result<Past, WireError>) + Send + 'static,
    ) -> Begun {
        let extent = Extent {
            after: Cursor::START,
            before: None,
        };
        self.read_extent(session, (Past::default(), extent), then)
    }

    /// Reads part of a thread's log into a fold, page by page. What a process left open that is gone
    /// is closed where the log's end is part of it.
    pub(super) fn read_extent(
        &mut self,
        session: SessionId,
        (past, extent): (Past, Extent),
        then: impl FnOnce(&mut Face, Result<Past, WireError>) + Send + 'static,
    ) -> Begun {
        let settled = move |face: &mut Face, past: Result<Past, WireError>| {
            let settle = |mut past: Past| {
                if extent.before.is_none() {
                    let running = face.running(session).map(|running| running.id);
                    past.settle(session, running);
                }
                past
            };
            let past = past.map(settle);
            then(face, past);
        };
        self.read_page(session, (Box::new(past), extent), Box::new(settled))
    }

    /// Reads the rest of a thread's log into a fold of what comes before it, and closes nothing: more
    /// may be read into it later.
    pub(super) fn read_on(
        &mut self,
        session: SessionId,
        past: Past,
        then: impl FnOnce(&mut Face, Result<Past, WireError>) + Send + 'static,
    ) -> Begun {
        let extent = Extent {
            after: past.cursor,
            before: None,
        };
        self.read_page(session, (Box::new(past), extent), Box::new(then))
    }

    fn read_page(
        &mut self,
        session: SessionId,
        (mut past, extent): (Box<Past>, Extent),
        then: Read,
    ) -> Begun {
        let op = Op::SessionRead {
            after: extent.after,
            limit: extent.events(),
        };
        self.submit(Some(session), op, move |face, page| {
            let (events, next) = match page {
                Ok(Accepted::Events { events, next }) => (events, next),
                Ok(_) => return then(face, Err(waist::unexpected())),
                Err(wire) => return then(face, Err(wire)),
            };
            fold(&mut past, events);
            let is_wanted =
                |next: &Cursor| extent.before.is_none_or(|before| next.0 + 1 < before.0);
            let Some(after) = next.filter(is_wanted) else {
                return then(face, Ok(*past));
            };
            let rest = Extent { after, ..extent };
            if face.read_page(session, (past, rest), then).is_err() {
                tracing::error!("a page could not be asked for");
            }
        })
    }

    pub(super) fn read_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadReadParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let id = id.clone();
        self.read_log(session, move |face, past| match past {
            Ok(past) => {
                let turns = match params.include_turns {
                    true => past
                        .turns()
                        .map(|turn| turn.json(ItemsView::Full))
                        .collect(),
                    false => Vec::new(),
                };
                let thread = face.about(session, &past, turns);
                face.client.answer(&id, &json!({ "thread": thread }));
            }
            Err(wire) => face.client.fail(&id, &unreadable(&wire, session)),
        })
    }

    /// A thread as its log has it, and as it stands here.
    pub(super) fn about(&self, session: SessionId, past: &Past, turns: Vec<Value>) -> Value {
        let about = About::of(session, past);
        match self.threads.get(&session) {
            Some(thread) => About {
                keep: thread.keep,
                model: thread.about.model.clone(),
                ..about
            }
            .json(thread.status(), turns),
            None => about.json(json!({ "type": "notLoaded" }), turns),
        }
    }
}
