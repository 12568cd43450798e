//! Pages of turns, the newest first: read from the end of the log, so that a page costs what lies
//! behind its oldest turn and is not on a page before.

use std::collections::VecDeque;

use serde_json::Value;
use sessiond_protocol::{Cursor, EventFrame, Extent, Op, SessionId, limits};
use sessiond_wire::rpc::{ErrorObject, RawId};

use super::super::face::{Begun, Face};
use super::super::params::{ThreadTurnsListParams, thread_id};
use super::super::past::{ItemsView, Past};
use super::super::reading::{events, fold};
use super::super::refuse::unreadable;
use super::{answer, limit, no_cursor};

/// The end of a log.
const NEWEST: Cursor = Cursor(u64::MAX);

/// Events that are read for each turn at first: as many as one with some calls has.
const TURN_EVENTS: usize = 8;

/// Pages whose ends are remembered: those of a client that pages through a few threads.
const ENDS: usize = 64;

/// Where the turns begin that pages ended with.
#[derive(Debug, Default)]
pub(super) struct Ends {
    kept: VecDeque<(SessionId, String, Cursor)>,
}

impl Ends {
    fn keep(&mut self, session: SessionId, turn: &str, at: Cursor) {
        self.kept.truncate(ENDS - 1);
        self.kept.push_front((session, turn.to_owned(), at));
    }

    fn at(&self, session: SessionId, turn: &str) -> Option<Cursor> {
        let mut kept = self.kept.iter();
        let known = kept.find(|(of, known, _)| *of == session && known == turn);
        known.map(|(_, _, at)| *at)
    }
}

/// What has been read for a page, from the end of what it may show.
struct Window {
    limit: usize,
    /// The turn that the page before ended with, where it is still to be found.
    cursor: Option<String>,
    end: Cursor,
    cwd: String,
    events: Vec<EventFrame>,
    /// Where the rest lies: before this event.
    rest: Option<Cursor>,
}

/// A page, and where the next one begins.
struct Page {
    turns: Vec<Value>,
    next: Option<(String, Cursor)>,
}

impl Face {
    pub(super) fn list_newest(&mut self, id: &RawId, params: ThreadTurnsListParams) -> Begun {
        let session = thread_id(&params.thread_id, "thread")?;
        let known = params.cursor.as_ref();
        let known = known.and_then(|turn| self.outlines.ends.at(session, turn));
        let window = Window {
            limit: limit(&params),
            cursor: params.cursor.filter(|_| known.is_none()),
            end: known.unwrap_or(NEWEST),
            cwd: String::new(),
            events: Vec::new(),
            rest: Some(known.unwrap_or(NEWEST)),
        };
        let id = id.clone();
        // The header says where the thread works.
        let op = Op::SessionRead {
            after: Cursor::START,
            before: None,
            limit: Some(1),
            extent: Extent::All,
        };
        self.submit(Some(session), op, move |face, head| {
            let (events, _) = match events(head) {
                Ok(read) => read,
                Err(wire) => return face.client.fail(&id, &unreadable(&wire, session)),
            };
            let mut head = Past::default();
            fold(&mut head, events);
            let cwd = head.cwd().to_owned();
            face.read_back(id, session, Window { cwd, ..window });
        })
    }

    /// Reads on towards the beginning of the log, until there is enough for the page.
    fn read_back(&mut self, id: RawId, session: SessionId, mut window: Window) {
        let op = Op::SessionRead {
            after: Cursor::START,
            before: window.rest,
            limit: Some(window.wanted()),
            extent: Extent::Conversation,
        };
        let failed = id.clone();
        self.submit_for(&failed, Some(session), op, move |face, page| {
            let (events, rest) = match events(page) {
                Ok(read) => read,
                Err(wire) => return face.client.fail(&id, &unreadable(&wire, session)),
            };
            window.add(events, rest);
            let running = face.running(session).map(|running| running.id);
            let mut past = window.fold();
            if window.end == NEWEST {
                past.settle(session, running);
            }
            match window.page(&past) {
                Ok(None) => face.read_back(id, session, window),
                Ok(Some(page)) => {
                    if let Some((turn, at)) = &page.next {
                        face.outlines.ends.keep(session, turn, *at);
                    }
                    let next = page.next.map(|(turn, _)| turn);
                    face.client.answer(&id, &answer(page.turns, next));
                }
                Err(error) => face.client.fail(&id, &error),
            }
        });
    }
}

impl Window {
    /// How many events are read next: more where the first were not enough.
    fn wanted(&self) -> u32 {
        let most = limits::PAGE_EVENTS;
        match self.events.is_empty() {
            true => u32::try_from((self.limit + 1) * TURN_EVENTS).map_or(most, |n| n.min(most)),
            false => most,
        }
    }

    fn add(&mut self, events: Vec<Value>, rest: Option<Cursor>) {
        let frames = events.into_iter().map(serde_json::from_value::<EventFrame>);
        let mut events: Vec<_> = frames.flatten().collect();
        events.append(&mut self.events);
        self.events = events;
        self.rest = rest;
    }

    fn fold(&self) -> Past {
        let mut past = match self.rest {
            None => Past::within(&self.cwd),
            Some(_) => Past::from_somewhere(&self.cwd),
        };
        self.events.iter().for_each(|frame| past.apply(frame));
        past
    }

    /// The page, once its turns and the one before them are known.
    fn page(&self, past: &Past) -> Result<Option<Page>, ErrorObject> {
        let mut turns: Vec<_> = past.turns().collect();
        if let Some(cursor) = &self.cursor {
            match turns.iter().position(|turn| turn.id == *cursor) {
                Some(at) => turns.truncate(at),
                None if self.rest.is_some() => return Ok(None),
                None => return Err(no_cursor(cursor)),
            }
        }
        if turns.len() <= self.limit && self.rest.is_some() {
            return Ok(None);
        }
        let before = turns.len().saturating_sub(self.limit);
        let shown = turns.iter().skip(before);
        let oldest = shown.clone().next().filter(|_| before > 0);
        let next = oldest.map(|turn| (turn.id.clone(), turn.at));
        let turns = shown.rev().map(|turn| turn.json(ItemsView::Full)).collect();
        Ok(Some(Page { turns, next }))
    }
}
