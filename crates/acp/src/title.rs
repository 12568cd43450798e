//! `session/set_title`: also of a session that is not active here (acp.md 1.5).

use agent_client_protocol_schema::v1::{SetSessionTitleRequest, SetSessionTitleResponse};
use serde_json::value::RawValue;
use sessiond_protocol::{
    AttachMode, DriftClass, FoundBy, OnDisconnect, Op, Replay, SessionId, SessionResume, title_line,
};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::awaited::{Awaited, Purpose, Titling};
use crate::face::Face;
use crate::params::{read, session_id};
use crate::refusal::invalid_params;

/// Control of a session with nothing given, shown or answered: to do one thing with it.
pub(crate) fn visit(session: SessionId, accept: &[DriftClass]) -> SessionResume {
    SessionResume {
        session,
        cwd: None,
        setup: None,
        found_by: FoundBy::Id,
        accept: accept.to_vec(),
        replay: Replay::None,
        mode: AttachMode::Control,
        answers: Vec::new(),
        on_disconnect: OnDisconnect::Cancel,
    }
}

impl Face {
    pub(crate) fn set_title(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SetSessionTitleRequest = read(params)?;
        let title = title_line(&asked.title);
        if title.is_empty() {
            return Err(invalid_params("a title needs a line with text"));
        }
        let session = session_id(&asked.session_id.0)?;
        if self.is_active(&asked.session_id.0).is_some() {
            return self.rename(id, session, Titling::Open(title));
        }
        let attach = Op::SessionResume(visit(session, &self.options.accept));
        let purpose = Purpose::Title(Titling::Attach(title));
        self.submit(Awaited::about(session, id, purpose), None, attach)
    }

    fn rename(
        &mut self,
        id: &RawId,
        session: SessionId,
        titling: Titling,
    ) -> Result<(), ErrorObject> {
        let (Titling::Open(title) | Titling::Attach(title) | Titling::Attached(title)) =
            titling.clone();
        let awaited = Awaited::about(session, id, Purpose::Title(titling));
        self.submit(awaited, Some(session), Op::SessionRename { title })
    }

    /// Goes on with a title, and says how it was stored.
    pub(crate) fn titled(&mut self, id: &RawId, session: SessionId, titling: Titling) {
        match titling {
            Titling::Attach(title) => {
                if let Err(error) = self.rename(id, session, Titling::Attached(title)) {
                    self.client.fail(id, &error);
                }
            }
            Titling::Attached(title) => {
                self.leave(session);
                self.client.answer(id, &SetSessionTitleResponse::new(title));
            }
            Titling::Open(title) => {
                self.client.answer(id, &SetSessionTitleResponse::new(title));
            }
        }
    }

    /// Lets a session go that was attached to for one thing, unless the client has it meanwhile.
    pub(crate) fn leave(&mut self, session: SessionId) {
        if self.sessions.contains_key(&session) {
            return;
        }
        let left = self.submit(Awaited::nothing(), Some(session), Op::SessionDetach {});
        if left.is_err() {
            tracing::error!("a session could not be left");
        }
    }
}
