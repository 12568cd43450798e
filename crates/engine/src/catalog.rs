//! What the store holds, without attaching to anything: lists, pages of events, histories.

use sessiond_index::{Index, IndexError, InvalidAfter, Query};
use sessiond_log::{Attachment, Lease, LogError, Seen, Since, Store, Subject};
use sessiond_protocol::{
    Accepted, Archived, Course, Cursor, ErrorCode, Event, EventFrame, History, InForce, Marker,
    SessionId, SessionList, SessionStatus, Standing, TurnId, WireError, limits,
};

use crate::{
    actor::refusal,
    agent::{AgentError, Conversation},
    record::{attached, damage_frame, log_error, to_frame},
};

/// A session's id as the log names it.
pub(crate) fn subject(session: SessionId) -> Result<Subject, WireError> {
    session
        .to_string()
        .parse()
        .map_err(|error: LogError| log_error(&error))
}

/// One page of the sessions, newest first, from the index.
///
/// # Errors
/// `invalid` for a cursor that no page gave, and for a filter that is empty, which could only mean
/// that a client forgot it, or longer than [`limits::FILTER_CHARS`]; what the index says.
pub(crate) fn list(index: &Index, query: &SessionList) -> Result<Accepted, WireError> {
    let invalid = |error: InvalidAfter| WireError::new(ErrorCode::Invalid, error.to_string());
    let after = query.after.as_deref().map(str::parse).transpose();
    let limit = query
        .limit
        .unwrap_or(limits::PAGE_SESSIONS)
        .clamp(1, limits::PAGE_SESSIONS);
    let archived = query.archived;
    let query = Query {
        cwd: query.cwd.clone(),
        title: filter("title", query.title.as_ref())?,
        search: filter("search", query.search.as_ref())?,
        after: after.map_err(invalid)?,
        limit,
    };
    let page = match archived {
        Archived::Exclude => index.list(&query),
        Archived::Include => index.list_all(&query),
        Archived::Only => index.list_archived(&query),
    };
    let page = page.map_err(|error| index_error(&error))?;
    let next = page.next.map(|after| after.to_string());
    let sessions = page.rows;
    Ok(Accepted::Sessions { sessions, next })
}

/// How many sessions there are; whatever it would be filtered by could be guessed that way.
///
/// # Errors
/// As [`list`].
pub(crate) fn count(index: &Index, query: SessionList) -> Result<Accepted, WireError> {
    if query.title.is_some() || query.search.is_some() {
        let message = "over a network a list is filtered within one workspace only; give `cwd`";
        return Err(WireError::new(ErrorCode::Invalid, message));
    }
    let mut query = SessionList {
        after: None,
        limit: None,
        ..query
    };
    let mut count = 0;
    loop {
        let Accepted::Sessions { sessions, next } = list(index, &query)? else {
            return Ok(Accepted::Count { count });
        };
        count += sessions.len() as u64;
        if next.is_none() {
            return Ok(Accepted::Count { count });
        }
        query.after = next;
    }
}

/// A text that a list is filtered by.
fn filter(name: &str, text: Option<&String>) -> Result<Option<String>, WireError> {
    let most = limits::FILTER_CHARS;
    let problem = match text {
        Some(text) if text.is_empty() => "is empty; leave it out to list all".to_owned(),
        Some(text) if text.chars().nth(most).is_some() => {
            format!("is longer than {most} characters")
        }
        text => return Ok(text.cloned()),
    };
    let message = format!("the `{name}` of a list {problem}");
    Err(WireError::new(ErrorCode::Invalid, message))
}

fn index_error(error: &IndexError) -> WireError {
    match error {
        IndexError::Log(error) => log_error(error),
        error => WireError::new(ErrorCode::Storage, error.to_string()),
    }
}

/// All durable events of a session in order, broken places at their end, in one reading and without
/// a lease.
///
/// # Errors
/// `not_found`; `storage` where the log cannot be read.
pub fn events_of(store: &Store, session: SessionId) -> Result<Vec<EventFrame>, WireError> {
    let subject = subject(session)?;
    let mut frames = Vec::new();
    let scan = store.visit(&subject, &mut |record| {
        frames.push(to_frame(session, record));
    });
    let scan = scan.map_err(|error| refusal(session, &error))?;
    if scan.is_blank() {
        return Err(refusal(session, &LogError::NotFound(subject)));
    }
    frames.extend(scan.damage.iter().map(|place| damage_frame(session, place)));
    Ok(frames)
}

/// The pieces of the files that a session keeps as they were written elsewhere, in order: each a
/// [`Marker::Original`] with where its bytes are.
///
/// # Errors
/// `storage` where the log cannot be read.
pub fn originals_of(
    store: &Store,
    session: SessionId,
) -> Result<Vec<(Marker, Vec<Attachment>)>, WireError> {
    let mut originals = Vec::new();
    let scan = store.visit(&subject(session)?, &mut |record| {
        let pieces = attached(record);
        if !pieces.is_empty()
            && let Event::Marker(marker @ Marker::Original { .. }) = to_frame(session, record).event
        {
            originals.push((marker, pieces));
        }
    });
    scan.map_err(|error| refusal(session, &error))?;
    Ok(originals)
}

/// Whether a session that is not open in this process is open in another.
pub(crate) fn status(store: &Store, session: SessionId) -> Result<Accepted, WireError> {
    let subject = subject(session)?;
    let failed = |error: LogError| refusal(session, &error);
    let status = if store.holder(&subject).map_err(failed)?.is_some() {
        SessionStatus::Open
    } else if store.exists(&subject).map_err(failed)? {
        SessionStatus::Saved
    } else if store.archived().map_err(failed)?.contains(&subject) {
        SessionStatus::Archived
    } else {
        return Err(failed(LogError::NotFound(subject)));
    };
    Ok(Accepted::Status { status })
}

/// How a session stands, read without attaching to it.
pub(crate) fn standing(store: &Store, session: SessionId) -> Result<Standing, WireError> {
    let subject = subject(session)?;
    let mut standing = Standing::default();
    let scan = store.visit(&subject, &mut |record| {
        standing.apply(&to_frame(session, record));
    });
    let scan = scan.map_err(|error| refusal(session, &error))?;
    match scan.is_blank() {
        true => Err(refusal(session, &LogError::NotFound(subject))),
        false => Ok(standing),
    }
}

/// The closed items of a session that are in force, but for the turn that is about to run.
pub(crate) fn history(
    session: SessionId,
    lease: &Lease,
    (in_force, current): (&InForce, Option<TurnId>),
) -> Result<Conversation, AgentError> {
    let failed =
        |error: LogError| AgentError::failed(format!("the history is unreadable: {error}"));
    let mut history = History::default();
    let visited = lease.visit(Since::Start, &mut |seen| match seen {
        Seen::Record(record) if in_force.contains(Cursor(record.seq)) => {
            history.apply(to_frame(session, record));
        }
        Seen::Record(_) | Seen::Damage(_) => {}
    });
    visited.map_err(failed)?;
    let others = history.items().filter(|item| item.turn != current);
    let mut broken_off = history.broken_off().iter().copied();
    Ok(Conversation {
        items: others.cloned().collect(),
        broken_off: broken_off.find(|turn| Some(*turn) != current),
    })
}

/// The course of a session's conversation.
pub(crate) fn course(session: SessionId, lease: &Lease) -> Result<Course, LogError> {
    let mut course = Course::default();
    lease.visit(Since::Start, &mut |seen| {
        if let Seen::Record(record) = seen {
            course.apply(&to_frame(session, record));
        }
    })?;
    Ok(course)
}
