//! Requests that begin, find and end sessions: new, load, resume, fork, list, close.

use agent_client_protocol_schema::v1::{
    CloseSessionRequest, CloseSessionResponse, ForkSessionRequest, ListSessionsRequest,
    LoadSessionRequest, NewSessionRequest, ResumeSessionRequest, SessionArchiveFilter,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sessiond_protocol::{
    Archived, AttachMode, FoundBy, Op, Replay, RequestKind, SessionId, SessionList, SessionNew,
    SessionResume,
};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::awaited::{Awaited, Purpose, Showing};
use crate::face::Face;
use crate::params::{absolute, accept, read, session_id};
use crate::refusal::invalid_params;
use crate::setup::Given;

impl Face {
    pub(crate) fn new_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: NewSessionRequest = read(params)?;
        let (cwd, setup) = Given::from(&asked).read()?;
        let op = Op::SessionNew(SessionNew {
            id: None,
            cwd,
            agent: self.options.agent.clone(),
            setup,
            answers: self.answers(),
            on_disconnect: self.options.on_disconnect,
        });
        self.submit(Awaited::request(id, Purpose::New), None, op)
    }

    pub(crate) fn load_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: LoadSessionRequest = read(params)?;
        let attach = self.attach(&asked.session_id.0, (&asked).into(), asked.meta.as_ref())?;
        self.begin_attach(id, attach, Showing::All)
    }

    /// Nothing of the past is shown (acp.md 1.5).
    pub(crate) fn resume_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ResumeSessionRequest = read(params)?;
        let attach = self.attach(&asked.session_id.0, (&asked).into(), asked.meta.as_ref())?;
        self.begin_attach(id, attach, Showing::Nothing)
    }

    /// The copy is attached to like a session that is resumed.
    pub(crate) fn fork_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        // Not advertised: to fork elsewhere than was asked for would go unnoticed.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct At {
            #[serde(default)]
            cursor_id: Value,
        }
        let asked: ForkSessionRequest = read(params)?;
        if !read::<At>(params)?.cursor_id.is_null() {
            return Err(invalid_params("cursors were not advertised"));
        }
        let attach = self.attach(&asked.session_id.0, (&asked).into(), asked.meta.as_ref())?;
        let parent = attach.session;
        let awaited = Awaited::about(parent, id, Purpose::Fork(Box::new(attach)));
        self.submit(
            awaited,
            Some(parent),
            Op::SessionFork { at: None, id: None },
        )
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
        let archived = match asked.archived {
            None | Some(SessionArchiveFilter::Exclude) => Archived::Exclude,
            Some(SessionArchiveFilter::Include) => Archived::Include,
            Some(SessionArchiveFilter::Only) => Archived::Only,
            Some(_) => return Err(invalid_params("archived is exclude, include or only")),
        };
        let op = Op::SessionList(SessionList {
            cwd,
            archived,
            after: asked.cursor,
            ..SessionList::default()
        });
        self.submit(Awaited::request(id, Purpose::List), None, op)
    }

    /// Closing is idempotent: a session that is not active here is closed (acp.md 1.1).
    pub(crate) fn close_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: CloseSessionRequest = read(params)?;
        let Some(session) = self.is_active(&asked.session_id.0) else {
            self.client.answer(id, &CloseSessionResponse::new());
            return Ok(());
        };
        let awaited = Awaited::about(session, id, Purpose::Close);
        self.submit(awaited, Some(session), Op::SessionClose {})
    }

    /// The session that a text names, if it is active on this connection.
    pub(crate) fn is_active(&self, text: &str) -> Option<SessionId> {
        let session = session_id(text).ok()?;
        let state = self.sessions.get(&session)?;
        state.is_active.then_some(session)
    }

    fn attach(
        &self,
        session: &str,
        given: Given<'_>,
        meta: Option<&Map<String, Value>>,
    ) -> Result<SessionResume, ErrorObject> {
        let (cwd, setup) = given.read()?;
        let session = session_id(session)?;
        let mut accept = accept(meta)?;
        accept.extend(&self.options.accept);
        Ok(SessionResume {
            session,
            cwd: Some(cwd),
            setup: Some(setup),
            found_by: FoundBy::Id,
            accept,
            replay: Replay::None,
            mode: AttachMode::Control,
            answers: self.answers(),
            on_disconnect: self.options.on_disconnect,
        })
    }

    fn begin_attach(
        &mut self,
        id: &RawId,
        attach: SessionResume,
        showing: Showing,
    ) -> Result<(), ErrorObject> {
        let session = attach.session;
        let op = Op::SessionResume(SessionResume {
            replay: match showing {
                Showing::All => Replay::All,
                Showing::Nothing => Replay::None,
            },
            ..attach
        });
        let awaited = Awaited::about(session, id, Purpose::Attach(showing));
        self.submit(awaited, None, op)?;
        self.sessions.entry(session).or_default().begin_load();
        Ok(())
    }

    /// The kinds of request that the client answers.
    pub(crate) fn answers(&self) -> Vec<RequestKind> {
        self.offers()
            .map(|offers| offers.answers.clone())
            .unwrap_or_default()
    }
}
