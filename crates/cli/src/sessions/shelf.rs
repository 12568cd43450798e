//! `sessiond sessions archive`, `unarchive`, `rm` and `restore`.

use sessiond_protocol::{Accepted, Op, SessionId};

use super::submission;
use crate::args::{Archive, Format, One};
use crate::failure::Failure;
use crate::named;
use crate::output::{print, print_json};
use crate::setup::Setup;
use crate::waist::unexpected;

/// Where a session goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Out of the lists.
    Archive,
    /// Back into them.
    Store,
    /// To where it is deleted from.
    Trash,
    /// Back from there.
    Back,
}

impl Place {
    fn op(self) -> Op {
        match self {
            Place::Archive => Op::SessionArchive {},
            Place::Store => Op::SessionUnarchive {},
            Place::Trash => Op::SessionDelete {},
            Place::Back => Op::SessionRestore {},
        }
    }

    fn name(self) -> &'static str {
        match self {
            Place::Archive => "archive",
            Place::Store | Place::Back => "store",
            Place::Trash => "trash",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Place::Archive => "is in the archive; `sessiond sessions unarchive` brings it back",
            Place::Store => "is back from the archive",
            Place::Trash => {
                "is in the trash of the store; `sessiond sessions restore` brings it back as long \
                 as nothing of it is deleted"
            }
            Place::Back => "is back from the trash",
        }
    }
}

/// Moves a session.
pub(super) fn run(setup: &Setup, one: &One, place: Place) -> Result<(), Failure> {
    put(setup, one.session, one.format, place)
}

/// Puts the session into the archive.
pub(super) fn archive(setup: &Setup, archive: &Archive) -> Result<(), Failure> {
    let session = named::find(setup, &archive.session)?;
    put(setup, session, archive.format, Place::Archive)
}

fn put(setup: &Setup, session: SessionId, format: Format, place: Place) -> Result<(), Failure> {
    let Accepted::Done {} = submission::ask(setup, session, place.op())? else {
        return Err(unexpected().into());
    };
    if format.json {
        return print_json(&serde_json::json!({ "session": session, "moved_to": place.name() }));
    }
    print(&format!("{session} {}\n", place.sentence()))
}
