//! Requests about sessions in version 2.

use agent_client_protocol_schema::v2::{
    ArchiveSessionRequest, CancelTerminalRequest, CancelToolCallRequest, CloseSessionRequest,
    DeleteSessionRequest, ForkSessionRequest, ListSessionsRequest, NewSessionRequest,
    ResumeSessionRequest, SessionOptionsRequest, SessionStatusRequest,
    SetSessionConfigOptionRequest, SetSessionTitleRequest, UnarchiveSessionRequest,
};
use serde_json::value::RawValue;
use sessiond_protocol::{
    AttachMode, DriftClass, FoundBy, ItemId, Op, Replay, SessionId, SessionList, SessionNew,
    SessionResume, Setup, title_line,
};
use sessiond_wire::rpc::{ErrorObject, RawId};

use super::awaited::{Awaited, Behind, Purpose, Stay};
use super::face::Face;
use super::params::{self, AskedSetup};
use crate::params::{absolute, accept, read, session_id};
use crate::refusal::invalid_params;
use crate::title::visit;

impl Face {
    pub(super) fn new_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: NewSessionRequest = read(params)?;
        let (cwd, setup) = AskedSetup {
            cwd: &asked.cwd,
            roots: &asked.additional_directories,
            servers: &asked.mcp_servers,
            prompt: asked.system_prompt.as_ref(),
            options: &asked.config_options,
        }
        .checked()?;
        let op = Op::SessionNew(SessionNew {
            id: None,
            cwd,
            agent: self.options.agent.clone(),
            setup,
            answers: self.offers.answers.clone(),
            on_disconnect: self.options.on_disconnect,
        });
        self.submit(Awaited::New { id: id.clone() }, None, op)
    }

    pub(super) fn resume_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ResumeSessionRequest = read(params)?;
        let place = AskedSetup {
            cwd: &asked.cwd,
            roots: &asked.additional_directories,
            servers: &asked.mcp_servers,
            prompt: asked.system_prompt.as_ref(),
            options: &asked.config_options,
        }
        .checked()?;
        let session = session_id(&asked.session_id.0)?;
        let replay = params::replay(asked.replay_from.as_ref())?;
        let accept = accept(asked.meta.as_ref())?;
        let resume = self.resume((session, replay), place, accept);
        self.attach((id.clone(), Purpose::Resume), resume)
    }

    /// A resume as the engine gets it.
    fn resume(
        &self,
        (session, replay): (SessionId, Replay),
        (cwd, setup): (String, Setup),
        mut accept: Vec<DriftClass>,
    ) -> SessionResume {
        accept.extend(&self.options.accept);
        SessionResume {
            session,
            cwd: Some(cwd),
            setup: Some(setup),
            found_by: FoundBy::Id,
            accept,
            replay,
            mode: AttachMode::Control,
            answers: self.offers.answers.clone(),
            on_disconnect: self.options.on_disconnect,
        }
    }

    /// Attaches to a stored session.
    pub(super) fn attach(
        &mut self,
        (id, purpose): (RawId, Purpose),
        resume: SessionResume,
    ) -> Result<(), ErrorObject> {
        let (session, replay) = (resume.session, resume.replay);
        let awaited = Awaited::Resume {
            id,
            session,
            purpose,
        };
        self.submit(awaited, None, Op::SessionResume(resume))?;
        self.sessions
            .entry(session)
            .or_default()
            .begin_resume(replay);
        Ok(())
    }

    /// A fork is made, then resumed without its history, which the client knows.
    pub(super) fn fork_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ForkSessionRequest = read(params)?;
        let place = AskedSetup {
            cwd: &asked.cwd,
            roots: &asked.additional_directories,
            servers: &asked.mcp_servers,
            prompt: asked.system_prompt.as_ref(),
            options: &asked.config_options,
        }
        .checked()?;
        let session = session_id(&asked.session_id.0)?;
        let accept = accept(asked.meta.as_ref())?;
        let resume = Box::new(self.resume((session, Replay::None), place, accept));
        let awaited = Awaited::Fork {
            id: id.clone(),
            resume,
        };
        self.submit(
            awaited,
            Some(session),
            Op::SessionFork { at: None, id: None },
        )
    }

    pub(super) fn list_sessions(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ListSessionsRequest = read(params)?;
        let cwd = asked.cwd.as_ref();
        let cwd = cwd.map(|cwd| absolute(cwd.as_ref(), "cwd")).transpose()?;
        let op = Op::SessionList(SessionList {
            cwd: cwd.map(ToOwned::to_owned),
            archived: params::archived(asked.archived.as_ref())?,
            after: asked.cursor.map(|cursor| cursor.0.to_string()),
            ..SessionList::default()
        });
        self.submit(Awaited::List { id: id.clone() }, None, op)
    }

    /// Closing is idempotent: a session that is not active here is closed.
    pub(super) fn close_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: CloseSessionRequest = read(params)?;
        match session_id(&asked.session_id.0) {
            Ok(session) => self.close_then(id, session, Behind::Nothing),
            Err(_) => {
                self.done(id);
                Ok(())
            }
        }
    }

    /// Deleting is idempotent too; an active session is closed first.
    pub(super) fn delete_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: DeleteSessionRequest = read(params)?;
        match session_id(&asked.session_id.0) {
            Ok(session) => self.close_then(id, session, Behind::Delete),
            Err(_) => {
                self.done(id);
                Ok(())
            }
        }
    }

    pub(super) fn archive_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: ArchiveSessionRequest = read(params)?;
        let session = session_id(&asked.session_id.0)?;
        self.close_then(id, session, Behind::Archive)
    }

    pub(super) fn unarchive_session(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: UnarchiveSessionRequest = read(params)?;
        let session = session_id(&asked.session_id.0)?;
        self.shelve(id.clone(), session, Behind::Unarchive)
    }

    /// Closes a session if it is active here, then does what comes behind that.
    fn close_then(
        &mut self,
        id: &RawId,
        session: SessionId,
        behind: Behind,
    ) -> Result<(), ErrorObject> {
        let state = self.sessions.get(&session);
        if !state.is_some_and(|state| state.is_active) {
            return self.shelve(id.clone(), session, behind);
        }
        let awaited = Awaited::Close {
            id: id.clone(),
            session,
            behind,
        };
        self.submit(awaited, Some(session), Op::SessionClose {})
    }

    /// Does something to a session that is not active here.
    pub(super) fn shelve(
        &mut self,
        id: RawId,
        session: SessionId,
        behind: Behind,
    ) -> Result<(), ErrorObject> {
        let op = match behind {
            Behind::Nothing => {
                self.done(&id);
                return Ok(());
            }
            Behind::Delete => Op::SessionDelete {},
            Behind::Archive => Op::SessionArchive {},
            Behind::Unarchive => Op::SessionUnarchive {},
        };
        let awaited = Awaited::Shelve {
            id,
            session,
            behind,
        };
        self.submit(awaited, Some(session), op)
    }

    /// Of a session that is not active here the engine knows whether another process has it open.
    pub(super) fn session_status(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SessionStatusRequest = read(params)?;
        let session = session_id(&asked.session_id.0)?;
        let awaited = Awaited::Status {
            id: id.clone(),
            session,
        };
        self.submit(awaited, Some(session), Op::SessionStatus {})
    }

    /// What a session would begin with; nothing is made or started for it.
    pub(super) fn session_options(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SessionOptionsRequest = read(params)?;
        absolute(asked.cwd.as_ref(), "cwd")?;
        for root in &asked.additional_directories {
            absolute(root.as_ref(), "an additional directory")?;
        }
        let session = asked.session_id.as_ref();
        let session = session.map(|session| session_id(&session.0)).transpose()?;
        let agent = self.options.agent.clone().filter(|_| session.is_none());
        let awaited = Awaited::Options {
            id: id.clone(),
            session,
        };
        self.submit(awaited, session, Op::AgentOptions { agent })
    }

    /// Also of a session that is not active here: it is attached to for that, and left.
    pub(super) fn set_title(
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
        let id = id.clone();
        if self
            .sessions
            .get(&session)
            .is_some_and(|state| state.is_active)
        {
            return self.rename((id, session), title, Stay::Active);
        }
        let visit = Op::SessionResume(visit(session, &self.options.accept));
        self.submit(Awaited::Visit { id, session, title }, None, visit)
    }

    pub(super) fn rename(
        &mut self,
        (id, session): (RawId, SessionId),
        title: String,
        stay: Stay,
    ) -> Result<(), ErrorObject> {
        let awaited = Awaited::Title {
            id,
            session,
            title: title.clone(),
            stay,
        };
        self.submit(awaited, Some(session), Op::SessionRename { title })
    }

    pub(super) fn set_config_option(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: SetSessionConfigOptionRequest = read(params)?;
        let (session, state) = self.active(&asked.session_id.0)?;
        let value = params::value(asked.value)?;
        let op = state.config.setting(&asked.config_id.0, value)?;
        let awaited = Awaited::Configure {
            id: id.clone(),
            session,
        };
        self.submit(awaited, Some(session), op)
    }

    pub(super) fn cancel_call(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: CancelToolCallRequest = read(params)?;
        let (session, state) = self.active(&asked.session_id.0)?;
        let item = asked.tool_call_id.0.parse().ok();
        let item = item.filter(|item| state.show.stops(*item));
        self.stop(id, session, item)
    }

    pub(super) fn cancel_terminal(
        &mut self,
        id: &RawId,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let asked: CancelTerminalRequest = read(params)?;
        let (session, state) = self.active(&asked.session_id.0)?;
        let item = asked.terminal_id.0.parse().ok();
        let item = item.filter(|item| state.show.stops_terminal(*item));
        self.stop(id, session, item)
    }

    fn stop(
        &mut self,
        id: &RawId,
        session: SessionId,
        item: Option<ItemId>,
    ) -> Result<(), ErrorObject> {
        let item = item.ok_or_else(|| invalid_params("there is nothing of this id to cancel"))?;
        let awaited = Awaited::Stop {
            id: id.clone(),
            session,
        };
        self.submit(awaited, Some(session), Op::CallCancel { item })
    }
}
