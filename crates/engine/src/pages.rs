//! Pages of a session's events, read without attaching. A page costs the segments that it lies in.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use sessiond_log::{Damage, LogError, Record, Seen, Since, Store, Subject};
use sessiond_protocol::{
    Accepted, Cursor, ErrorCode, EventFrame, Extent, InForce, SessionId, Standing, WireError,
    limits,
};

use crate::{
    actor::refusal,
    catalog::subject,
    record::{damage_frame, to_frame},
};

/// Bytes of records at which a page ends before its limit: our frames stay under 1 MiB where their
/// content can be split (WIRE-4).
const PAGE_BYTES: usize = 512 * 1024;

/// What is asked for, as in [`sessiond_protocol::Op::SessionRead`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) after: Cursor,
    pub(crate) before: Option<Cursor>,
    pub(crate) limit: Option<u32>,
    pub(crate) extent: Extent,
}

/// One page of a session's durable events, as event frames; broken places where they lie.
///
/// # Errors
/// `not_found`; `storage` where the log cannot be read.
pub(crate) fn read(
    store: &Store,
    session: SessionId,
    wanted: Wanted,
) -> Result<Accepted, WireError> {
    let subject = subject(session)?;
    let failed = |error: LogError| refusal(session, &error);
    let page = match wanted.before {
        None => forwards(store, &subject, wanted),
        Some(before) => backwards(store, &subject, (wanted, before)),
    };
    let page = page.map_err(failed)?;
    if page.is_blank {
        return Err(failed(LogError::NotFound(subject)));
    }
    let shown = match wanted.extent {
        Extent::All => None,
        Extent::Conversation => Some(in_force(store, (session, &subject)).map_err(failed)?),
    };
    let next = page.next(wanted.before.is_some());
    let frames = page.found.iter().map(|found| found.frame(session));
    let frames = frames.filter(|frame| shown.as_ref().is_none_or(|shown| shown.shows(frame)));
    let events: Result<Vec<_>, _> = frames.map(serde_json::to_value).collect();
    let events = events.map_err(|error| {
        WireError::new(
            ErrorCode::Internal,
            format!("an event could not be written: {error}"),
        )
    })?;
    Ok(Accepted::Events { events, next })
}

/// Something of a log.
#[derive(Debug)]
enum Found {
    Record(Record),
    Damage(Damage),
}

impl Found {
    fn of(seen: Seen<'_>) -> Self {
        match seen {
            Seen::Record(record) => Found::Record(record.to_record()),
            Seen::Damage(damage) => Found::Damage(damage.clone()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Found::Record(record) => record.data.len(),
            Found::Damage(_) => 0,
        }
    }

    fn seq(&self) -> Option<Cursor> {
        match self {
            Found::Record(record) => Some(Cursor(record.seq)),
            Found::Damage(_) => None,
        }
    }

    fn frame(&self, session: SessionId) -> EventFrame {
        match self {
            Found::Record(record) => to_frame(session, record.view()),
            Found::Damage(damage) => damage_frame(session, damage),
        }
    }
}

/// A page while it is read.
#[derive(Debug, Default)]
struct Page {
    found: VecDeque<Found>,
    bytes: usize,
    records: usize,
    /// Whether there is more in the direction of reading.
    rest: Rest,
    is_blank: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Rest {
    #[default]
    Nothing,
    More,
}

impl Page {
    /// Whether it takes no more.
    fn is_full(&self, limit: usize) -> bool {
        self.records >= limit || self.bytes >= PAGE_BYTES
    }

    fn count(&mut self, found: &Found) {
        self.bytes += found.bytes();
        self.records += usize::from(found.seq().is_some());
    }

    /// Lets go of the oldest as long as the rest fills the page.
    fn trim(&mut self, limit: usize) {
        while let Some(oldest) = self.found.front() {
            let (bytes, records) = (oldest.bytes(), usize::from(oldest.seq().is_some()));
            let would_be_full = self.records - records >= limit || self.bytes - bytes >= PAGE_BYTES;
            if !would_be_full {
                return;
            }
            self.bytes -= bytes;
            self.records -= records;
            self.found.pop_front();
            self.rest = Rest::More;
        }
    }

    /// Where the next page goes on.
    fn next(&self, backwards: bool) -> Option<Cursor> {
        let mut cursors = self.found.iter().filter_map(Found::seq);
        let end = match backwards {
            true => cursors.next(),
            false => cursors.next_back(),
        };
        end.filter(|_| self.rest == Rest::More)
    }
}

fn most(limit: Option<u32>) -> usize {
    let limit = limit.unwrap_or(limits::PAGE_EVENTS);
    limit.clamp(1, limits::PAGE_EVENTS) as usize
}

fn forwards(store: &Store, subject: &Subject, wanted: Wanted) -> Result<Page, LogError> {
    let limit = most(wanted.limit);
    let mut page = Page::default();
    let since = Since::Behind(wanted.after.0);
    let scan = store.visit_some(subject, since, &mut |seen| {
        if page.is_full(limit) {
            page.rest = Rest::More;
            return ControlFlow::Break(());
        }
        let found = Found::of(seen);
        page.count(&found);
        page.found.push_back(found);
        ControlFlow::Continue(())
    })?;
    page.is_blank = page.found.is_empty() && scan.is_blank();
    Ok(page)
}

/// Reads segment by segment from the newest on, until the page is full.
fn backwards(
    store: &Store,
    subject: &Subject,
    (wanted, before): (Wanted, Cursor),
) -> Result<Page, LogError> {
    let limit = most(wanted.limit);
    let mut page = Page {
        is_blank: true,
        ..Page::default()
    };
    let mut end = before.0;
    let mut beginnings = store.beginnings(subject)?;
    beginnings.retain(|first| *first < end);
    // What lies in front of the first segment whose head can be read.
    let all = beginnings
        .into_iter()
        .rev()
        .map(|first| first - 1)
        .chain([0]);
    for first in all {
        let after = first.max(wanted.after.0);
        let mut newer = std::mem::take(&mut page.found);
        let scan = store.visit_some(subject, Since::Behind(after), &mut |seen| {
            let seq = match seen {
                Seen::Record(record) => record.seq,
                Seen::Damage(damage) => damage.after_seq + 1,
            };
            if seq >= end {
                return ControlFlow::Break(());
            }
            let found = Found::of(seen);
            page.count(&found);
            page.found.push_back(found);
            page.trim(limit);
            ControlFlow::Continue(())
        })?;
        page.is_blank &= page.found.is_empty() && newer.is_empty() && scan.is_blank();
        page.found.append(&mut newer);
        page.trim(limit);
        if page.is_full(limit) {
            let is_more = after > wanted.after.0;
            page.rest = if is_more { Rest::More } else { page.rest };
            break;
        }
        if first <= wanted.after.0 {
            break;
        }
        end = first + 1;
    }
    Ok(page)
}

/// What of a log is in force, read from its newest checkpoint on.
fn in_force(store: &Store, (session, subject): (SessionId, &Subject)) -> Result<InForce, LogError> {
    let standing = |since| {
        let mut standing = Standing::default();
        store.visit_some(subject, since, &mut |seen| {
            if let Seen::Record(record) = seen {
                standing.apply(&to_frame(session, record));
            }
            ControlFlow::Continue(())
        })?;
        Ok::<_, LogError>(standing)
    };
    let mut found = standing(Since::Checkpoint)?;
    if found.header.is_none() {
        // Its checkpoint is of another version.
        found = standing(Since::Start)?;
    }
    Ok(found.in_force())
}
