//! Sessions that nobody holds are put away, brought back and thrown away.

use sessiond_index::Index;
use sessiond_log::{LogError, Owner, Store};
use sessiond_protocol::{Accepted, ErrorCode, Op, SessionId, WireError};

use crate::{
    actor::refusal,
    audit::{Action, Decision},
    catalog::subject,
};

/// Where a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Archive,
    Store,
    Trash,
    /// Out of the trash.
    Back,
}

impl Place {
    /// Where an operation puts its session, if it does.
    pub(super) fn of(op: &Op) -> Option<Self> {
        match op {
            Op::SessionArchive {} => Some(Place::Archive),
            Op::SessionUnarchive {} => Some(Place::Store),
            Op::SessionDelete {} => Some(Place::Trash),
            Op::SessionRestore {} => Some(Place::Back),
            _ => None,
        }
    }
}

impl Place {
    /// How it is said that there is none where it would come from, if that is one place only.
    fn lacks(self) -> Option<&'static str> {
        match self {
            Place::Store => Some("the archive has"),
            Place::Back => Some("the trash has the whole of"),
            Place::Archive | Place::Trash => None,
        }
    }
}

/// Moves a session. One that is in use, here or elsewhere, stays where it is: busy.
pub(super) fn put(
    store: &Store,
    index: &Index,
    session: SessionId,
    place: Place,
) -> Result<Accepted, WireError> {
    let (subject, owner) = (subject(session)?, Owner::current());
    let (action, moved) = match place {
        Place::Archive => (Action::Archive, store.archive(&subject, &owner)),
        Place::Store => (Action::Unarchive, store.unarchive(&subject)),
        Place::Trash => (Action::Delete, store.trash(&subject, &owner, now())),
        Place::Back => (Action::Restore, store.restore(&subject)),
    };
    let moved = moved.map_err(|error| match (&error, place.lacks()) {
        (LogError::NotFound(_), Some(lacks)) => {
            let message = format!("{lacks} no session {session}");
            WireError::new(ErrorCode::NotFound, message).about(session)
        }
        _ => refusal(session, &error),
    });
    Decision::on(session, action, &moved).write(store);
    moved?;
    // One that came back is found by the next list.
    if matches!(place, Place::Archive | Place::Trash) {
        index.forget(session);
    }
    Ok(Accepted::Done {})
}

/// Milliseconds of the Unix epoch; a clock before that counts as its beginning.
fn now() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}
