//! What the store holds, without attaching to anything: lists, pages of events, histories.

use sessiond_log::{Lease, LogError, Store, Subject};
use sessiond_protocol::{
    Accepted, Cursor, ErrorCode, History, HistoryItem, SessionId, SessionList, Summary,
    SummaryFold, TurnId, WireError, limits,
};

use crate::{
    actor::refusal,
    agent::AgentError,
    record::{damage_frame, log_error, to_frame},
};

/// A session's id as the log names it.
pub(crate) fn subject(session: SessionId) -> Result<Subject, WireError> {
    session
        .to_string()
        .parse()
        .map_err(|error: LogError| log_error(&error))
}

/// One page of the sessions, newest first. Filters first, then pages (a page is never short of what
/// fits); the cursor is the last row's sort key, so rows that come or go meanwhile shift nothing.
pub(crate) fn list(store: &Store, query: &SessionList) -> Result<Accepted, WireError> {
    let after = query.after.as_deref().map(parse_page).transpose()?;
    let mut rows: Vec<Summary> = Vec::new();
    for subject in store.subjects().map_err(|error| log_error(&error))? {
        // A session that cannot be read now (being made, damaged at its head) is not a row; asking
        // for it by id says why.
        let Ok(Some(summary)) = summary(store, &subject) else {
            continue;
        };
        if query.cwd.as_ref().is_none_or(|cwd| *cwd == summary.cwd) {
            rows.push(summary);
        }
    }
    rows.sort_unstable_by(|a, b| key(b).cmp(&key(a)));
    let limit = query
        .limit
        .unwrap_or(limits::PAGE_SESSIONS)
        .clamp(1, limits::PAGE_SESSIONS);
    let later = |row: &Summary| match &after {
        Some((at, id)) => key(row) < (at.as_str(), *id),
        None => true,
    };
    let mut sessions: Vec<Summary> = rows.into_iter().filter(later).collect();
    let more = sessions.len() > limit as usize;
    sessions.truncate(limit as usize);
    let next = sessions.last().filter(|_| more).map(page);
    Ok(Accepted::Sessions { sessions, next })
}

fn summary(store: &Store, subject: &Subject) -> Result<Option<Summary>, LogError> {
    let Ok(session) = subject.as_ref().parse() else {
        return Ok(None);
    };
    let scan = store.read(subject)?;
    let mut fold = SummaryFold::default();
    for record in &scan.records {
        fold.apply(&to_frame(session, record));
    }
    Ok(fold.finish().map(|mut summary| {
        summary.damage = scan.damage.len() as u64;
        summary
    }))
}

fn key(row: &Summary) -> (&str, SessionId) {
    (&row.updated_at, row.session)
}

fn page(row: &Summary) -> String {
    format!("{}/{}", row.updated_at, row.session)
}

fn parse_page(text: &str) -> Result<(String, SessionId), WireError> {
    let parsed = text
        .split_once('/')
        .and_then(|(at, id)| Some((at.to_owned(), id.parse().ok()?)));
    let message = "not a cursor of a list; use the `next` of the page before";
    parsed.ok_or_else(|| WireError::new(ErrorCode::Invalid, message))
}

/// One page of a session's durable events, as event frames.
pub(crate) fn read(
    store: &Store,
    session: SessionId,
    after: Cursor,
    limit: Option<u32>,
) -> Result<Accepted, WireError> {
    let subject = subject(session)?;
    let scan = store
        .read(&subject)
        .map_err(|error| refusal(session, &error))?;
    if scan.is_blank() {
        return Err(refusal(session, &LogError::NotFound(subject)));
    }
    let limit = limit
        .unwrap_or(limits::PAGE_EVENTS)
        .clamp(1, limits::PAGE_EVENTS) as usize;
    let mut records = scan.records.iter().filter(|record| record.seq > after.0);
    let mut frames: Vec<_> = records
        .by_ref()
        .take(limit)
        .map(|record| to_frame(session, record))
        .collect();
    let next = records
        .next()
        .and(frames.last().and_then(|frame| frame.cursor));
    if next.is_none() {
        frames.extend(scan.damage.iter().map(|place| damage_frame(session, place)));
    }
    let events: Result<Vec<_>, _> = frames.iter().map(serde_json::to_value).collect();
    let events = events.map_err(|error| {
        WireError::new(
            ErrorCode::Internal,
            format!("an event could not be written: {error}"),
        )
    })?;
    Ok(Accepted::Events { events, next })
}

/// The closed items of a session, but for the turn that is about to run.
pub(crate) fn history(
    session: SessionId,
    lease: &Lease,
    current: Option<TurnId>,
) -> Result<Vec<HistoryItem>, AgentError> {
    let failed =
        |error: LogError| AgentError::failed(format!("the history is unreadable: {error}"));
    let scan = lease.scan().map_err(failed)?;
    let mut history = History::default();
    for record in &scan.records {
        history.apply(to_frame(session, record));
    }
    Ok(history
        .items()
        .iter()
        .filter(|item| item.turn != current)
        .cloned()
        .collect())
}
