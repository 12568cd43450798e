//! Logs are read page by page, for what shows a thread without opening it.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Cursor, EventFrame, Op, SessionId, WireError};
use sessiond_wire::rpc::{ErrorObject, RawId};
use sessiond_wire::waist;

use super::face::{Begun, Face};
use super::params::{self, SortDirection, ThreadReadParams, ThreadTurnsListParams, thread_id};
use super::past::{ItemsView, Past};
use super::refuse::{invalid, unreadable};
use super::thread::About;

/// Turns or items on a page where the client names no number.
const PAGE: usize = 25;
/// Most of them on a page.
const PAGE_MOST: usize = 100;

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
        let past = Box::new(Past::default());
        self.read_page(session, (past, Cursor::START), Box::new(then))
    }

    fn read_page(
        &mut self,
        session: SessionId,
        (mut past, after): (Box<Past>, Cursor),
        then: Read,
    ) -> Begun {
        let op = Op::SessionRead { after, limit: None };
        self.submit(Some(session), op, move |face, page| {
            let (events, next) = match page {
                Ok(Accepted::Events { events, next }) => (events, next),
                Ok(_) => return then(face, Err(waist::unexpected())),
                Err(wire) => return then(face, Err(wire)),
            };
            fold(&mut past, events);
            let Some(next) = next else {
                let running = face.running(session).map(|running| running.id);
                past.settle(session, running);
                return then(face, Ok(*past));
            };
            if face.read_page(session, (past, next), then).is_err() {
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

    pub(super) fn list_turns(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadTurnsListParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let id = id.clone();
        self.read_log(session, move |face, past| {
            let page = match past {
                Ok(past) => {
                    let turns = past
                        .turns()
                        .map(|turn| (turn.id.clone(), turn.json(ItemsView::Full)));
                    let newest = SortDirection::Desc;
                    page(turns.collect(), &params, newest)
                }
                Err(wire) => Err(unreadable(&wire, session)),
            };
            match page {
                Ok(page) => face.client.answer(&id, &page),
                Err(error) => face.client.fail(&id, &error),
            }
        })
    }

    pub(super) fn list_items(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadTurnsListParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let id = id.clone();
        self.read_log(session, move |face, past| {
            let page = match past {
                Ok(past) => {
                    let wanted = |turn: &&super::past::Turn| {
                        params.turn_id.as_ref().is_none_or(|id| turn.id == *id)
                    };
                    let entries = past.turns().filter(wanted).flat_map(|turn| {
                        turn.items.iter().map(|item| {
                            let entry = json!({
                                "turnId": turn.id, "item": item,
                                "startedAtMs": item.started_at_ms,
                                "completedAtMs": item.completed_at_ms,
                            });
                            let item = entry.pointer("/item/id").and_then(Value::as_str);
                            (format!("{}/{}", turn.id, item.unwrap_or_default()), entry)
                        })
                    });
                    page(entries.collect(), &params, SortDirection::Asc)
                }
                Err(wire) => Err(unreadable(&wire, session)),
            };
            match page {
                Ok(page) => face.client.answer(&id, &page),
                Err(error) => face.client.fail(&id, &error),
            }
        })
    }
}

/// A page of what is given oldest first, each with its key. The cursor is the key that the page
/// before ended with: what is appended meanwhile moves nothing.
fn page(
    mut all: Vec<(String, Value)>,
    params: &ThreadTurnsListParams,
    by_default: SortDirection,
) -> Result<Value, ErrorObject> {
    if params.sort_direction.unwrap_or(by_default) == SortDirection::Desc {
        all.reverse();
    }
    let begin = match &params.cursor {
        None => 0,
        Some(cursor) => {
            let at = all.iter().position(|(key, _)| key == cursor);
            at.ok_or_else(|| invalid(format!("invalid cursor: {cursor}")))? + 1
        }
    };
    let limit = params.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(PAGE).clamp(1, PAGE_MOST);
    let end = all.len().min(begin + limit);
    let next = (end < all.len()).then(|| all.get(end - 1)).flatten();
    let next = next.map(|(key, _)| key.clone());
    let page = all.drain(begin.min(end)..end);
    let data: Vec<Value> = page.map(|(_, shown)| shown).collect();
    Ok(json!({ "data": data, "nextCursor": next, "backwardsCursor": null }))
}
