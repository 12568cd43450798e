//! Logs are read page by page, for what shows a thread without opening it.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Cursor, EventFrame, Extent as Reach, Op, SessionId, WireError};
use sessiond_wire::rpc::RawId;
use sessiond_wire::waist;

use super::face::{Begun, Face};
use super::params::{self, ThreadReadParams, thread_id};
use super::past::{Extent, Past};
use super::refuse::unreadable;
use super::thread::About;

/// A whole log.
const ALL: Extent = Extent {
    after: Cursor::START,
    before: None,
};

/// What a log that was read is for.
type Read = Box<dyn FnOnce(&mut Face, Result<Past, WireError>) + Send>;

/// What is kept of the turns of a log while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// All of them, with their items.
    Items,
    /// Where they lie, and what their items are called.
    Outline,
    /// Nothing: they are written into the answer that is under way.
    Nothing,
}

/// The events of a page, and where the next begins.
///
/// # Errors
/// Those of the engine.
pub(super) fn events(
    page: Result<Accepted, WireError>,
) -> Result<(Vec<Value>, Option<Cursor>), WireError> {
    match page? {
        Accepted::Events { events, next } => Ok((events, next)),
        _ => Err(waist::unexpected()),
    }
}

/// Takes in a page of events. One of a later version that cannot be read is passed over.
pub(super) fn fold(past: &mut Past, events: Vec<Value>) {
    let frames = events.into_iter().map(serde_json::from_value::<EventFrame>);
    frames.flatten().for_each(|frame| past.apply(&frame));
}

impl Face {
    /// Reads all of a thread's log, for where its turns lie.
    pub(super) fn read_log(
        &mut self,
        session: SessionId,
        then: impl FnOnce(&mut Face, Result<Past, WireError>) + Send + 'static,
    ) -> Begun {
        let settled = move |face: &mut Face, past: Result<Past, WireError>| {
            let past = past.map(|past| face.settled(session, past));
            then(face, past);
        };
        let read = (Box::default(), ALL, Keeping::Outline);
        self.read_page(session, read, Box::new(settled))
    }

    /// Reads the conversation of a thread and writes its turns into the answer that is under way.
    pub(super) fn read_turns(
        &mut self,
        session: SessionId,
        then: impl FnOnce(&mut Face, Result<Past, WireError>) + Send + 'static,
    ) -> Begun {
        self.client.shows(session);
        let settled = move |face: &mut Face, past: Result<Past, WireError>| {
            let past = past.map(|past| face.settled(session, past));
            then(face, past);
        };
        let read = (Box::default(), ALL, Keeping::Nothing);
        self.read_page(session, read, Box::new(settled))
    }

    /// Closes what a process left open that is gone.
    fn settled(&mut self, session: SessionId, mut past: Past) -> Past {
        past.settle(session, self.running(session).map(|running| running.id));
        past
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
            let past = past.map(|past| match extent.before {
                None => face.settled(session, past),
                Some(_) => past,
            });
            then(face, past);
        };
        let read = (Box::new(past), extent, Keeping::Items);
        self.read_page(session, read, Box::new(settled))
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
        let read = (Box::new(past), extent, Keeping::Outline);
        self.read_page(session, read, Box::new(then))
    }

    fn read_page(
        &mut self,
        session: SessionId,
        (mut past, extent, keeping): (Box<Past>, Extent, Keeping),
        then: Read,
    ) -> Begun {
        let op = Op::SessionRead {
            after: extent.after,
            before: None,
            limit: extent.events(),
            extent: match keeping {
                Keeping::Items | Keeping::Outline => Reach::All,
                Keeping::Nothing => Reach::Conversation,
            },
        };
        self.submit(Some(session), op, move |face, page| {
            let (events, next) = match events(page) {
                Ok(read) => read,
                Err(wire) => return then(face, Err(wire)),
            };
            fold(&mut past, events);
            match keeping {
                Keeping::Items => {}
                Keeping::Outline => past.outline(),
                Keeping::Nothing => face.client.write(session, &mut past),
            }
            let is_wanted =
                |next: &Cursor| extent.before.is_none_or(|before| next.0 + 1 < before.0);
            let Some(after) = next.filter(is_wanted) else {
                return then(face, Ok(*past));
            };
            let rest = Extent { after, ..extent };
            let read = (past, rest, keeping);
            if face.read_page(session, read, then).is_err() {
                tracing::error!("a page could not be asked for");
            }
        })
    }

    pub(super) fn read_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadReadParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let id = id.clone();
        if !params.include_turns {
            return self.read_log(session, move |face, past| match past {
                Ok(past) => {
                    let thread = face.about(session, &past);
                    face.client.answer(&id, &json!({ "thread": thread }));
                }
                Err(wire) => face.client.fail(&id, &unreadable(&wire, session)),
            });
        }
        self.client.begin(&id);
        self.read_turns(session, move |face, past| match past {
            Ok(past) => {
                let thread = face.about(session, &past);
                face.end_shown(session, past, (thread, Value::Null));
            }
            Err(wire) => face.client.fail(&id, &unreadable(&wire, session)),
        })
    }

    /// Ends the answer that shows a thread: the turn that runs with what of it was said so far. Only
    /// what is said later is told behind it.
    pub(super) fn end_shown(
        &mut self,
        session: SessionId,
        mut past: Past,
        (thread, beside): (Value, Value),
    ) {
        if let Some(running) = self.running(session) {
            let behind = std::mem::take(&mut running.behind);
            let open = running.open.items().iter();
            past.goes_on(running.id, open.filter(|begun| !behind.contains(&begun.id)));
        }
        self.client.end(past, thread, beside);
    }

    /// A thread as its log has it, and as it stands here, without its turns.
    pub(super) fn about(&self, session: SessionId, past: &Past) -> Value {
        let about = About::of(session, past);
        match self.threads.get(&session) {
            Some(thread) => About {
                keep: thread.keep,
                model: thread.about.model.clone(),
                ..about
            }
            .json(thread.status()),
            None => about.json(json!({ "type": "notLoaded" })),
        }
    }
}
