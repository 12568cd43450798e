//! The face: what each line of the client and each frame of the engine leads to.
//!
//! Nothing here waits. Frames for the client go to its queue, frames for the engine to `outbox`,
//! which [`serve`](crate::serve()) sends; so no request ever stands behind another one that runs
//! (acp.md 4.9).

use std::collections::HashMap;

use serde_json::value::RawValue;
use sessiond_protocol::{ClientFrame, Op, PersistenceState, ServerFrame, SessionId, Welcome};
use sessiond_wire::rpc::{CANCEL_REQUEST, ErrorObject, RawId, RpcFrame};
use sessiond_wire::{OutQueue, Submissions};
use tokio::time::Instant;

use crate::awaited::Awaited;
use crate::client::Client;
use crate::extension::is_extension;
use crate::gate::Gates;
use crate::negotiate::{self, Notices, Offers};
use crate::params::session_id;
use crate::questions::Questions;
use crate::refusal::{invalid_request, method_not_found, unknown_session};
use crate::serve::Options;
use crate::session::Session;

/// Everything the face knows of one connection.
#[derive(Debug)]
pub(crate) struct Face {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) questions: Questions,
    pub(crate) sessions: HashMap<SessionId, Session>,
    pub(crate) submissions: Submissions<Awaited>,
    persistence: PersistenceState,
    phase: Phase,
}

/// How far the connection is.
#[derive(Debug)]
enum Phase {
    /// `initialize` did not succeed yet.
    Fresh,
    /// It did, and nothing else was asked: it may be repeated.
    Initialized(Offers),
    /// Other requests came.
    InUse(Offers),
}

impl Face {
    pub(crate) fn new(queue: OutQueue<RpcFrame>, welcome: &Welcome, options: Options) -> Self {
        Self {
            client: Client::new(queue),
            options,
            questions: Questions::default(),
            sessions: HashMap::new(),
            submissions: Submissions::default(),
            persistence: welcome.persistence,
            phase: Phase::Fresh,
        }
    }

    /// Takes in a frame of the engine.
    pub(crate) fn frame(&mut self, frame: ServerFrame, now: Instant) {
        match frame {
            ServerFrame::Receipt(receipt) => self.receipt(receipt),
            ServerFrame::Event(event) => self.event(event, now),
            ServerFrame::Request(request) => self.ask(request),
            ServerFrame::RequestClosed { id, .. } => self.questions.withdraw(id),
            // They are about the connection.
            ServerFrame::Welcome(_) | ServerFrame::Error { .. } | ServerFrame::Bye {} => {}
        }
    }

    /// What is to be sent to the engine.
    pub(crate) fn take_outbox(&mut self) -> Vec<ClientFrame> {
        self.submissions.take_outbox()
    }

    /// When [`tick`](Self::tick) has something to do next.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        self.sessions
            .values()
            .filter_map(|session| session.live.due(now))
            .min()
    }

    /// Shows output of running tools whose time has come.
    pub(crate) fn tick(&mut self, now: Instant) {
        for (id, session) in &mut self.sessions {
            session.live.tick(&self.client, *id, now);
        }
    }

    /// What the client can do, once it said so.
    pub(crate) fn offers(&self) -> Option<&Offers> {
        match &self.phase {
            Phase::Fresh => None,
            Phase::Initialized(offers) | Phase::InUse(offers) => Some(offers),
        }
    }

    pub(crate) fn notices(&self) -> Notices {
        self.offers()
            .map_or(Notices::NotShown, |offers| offers.notices)
    }

    pub(crate) fn gates(&self) -> Gates {
        self.offers().map(|offers| offers.gates).unwrap_or_default()
    }

    /// The session that a request names, active on this connection.
    ///
    /// # Errors
    /// What to answer where there is none.
    pub(crate) fn active(&mut self, text: &str) -> Result<(SessionId, &mut Session), ErrorObject> {
        let id = session_id(text)?;
        let session = self
            .sessions
            .get_mut(&id)
            .filter(|session| session.is_active);
        session
            .map(|session| (id, session))
            .ok_or_else(|| unknown_session(text))
    }

    /// Submits an operation; its receipt will find what it was made for.
    ///
    /// # Errors
    /// An internal error; nothing was submitted.
    pub(crate) fn submit(
        &mut self,
        awaited: Awaited,
        session: Option<SessionId>,
        op: Op,
    ) -> Result<(), ErrorObject> {
        self.submissions
            .submit((awaited.kind(), awaited), session, op)
    }

    pub(crate) fn send(&mut self, frame: ClientFrame) {
        self.submissions.send(frame);
    }

    /// Takes in a request that the client entered.
    pub(crate) fn request(&mut self, id: &RawId, method: &str, params: Option<&RawValue>) {
        if let Err(error) = self.dispatch(id, method, params) {
            self.client.fail(id, &error);
        }
    }

    /// Begins what a request asks for.
    ///
    /// # Errors
    /// What to answer where it is refused.
    fn dispatch(
        &mut self,
        id: &RawId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        if method == "initialize" {
            return self.initialize(id, params);
        }
        self.use_connection()?;
        match method {
            "authenticate" => {
                let done = negotiate::authenticate(params)?;
                self.client.answer(id, &done);
                Ok(())
            }
            "session/new" => self.new_session(id, params),
            "auth/status" => self.auth_status(id, params),
            "session/load" => self.load_session(id, params),
            "session/resume" => self.resume_session(id, params),
            "session/fork" => self.fork_session(id, params),
            "session/list" => self.list_sessions(id, params),
            "session/status" => self.session_status(id, params),
            "session/options" => self.session_options(id, params),
            "session/close" => self.close_session(id, params),
            "session/delete" => self.delete_session(id, params),
            "session/archive" => self.archive_session(id, params),
            "session/unarchive" => self.unarchive_session(id, params),
            "session/prompt" => self.prompt(id, params),
            "session/set_mode" => self.set_mode(id, params),
            "session/set_config_option" => self.set_config_option(id, params),
            "session/set_title" => self.set_title(id, params),
            _ if is_extension(method) => self.extension(id, method, params),
            _ => Err(method_not_found()),
        }
    }

    /// Negotiates, or negotiates anew while nothing else was asked (acp.md 1.2).
    fn initialize(&mut self, id: &RawId, params: Option<&RawValue>) -> Result<(), ErrorObject> {
        if matches!(self.phase, Phase::InUse(_)) {
            return Err(invalid_request(
                "the connection is in use, initialize is over",
            ));
        }
        self.phase = Phase::Initialized(negotiate::offers(params)?);
        let store = self.options.store.as_deref();
        self.client
            .answer(id, &negotiate::introduction(self.persistence, store));
        Ok(())
    }

    fn use_connection(&mut self) -> Result<(), ErrorObject> {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Fresh) {
            Phase::Fresh => return Err(invalid_request("initialize comes first")),
            Phase::Initialized(offers) | Phase::InUse(offers) => Phase::InUse(offers),
        };
        Ok(())
    }

    /// Notifications never get an answer, whatever is wrong with them.
    pub(crate) fn notification(&mut self, method: &str, params: Option<&RawValue>) {
        let Some(params) = params.filter(|_| self.offers().is_some()) else {
            return;
        };
        match method {
            "session/cancel" => self.cancel(params),
            CANCEL_REQUEST => self.cancel_request(params),
            _ if is_extension(method) => self.extension_told(method, params),
            _ => {}
        }
    }
}
