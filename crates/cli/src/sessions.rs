//! `sessiond sessions`: what is stored.

mod decided;
mod export;
mod fork;
mod gc;
mod health;
mod import;
mod meter;
mod older;
mod rename;
mod repair;
mod retention;
mod shelf;
mod submission;
mod verify;

use std::path::Path;

use sessiond_log::{Store, Subject};
use sessiond_protocol::{
    Accepted, Cursor, EventFrame, Op, ServerFrame, SessionId, SessionList, Summary, WireError,
    encode,
};

use crate::args::{List, Sessions, Show};
use crate::conversation::{Conversation, Life, one_line};
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::{Setup, block_on};
use crate::waist::{Waist, unexpected};

/// Longest title in a list, in characters: a line should stay a line.
const TITLE_CHARS: usize = 48;

/// Runs the command.
pub(crate) fn run(setup: &Setup, sessions: &Sessions) -> Result<(), Failure> {
    match sessions {
        Sessions::List(list) => self::list(setup, list),
        Sessions::Show(show) => self::show(setup, show),
        Sessions::Rename(rename) => rename::run(setup, rename),
        Sessions::Fork(fork) => fork::run(setup, fork),
        Sessions::Archive(archive) if archive.older => older::run(setup, archive),
        Sessions::Archive(archive) => shelf::archive(setup, archive),
        Sessions::Unarchive(one) => shelf::run(setup, one, shelf::Place::Store),
        Sessions::Rm(one) => shelf::run(setup, one, shelf::Place::Trash),
        Sessions::Restore(one) => shelf::restore(setup, one),
        Sessions::Verify(verify) => verify::run(setup, verify),
        Sessions::Repair(one) => repair::run(setup, one),
        Sessions::Export(export) => export::run(setup, export),
        Sessions::Import(import) => import::run(setup, import),
        Sessions::Gc(gc) => gc::run(setup, gc),
    }
}

fn list(setup: &Setup, list: &List) -> Result<(), Failure> {
    let cwd = list.cwd.as_deref().map(absolute).transpose()?;
    let summaries = block_on(async {
        let engine = setup.engine("sessions")?;
        let mut waist = Waist::open(engine.connect(), "sessions").await?;
        let mut summaries: Vec<Summary> = Vec::new();
        let mut after = None;
        loop {
            let page = SessionList {
                cwd: cwd.clone(),
                after,
                ..SessionList::default()
            };
            match waist.call(None, Op::SessionList(page), drop).await? {
                Accepted::Sessions { sessions, next } => {
                    summaries.extend(sessions);
                    after = next;
                }
                _ => return Err(unexpected().into()),
            }
            if after.is_none() {
                waist.close().await;
                return Ok(summaries);
            }
        }
    })?;
    if list.format.json {
        return print_json(&serde_json::json!({ "sessions": summaries }));
    }
    if summaries.is_empty() {
        return print("no sessions\n");
    }
    summaries
        .iter()
        .try_for_each(|summary| print(&line(summary)))
}

fn line(summary: &Summary) -> String {
    let title = summary.title.as_deref().unwrap_or("(no title)");
    let title: String = one_line(title).chars().take(TITLE_CHARS).collect();
    let damaged = if summary.damage > 0 { "  DAMAGED" } else { "" };
    let when: String = summary
        .updated_at
        .chars()
        .take("2026-01-01T00:00:00".len())
        .collect();
    let (id, turns, cwd) = (summary.session, summary.turns, one_line(&summary.cwd));
    format!("{id}  {when}Z  {turns:>3} turns  {title:<TITLE_CHARS$}  {cwd}{damaged}\n")
}

/// The directory as sessions record it.
fn absolute(path: &Path) -> Result<String, Failure> {
    std::path::absolute(path)
        .ok()
        .and_then(|path| path.into_os_string().into_string().ok())
        .ok_or_else(|| Failure::Usage("--cwd names no directory in UTF-8".to_owned()))
}

fn show(setup: &Setup, show: &Show) -> Result<(), Failure> {
    let frames = read(setup, show.session)?;
    let conversation = Conversation::new(show.session, life(setup, show.session), frames);
    if !show.format.json {
        return print(&conversation.to_string());
    }
    conversation
        .into_frames()
        .into_iter()
        .try_for_each(|frame| {
            let line = encode(&ServerFrame::Event(frame))
                .map_err(|error| WireError::new(error.code, error.message))?;
            print(&line)
        })
}

/// All durable events of a session, without a lease.
fn read(setup: &Setup, session: SessionId) -> Result<Vec<EventFrame>, Failure> {
    block_on(async {
        let engine = setup.engine("sessions")?;
        let mut waist = Waist::open(engine.connect(), "sessions").await?;
        let mut frames = Vec::new();
        let mut after = Cursor::START;
        loop {
            let op = Op::SessionRead { after, limit: None };
            let page = waist.call(Some(session), op, drop).await?;
            let Accepted::Events { events, next } = page else {
                return Err(unexpected().into());
            };
            for event in events {
                let frame = serde_json::from_value(event).map_err(|error| Failure::Os {
                    step: "read an event",
                    source: error.into(),
                })?;
                frames.push(frame);
            }
            match next {
                Some(next) => after = next,
                None => {
                    waist.close().await;
                    return Ok(frames);
                }
            }
        }
    })
}

/// Whether somebody is working in the session: what is open is under way then, not left behind.
fn life(setup: &Setup, session: SessionId) -> Life {
    let subject: Result<Subject, _> = session.to_string().parse();
    let holder = subject.and_then(|subject| Store::open_real(setup.store())?.holder(&subject));
    match holder {
        Ok(Some(holder)) => Life::Held(holder.to_string()),
        // What cannot be found out changes nothing about the conversation.
        Ok(None) | Err(_) => Life::Resting,
    }
}
