//! The face of version 2: what each request of the client and each frame of the engine leads to.
//!
//! As in version 1 nothing here waits: frames for the client go to its queue, frames for the engine
//! to `outbox`.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;
use sessiond_protocol::{Answered, ClientFrame, Op, PersistenceState, ServerFrame, SessionId};
use sessiond_wire::Submissions;
use sessiond_wire::rpc::{CANCEL_REQUEST, ErrorObject, RawId};

use super::awaited::{Awaited, Wish};
use super::negotiate::{self, Offers};
use super::session::Session;
use crate::client::Client;
use crate::extension::{extension_op, is_extension};
use crate::params::session_id;
use crate::questions::Questions;
use crate::refusal::{invalid_request, method_not_found, unknown_session};
use crate::router::unsupported;
use crate::serve::Options;

/// Everything the face knows of one connection.
#[derive(Debug)]
pub(crate) struct Face {
    pub(crate) client: Client,
    pub(crate) questions: Questions,
    pub(super) options: Options,
    pub(super) offers: Offers,
    pub(super) sessions: HashMap<SessionId, Session>,
    pub(super) submissions: Submissions<Awaited>,
    persistence: PersistenceState,
    phase: Phase,
}

/// Whether `initialize` may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing else was asked.
    Fresh,
    /// Other requests came.
    Begun,
}

/// What is answered where there is nothing to say.
#[derive(Debug, Serialize)]
pub(super) struct Nothing {}

impl Face {
    /// A face for a client that said what it can do.
    pub(crate) fn new(
        client: Client,
        (options, persistence): (Options, PersistenceState),
        offers: Offers,
    ) -> Self {
        Self {
            client,
            questions: Questions::default(),
            options,
            offers,
            sessions: HashMap::new(),
            submissions: Submissions::default(),
            persistence,
            phase: Phase::Fresh,
        }
    }

    /// Takes in a frame of the engine.
    pub(crate) fn frame(&mut self, frame: ServerFrame) {
        match frame {
            ServerFrame::Receipt(receipt) => self.receipt(receipt),
            ServerFrame::Event(event) => self.event(event),
            ServerFrame::Request(request) => self.ask(request),
            ServerFrame::RequestClosed { session, id, .. } => self.withdraw(session, id),
            // They are about the connection.
            ServerFrame::Welcome(_) | ServerFrame::Error { .. } | ServerFrame::Bye {} => {}
        }
    }

    /// What is to be sent to the engine.
    pub(crate) fn take_outbox(&mut self) -> Vec<ClientFrame> {
        self.submissions.take_outbox()
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
        self.phase = Phase::Begun;
        match method {
            "auth/login" => {
                negotiate::login(params)?;
                self.done(id);
            }
            "auth/logout" => self.done(id),
            "auth/status" => self.client.answer(id, &negotiate::auth_status()),
            "session/new" => return self.new_session(id, params),
            "session/resume" => return self.resume_session(id, params),
            "session/fork" => return self.fork_session(id, params),
            "session/list" => return self.list_sessions(id, params),
            "session/close" => return self.close_session(id, params),
            "session/delete" => return self.delete_session(id, params),
            "session/archive" => return self.archive_session(id, params),
            "session/unarchive" => return self.unarchive_session(id, params),
            "session/status" => return self.session_status(id, params),
            "session/options" => return self.session_options(id, params),
            "session/set_title" => return self.set_title(id, params),
            "session/prompt" => return self.prompt(id, params),
            "session/set_config_option" => return self.set_config_option(id, params),
            "tool_call/cancel" => return self.cancel_call(id, params),
            "terminal/cancel" => return self.cancel_terminal(id, params),
            extension if is_extension(extension) => {
                let op = self.extension(extension, params, Answered::Answer);
                let (session, op) = op.ok_or_else(method_not_found)?;
                let id = id.clone();
                return self.submit(
                    Awaited::Extension {
                        id,
                        session,
                        wish: Wish::Run,
                    },
                    Some(session),
                    op,
                );
            }
            _ => return Err(method_not_found()),
        }
        Ok(())
    }

    /// Negotiates: the first time, and anew while nothing else was asked. The version is settled.
    fn initialize(&mut self, id: &RawId, params: Option<&RawValue>) -> Result<(), ErrorObject> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Version {
            protocol_version: u64,
        }
        if self.phase == Phase::Begun {
            return Err(invalid_request(
                "the connection is in use, initialize is over",
            ));
        }
        let asked: Version = crate::params::read(params)?;
        if asked.protocol_version < 2 {
            return Err(unsupported(asked.protocol_version));
        }
        self.offers = negotiate::offers(params)?;
        let store = self.options.store.as_deref();
        self.client
            .answer(id, &negotiate::introduction(self.persistence, store));
        Ok(())
    }

    /// Notifications never get an answer, whatever is wrong with them.
    pub(crate) fn notification(&mut self, method: &str, params: Option<&RawValue>) {
        let Some(params) = params else { return };
        match method {
            "session/cancel" => self.cancel(params),
            CANCEL_REQUEST => self.cancel_request(params),
            extension if is_extension(extension) => {
                let op = self.extension(extension, Some(params), Answered::None);
                if let Some((session, op)) = op
                    && self.submit(Awaited::Told, Some(session), op).is_err()
                {
                    tracing::error!("an extension could not be submitted");
                }
            }
            _ => {}
        }
    }

    /// What passes an extension on to the agent of the session that it names; none where it names no
    /// session that is active here.
    fn extension(
        &mut self,
        method: &str,
        params: Option<&RawValue>,
        answer: Answered,
    ) -> Option<(SessionId, Op)> {
        extension_op((method, params), answer, |session| {
            self.active(session).ok().map(|(session, _)| session)
        })
    }

    pub(super) fn done(&mut self, id: &RawId) {
        self.client.answer(id, &Nothing {});
    }

    /// The session that a request names, active on this connection.
    ///
    /// # Errors
    /// What to answer where there is none.
    pub(super) fn active(&mut self, text: &str) -> Result<(SessionId, &mut Session), ErrorObject> {
        let id = session_id(text)?;
        let session = self.sessions.get_mut(&id);
        let session = session.filter(|session| session.is_active);
        session
            .map(|session| (id, session))
            .ok_or_else(|| unknown_session(text))
    }

    /// Submits an operation; its receipt will find what it was made for.
    ///
    /// # Errors
    /// An internal error; nothing was submitted.
    pub(super) fn submit(
        &mut self,
        awaited: Awaited,
        session: Option<SessionId>,
        op: Op,
    ) -> Result<(), ErrorObject> {
        self.submissions
            .submit((awaited.kind(), awaited), session, op)
    }

    pub(super) fn send(&mut self, frame: ClientFrame) {
        self.submissions.send(frame);
    }
}
