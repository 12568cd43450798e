//! Questions without a side effect: how a session stands, what an agent offers, whether somebody has
//! to sign in (acp.md 1.5).

use agent_client_protocol_schema::v1::{
    AuthState, AuthStatusRequest, AuthStatusResponse, SessionOptionsRequest,
    SessionOptionsResponse, SessionStatus as AcpStatus, SessionStatusRequest,
    SessionStatusResponse,
};
use serde_json::value::RawValue;
use sessiond_protocol::{AgentInfo, Op, SessionStatus};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::awaited::{Awaited, Purpose};
use crate::choices::Choices;
use crate::face::Face;
use crate::params::{absolute, read, session_id};

/// A status of our own: the session has to be brought back before it can be resumed.
const ARCHIVED: &str = "_archived";

impl Face {
    /// Sessions belong to the user that runs us.
    pub(crate) fn auth_status(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        read::<AuthStatusRequest>(params)?;
        let status = AuthStatusResponse::new(AuthState::NotRequired);
        self.client.answer(id, &status);
        Ok(())
    }

    pub(crate) fn session_status(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SessionStatusRequest = read(params)?;
        let session = session_id(&asked.session_id.0)?;
        let awaited = Awaited::about(session, id, Purpose::Status);
        self.submit(awaited, Some(session), Op::SessionStatus {})
    }

    pub(crate) fn answer_status(&mut self, id: &RawId, status: SessionStatus) {
        let status = match status {
            SessionStatus::Open => AcpStatus::Open,
            SessionStatus::Saved => AcpStatus::Saved,
            SessionStatus::Archived => AcpStatus::Other(ARCHIVED.to_owned()),
        };
        self.client.answer(id, &SessionStatusResponse::new(status));
    }

    pub(crate) fn session_options(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SessionOptionsRequest = read(params)?;
        absolute(&asked.cwd, "cwd")?;
        for root in &asked.additional_directories {
            absolute(root, "one of additionalDirectories")?;
        }
        let session = asked.session_id.as_ref();
        let session = session.map(|session| session_id(&session.0)).transpose()?;
        // A stored session is of the agent that it was made with.
        let agent = self.options.agent.clone().filter(|_| session.is_none());
        let awaited = Awaited {
            session,
            ..Awaited::request(id, Purpose::Options)
        };
        self.submit(awaited, session, Op::AgentOptions { agent })
    }

    pub(crate) fn answer_options(&mut self, id: &RawId, agent: &AgentInfo, mode: Option<&String>) {
        let choices = Choices::of(agent, mode);
        let options = choices.options(self.gates());
        let response = SessionOptionsResponse::new()
            .modes(choices.modes())
            .config_options(options);
        self.client.answer(id, &response);
    }
}
