//! Pages of a thread's turns and items, oldest first or of items: the first one reads the log to know
//! where its turns lie; from then on a page reads what was added since, and the stretch that it shows.
//! Pages of turns that begin with the newest are read from the log's end: see `newest`.

mod newest;

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};
use sessiond_protocol::{SessionId, WireError};
use sessiond_wire::rpc::{ErrorObject, RawId};

use super::face::{Begun, Face};
use super::params::{self, SortDirection, ThreadTurnsListParams, thread_id};
use super::past::{ItemsView, Past};
use super::refuse::{invalid, unreadable};

/// Turns or items on a page where the client names no number.
const PAGE: usize = 25;
/// Most of them on a page.
const PAGE_MOST: usize = 100;

/// Threads whose outlines are kept: a client pages through one, and looks at a few others.
const KEPT: usize = 8;

/// Where the turns of threads lie, of those that were paged through last.
#[derive(Debug, Default)]
pub(super) struct Outlines {
    kept: VecDeque<(SessionId, Past)>,
    ends: newest::Ends,
}

impl Outlines {
    fn take(&mut self, session: SessionId) -> Past {
        let at = self.kept.iter().position(|(of, _)| *of == session);
        let kept = at.and_then(|at| self.kept.remove(at));
        kept.map(|(_, past)| past).unwrap_or_default()
    }

    fn keep(&mut self, session: SessionId, outline: Past) {
        self.kept.truncate(KEPT - 1);
        self.kept.push_front((session, outline));
    }
}

/// A page of keys, in the order in which they are shown.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    keys: Vec<String>,
    next: Option<String>,
}

/// The keys of what a thread has, oldest first.
type Keys = fn(&Past, &ThreadTurnsListParams) -> Vec<String>;

/// What a key stands for, as it is shown.
type Show = fn(&Past, &str) -> Option<Value>;

impl Face {
    pub(super) fn list_turns(&mut self, id: &RawId, params: &Value) -> Begun {
        let own: ThreadTurnsListParams = params::read(params)?;
        if own.sort_direction != Some(SortDirection::Asc) {
            return self.list_newest(id, own);
        }
        let keys = |past: &Past, _: &ThreadTurnsListParams| {
            past.turns().map(|turn| turn.id.clone()).collect()
        };
        self.list(id, params, (keys, SortDirection::Desc, shown_turn))
    }

    pub(super) fn list_items(&mut self, id: &RawId, params: &Value) -> Begun {
        let keys = |past: &Past, params: &ThreadTurnsListParams| {
            let wanted = params.turn_id.as_ref();
            let turns = past.turns();
            let turns = turns.filter(|turn| wanted.is_none_or(|id| turn.id == *id));
            let of = |turn: &super::past::Turn| -> Vec<String> {
                let ids = turn.item_ids();
                ids.map(|item| format!("{}/{item}", turn.id)).collect()
            };
            turns.flat_map(of).collect()
        };
        self.list(id, params, (keys, SortDirection::Asc, shown_item))
    }

    /// Answers with a page: of these keys of a thread, oldest first, in this order where the client
    /// names none.
    fn list(
        &mut self,
        id: &RawId,
        params: &Value,
        (keys, by_default, show): (Keys, SortDirection, Show),
    ) -> Begun {
        let params: ThreadTurnsListParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let id = id.clone();
        let outline = self.outlines.take(session);
        self.read_on(session, outline, move |face, read| {
            let mut outline: Past = match read {
                Ok(outline) => outline,
                Err(wire) => return face.client.fail(&id, &unreadable(&wire, session)),
            };
            outline.outline();
            // What a process left open that is gone is shown as closed, and more may come behind it.
            let mut settled = outline.clone();
            settled.settle(session, face.running(session).map(|running| running.id));
            let page = page(keys(&settled, &params), &params, by_default);
            let begun = page.and_then(|page| face.show_page(&id, session, (&outline, page, show)));
            face.outlines.keep(session, outline);
            if let Err(error) = begun {
                face.client.fail(&id, &error);
            }
        })
    }

    /// Reads what a page shows, and answers.
    fn show_page(
        &mut self,
        id: &RawId,
        session: SessionId,
        (outline, page, show): (&Past, Page, Show),
    ) -> Begun {
        let turns = page
            .keys
            .iter()
            .map(|key| turn_of(key))
            .collect::<HashSet<_>>();
        let Some(extent) = outline.extent(&turns) else {
            self.client.answer(id, &answer(Vec::new(), page.next));
            return Ok(());
        };
        let (id, past) = (id.clone(), Past::within(outline.cwd()));
        self.read_extent(
            session,
            (past, extent),
            move |face, past: Result<Past, WireError>| match past {
                Ok(past) => {
                    let shown = page.keys.iter().filter_map(|key| show(&past, key));
                    let answer = answer(shown.collect(), page.next);
                    face.client.answer(&id, &answer);
                }
                Err(wire) => face.client.fail(&id, &unreadable(&wire, session)),
            },
        )
    }
}

fn no_cursor(cursor: &str) -> ErrorObject {
    invalid(format!("invalid cursor: {cursor}"))
}

fn turn_of(key: &str) -> &str {
    key.split('/').next().unwrap_or(key)
}

fn shown_turn(past: &Past, key: &str) -> Option<Value> {
    Some(past.known(key)?.json(ItemsView::Full))
}

fn shown_item(past: &Past, key: &str) -> Option<Value> {
    let (turn, id) = key.split_once('/')?;
    let items = &past.known(turn)?.items;
    let item = items.iter().find(|item| item.detail.id() == id)?;
    Some(json!({
        "turnId": turn, "item": item,
        "startedAtMs": item.started_at_ms, "completedAtMs": item.completed_at_ms,
    }))
}

fn answer(data: Vec<Value>, next: Option<String>) -> Value {
    json!({ "data": data, "nextCursor": next, "backwardsCursor": null })
}

/// How many there are on a page.
fn limit(params: &ThreadTurnsListParams) -> usize {
    let limit = params.limit.and_then(|limit| usize::try_from(limit).ok());
    limit.unwrap_or(PAGE).clamp(1, PAGE_MOST)
}

/// A page of keys that are given oldest first. The cursor is the key that the page before ended with:
/// what is appended meanwhile moves nothing.
fn page(
    mut all: Vec<String>,
    params: &ThreadTurnsListParams,
    by_default: SortDirection,
) -> Result<Page, ErrorObject> {
    if params.sort_direction.unwrap_or(by_default) == SortDirection::Desc {
        all.reverse();
    }
    let begin = match &params.cursor {
        None => 0,
        Some(cursor) => {
            let at = all.iter().position(|key| key == cursor);
            at.ok_or_else(|| no_cursor(cursor))? + 1
        }
    };
    let limit = limit(params);
    let end = all.len().min(begin + limit);
    let next = (end < all.len())
        .then(|| all.get(end - 1).cloned())
        .flatten();
    let keys = all.drain(begin.min(end)..end).collect();
    Ok(Page { keys, next })
}

#[cfg(test)]
mod tests;
