//! `sessiond sessions archive`, `unarchive` and `rm`.

use sessiond_protocol::{Accepted, Op};

use super::submission;
use crate::args::One;
use crate::failure::Failure;
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
}

impl Place {
    fn op(self) -> Op {
        match self {
            Place::Archive => Op::SessionArchive {},
            Place::Store => Op::SessionUnarchive {},
            Place::Trash => Op::SessionDelete {},
        }
    }

    fn name(self) -> &'static str {
        match self {
            Place::Archive => "archive",
            Place::Store => "store",
            Place::Trash => "trash",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Place::Archive => "is in the archive; `sessiond sessions unarchive` brings it back",
            Place::Store => "is back from the archive",
            Place::Trash => "is in the trash of the store; nothing of it is deleted yet",
        }
    }
}

/// Moves the session.
pub(super) fn run(setup: &Setup, one: &One, place: Place) -> Result<(), Failure> {
    let session = one.session;
    let Accepted::Done {} = submission::ask(setup, session, place.op())? else {
        return Err(unexpected().into());
    };
    if one.format.json {
        return print_json(&serde_json::json!({ "session": session, "moved_to": place.name() }));
    }
    print(&format!("{session} {}\n", place.sentence()))
}
