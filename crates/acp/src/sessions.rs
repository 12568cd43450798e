//! Requests about sessions: new, load, list, close, mode.

use std::io::Write;

use agent_client_protocol_schema::v1::{
    CloseSessionRequest, CloseSessionResponse, ListSessionsRequest, LoadSessionRequest,
    NewSessionRequest, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use serde_json::value::RawValue;
use sessiond_protocol::{
    AttachMode, FoundBy, Op, Replay, RequestKind, SessionId, SessionList, SessionNew,
    SessionResume, Setup,
};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::face::Face;
use crate::modes::MODE_OPTION;
use crate::params::{absolute, accept, read, session_id, setup_load, setup_new};
use crate::receipt::{Awaited, Setter};
use crate::refusal::invalid_params;

impl Face {
    pub(crate) fn new_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let setup = setup_new(&read::<NewSessionRequest>(params)?)?;
        self.note_servers(setup.mcp_servers);
        let op = Op::SessionNew(SessionNew {
            id: None,
            cwd: setup.cwd,
            agent: self.options.agent.clone(),
            setup: Setup::default(),
            answers: self.answers(),
            on_disconnect: self.options.on_disconnect,
        });
        self.submit(Awaited::New { id: id.clone() }, None, op)
    }

    pub(crate) fn load_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: LoadSessionRequest = read(params)?;
        let (session, setup) = setup_load(&asked)?;
        let mut accept = accept(asked.meta.as_ref())?;
        accept.extend(&self.options.accept);
        self.note_servers(setup.mcp_servers);
        let op = Op::SessionResume(SessionResume {
            session,
            cwd: Some(setup.cwd),
            setup: None,
            found_by: FoundBy::Id,
            accept,
            replay: Replay::All,
            mode: AttachMode::Control,
            answers: self.answers(),
            on_disconnect: self.options.on_disconnect,
        });
        self.submit(
            Awaited::Load {
                id: id.clone(),
                session,
            },
            None,
            op,
        )?;
        self.sessions.entry(session).or_default().begin_load();
        Ok(())
    }

    pub(crate) fn list_sessions(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ListSessionsRequest = read(params)?;
        let cwd = asked
            .cwd
            .as_deref()
            .map(|cwd| absolute(cwd, "cwd"))
            .transpose()?;
        let cwd = cwd.map(ToOwned::to_owned);
        let op = Op::SessionList(SessionList {
            cwd,
            after: asked.cursor,
            ..SessionList::default()
        });
        self.submit(Awaited::List { id: id.clone() }, None, op)
    }

    /// Closing is idempotent: a session that is not active here is closed (acp.md 1.1).
    pub(crate) fn close_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: CloseSessionRequest = read(params)?;
        let active = |session: &SessionId| {
            self.sessions
                .get(session)
                .is_some_and(|session| session.is_active)
        };
        let Some(session) = session_id(&asked.session_id.0).ok().filter(active) else {
            self.client.answer(id, &CloseSessionResponse::new());
            return Ok(());
        };
        let awaited = Awaited::Close {
            id: id.clone(),
            session,
        };
        self.submit(awaited, Some(session), Op::SessionClose {})
    }

    pub(crate) fn set_mode(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SetSessionModeRequest = read(params)?;
        let (session, mode) = (&*asked.session_id.0, &*asked.mode_id.0);
        self.configure(id, session, (mode, Setter::Mode))
    }

    pub(crate) fn set_config_option(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SetSessionConfigOptionRequest = read(params)?;
        let session = &*asked.session_id.0;
        let value = asked
            .value
            .as_value_id()
            .filter(|_| &*asked.config_id.0 == MODE_OPTION);
        let Some(mode) = value else {
            self.active(session)?;
            return Err(invalid_params(
                "there is no such option, or it takes no such value",
            ));
        };
        self.configure(id, session, (&mode.0, Setter::ConfigOption))
    }

    fn configure(
        &mut self,
        id: &RawId,
        session: &str,
        (mode, setter): (&str, Setter),
    ) -> Result<(), ErrorObject> {
        let (session, state) = self.active(session)?;
        if !state.modes.as_ref().is_some_and(|modes| modes.has(mode)) {
            return Err(invalid_params("there is no such mode"));
        }
        let mode = mode.to_owned();
        let awaited = Awaited::Mode {
            id: id.clone(),
            session,
            mode: mode.clone(),
            setter,
        };
        self.submit(awaited, Some(session), Op::set_mode(mode))
    }

    /// The kinds of request that the client answers.
    fn answers(&self) -> Vec<RequestKind> {
        self.offers()
            .map(|offers| offers.answers.clone())
            .unwrap_or_default()
    }

    /// Says once that the client's MCP servers are not connected yet; how many, not which (SEC-1).
    fn note_servers(&mut self, servers: usize) {
        if servers > 0 && !std::mem::replace(&mut self.noted_servers, true) {
            let said = format!("sessiond: {servers} MCP server(s) of the client not connected");
            // Nobody may be left to read it; that must not end the session.
            drop(writeln!(std::io::stderr(), "{said}: not in this version"));
        }
    }
}
