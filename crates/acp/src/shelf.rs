//! Sessions that are put away, brought back and removed. A session that is active on this connection
//! is closed first (acp.md 1.5).

use agent_client_protocol_schema::v1::{
    ArchiveSessionRequest, ArchiveSessionResponse, CloseSessionResponse, DeleteSessionRequest,
    DeleteSessionResponse, UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use serde_json::value::RawValue;
use sessiond_protocol::{Accepted, ErrorCode, Op, SessionId, SessionStatus, Verdict, WireError};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::awaited::{Awaited, Purpose, Shelf};
use crate::face::Face;
use crate::params::{read, session_id};
use crate::refusal::from_waist;

impl Face {
    /// A session that does not exist is removed.
    pub(crate) fn delete_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: DeleteSessionRequest = read(params)?;
        let Ok(session) = session_id(&asked.session_id.0) else {
            self.client.answer(id, &DeleteSessionResponse::new());
            return Ok(());
        };
        self.shelve(id, session, Shelf::Trash)
    }

    pub(crate) fn archive_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ArchiveSessionRequest = read(params)?;
        let session = session_id(&asked.session_id.0)?;
        self.shelve(id, session, Shelf::Archive)
    }

    pub(crate) fn unarchive_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: UnarchiveSessionRequest = read(params)?;
        let session = session_id(&asked.session_id.0)?;
        self.shelve(id, session, Shelf::Store)
    }

    fn shelve(&mut self, id: &RawId, session: SessionId, shelf: Shelf) -> Result<(), ErrorObject> {
        let is_active = self
            .sessions
            .get(&session)
            .is_some_and(|state| state.is_active);
        let (purpose, op) = match shelf {
            Shelf::Archive | Shelf::Trash if is_active => {
                (Purpose::CloseFor(shelf), Op::SessionClose {})
            }
            _ => (Purpose::Shelve(shelf), shelf.op()),
        };
        self.submit(Awaited::about(session, id, purpose), Some(session), op)
    }

    /// A session was closed so that it can be put away.
    pub(crate) fn closed_for(&mut self, id: &RawId, session: SessionId, shelf: Shelf) {
        self.session_closed(session);
        let awaited = Awaited::about(session, id, Purpose::Shelve(shelf));
        if let Err(error) = self.submit(awaited, Some(session), shelf.op()) {
            self.client.fail(id, &error);
        }
    }

    /// What became of it. Where there is none, it may have been put there before.
    pub(crate) fn shelved(
        &mut self,
        id: &RawId,
        (session, shelf): (SessionId, Shelf),
        verdict: &Verdict,
    ) {
        match (verdict, shelf) {
            (Verdict::Accepted(_), shelf) => self.answer_shelved(id, shelf),
            (Verdict::Error(refused), Shelf::Trash) if refused.code == ErrorCode::NotFound => {
                self.answer_shelved(id, shelf);
            }
            (Verdict::Error(refused), _) if refused.code == ErrorCode::NotFound => {
                let awaited = Awaited::about(session, id, Purpose::ShelvedBefore(shelf));
                if let Err(error) = self.submit(awaited, Some(session), Op::SessionStatus {}) {
                    self.client.fail(id, &error);
                }
            }
            (Verdict::Error(refused), _) => self.refuse_shelving(id, session, refused),
        }
    }

    /// Putting a session where it is already succeeds.
    pub(crate) fn shelved_before(
        &mut self,
        id: &RawId,
        (session, shelf): (SessionId, Shelf),
        verdict: &Verdict,
    ) {
        let is_there = match verdict {
            Verdict::Accepted(Accepted::Status { status }) => match shelf {
                Shelf::Archive => *status == SessionStatus::Archived,
                Shelf::Store => *status != SessionStatus::Archived,
                Shelf::Trash => false,
            },
            _ => false,
        };
        if is_there {
            return self.answer_shelved(id, shelf);
        }
        let gone = WireError::new(ErrorCode::NotFound, "no such session");
        self.refuse_shelving(id, session, &gone);
    }

    fn answer_shelved(&mut self, id: &RawId, shelf: Shelf) {
        match shelf {
            Shelf::Archive => self.client.answer(id, &ArchiveSessionResponse::new()),
            Shelf::Store => self.client.answer(id, &UnarchiveSessionResponse::new()),
            Shelf::Trash => self.client.answer(id, &DeleteSessionResponse::new()),
        }
    }

    fn refuse_shelving(&mut self, id: &RawId, session: SessionId, refused: &WireError) {
        let error = from_waist(refused, &session.to_string());
        self.client.fail(id, &error);
    }

    /// Answers `session/close`.
    pub(crate) fn answer_closed(&mut self, id: &RawId, session: SessionId) {
        self.session_closed(session);
        self.client.answer(id, &CloseSessionResponse::new());
    }
}
