//! `sessiond sessions`: what is stored.

mod decided;
mod export;
mod fork;
mod gc;
mod health;
mod import;
mod list;
mod meter;
mod older;
mod rename;
mod repair;
mod retention;
mod shelf;
mod submission;
mod verify;

pub(crate) use decided::record;
pub(crate) use export::write as export_to;
pub(crate) use import::{from_file, remapped};

use sessiond_log::{Store, Subject};
use sessiond_protocol::{ServerFrame, SessionId, WireError, encode};

use crate::args::{Named, One, Sessions, Show};
use crate::conversation::{Conversation, Life};
use crate::failure::Failure;
use crate::named;
use crate::output::print;
use crate::setup::Setup;

/// Runs the command.
pub(crate) fn run(setup: &Setup, sessions: &Sessions) -> Result<(), Failure> {
    match sessions {
        Sessions::List(list) => list::run(setup, list),
        Sessions::Show(show) => self::show(setup, show),
        Sessions::Rename(rename) => rename::run(setup, rename),
        Sessions::Fork(fork) => fork::run(setup, fork),
        Sessions::Archive(archive) if archive.older => older::run(setup, archive),
        Sessions::Archive(archive) => shelf::archive(setup, archive),
        Sessions::Unarchive(one) => shelf::run(setup, one, shelf::Place::Store),
        Sessions::Rm(named) => shelf::run(setup, &one(setup, named)?, shelf::Place::Trash),
        Sessions::Restore(one) => shelf::run(setup, one, shelf::Place::Back),
        Sessions::Verify(verify) => verify::run(setup, verify),
        Sessions::Repair(named) => repair::run(setup, &one(setup, named)?),
        Sessions::Export(export) => export::run(setup, export),
        Sessions::Import(import) => import::run(setup, import),
        Sessions::Gc(gc) => gc::run(setup, gc),
    }
}

/// The session that is named, by its id.
fn one(setup: &Setup, named: &Named) -> Result<One, Failure> {
    let (session, format) = (named::find(setup, &named.session)?, named.format);
    Ok(One { session, format })
}

fn show(setup: &Setup, show: &Show) -> Result<(), Failure> {
    let session = named::find(setup, &show.session)?;
    let frames = sessiond_engine::events_of(&Store::open_real(setup.store())?, session)?;
    let conversation = Conversation::new(session, life(setup, session), frames);
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
