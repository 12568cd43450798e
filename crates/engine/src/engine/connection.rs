//! One connection: frames of a client to the sessions they are for.

use std::{collections::HashSet, path::Path, sync::Arc, time::Duration};

use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Answer, AttachMode, ClientFrame, ErrorCode, Hello, ImportSource, Limits, Op, Party,
    RequestBody, ServerFrame, SessionId, SessionStatus, Setup, Submission, SubmissionId, VERSION,
    Verdict, Welcome, WireError,
};
use sessiond_wire::ServerEnd;
use tokio::sync::mpsc::error::TrySendError;
use uuid::Uuid;

use super::{Inner, forking, importing, opening, shelf};
use crate::{
    actor::{Attach, Command, not_open},
    catalog,
    core::{Cause, ConnId, Refusal},
    outlet::Outlet,
    pages,
    pages::Wanted,
};

/// How long a client that asked the process to end may take to read that it will.
const RECEIPT_LIMIT: Duration = Duration::from_secs(1);

/// How long a receipt may be on its way through faces and relays, which nobody here can look into.
const RECEIPT_WAY: Duration = Duration::from_millis(100);

/// How a client came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// As the user that owns the sessions.
    User,
    /// Over a network, with the secret.
    Network,
}

pub(super) struct Serving {
    pub(super) inner: Arc<Inner>,
    pub(super) reach: Reach,
    pub(super) outlet: Outlet,
    /// The sessions this connection asked to attach to, or something of; they hear of its going.
    pub(super) attached: HashSet<SessionId>,
    greeted: bool,
}

/// Serves a connection until its client is gone or says so.
pub(super) async fn serve(inner: Arc<Inner>, (conn, reach): (ConnId, Reach), mut end: ServerEnd) {
    let outlet = Outlet::new(conn, end.out.clone());
    let mut serving = Serving {
        inner,
        reach,
        outlet,
        attached: HashSet::new(),
        greeted: false,
    };
    while let Some(frame) = end.recv().await {
        match frame {
            ClientFrame::Hello(hello) => {
                if !serving.hello(&hello) {
                    break;
                }
            }
            ClientFrame::Bye {} => break,
            _ if !serving.greeted => {
                serving
                    .outlet
                    .error(WireError::new(ErrorCode::Protocol, "say hello first"));
            }
            ClientFrame::Submission(submission) => serving.submission(submission),
            ClientFrame::Answer(answer) => serving.answer(answer),
            ClientFrame::Withdraw { id } => serving.withdraw(&id),
            ClientFrame::Ack { session, cursor } => {
                if let Err(error) = serving.outlet.acks.ack(session, cursor) {
                    serving.outlet.error(error);
                }
            }
        }
    }
    serving.leave().await;
}

impl Serving {
    /// Whether the connection goes on: a client of unknown versions only is turned away.
    fn hello(&mut self, hello: &Hello) -> bool {
        if !hello.versions.contains(&VERSION) {
            let message = format!("this server speaks version {VERSION} of the protocol");
            let error = WireError::new(ErrorCode::Protocol, message);
            self.outlet
                .queue
                .push(ServerFrame::Error { error, fatal: true });
            return false;
        }
        self.greeted = true;
        if hello.ack {
            self.outlet.acks.want();
        }
        self.outlet.queue.push(ServerFrame::Welcome(Welcome {
            version: VERSION,
            server: Party {
                name: "sessiond".into(),
                version: env!("CARGO_PKG_VERSION").into(),
            },
            incarnation: Uuid::now_v7().to_string(),
            limits: Limits::default(),
            persistence: self.inner.config.persistence,
        }));
        true
    }

    fn submission(&mut self, submission: Submission) {
        let Submission { id, session, op } = submission;
        match op {
            Op::SessionNew(new) => self.session_new(id, new),
            Op::SessionResume(resume) => self.session_resume(id, resume),
            Op::SessionList(query) => {
                let index = self.inner.index.clone();
                // Discovery is not authority: what lies in other workspaces is a number there.
                let counts = self.reach == Reach::Network && query.cwd.is_none();
                self.look_up(id, move |_| match counts {
                    true => catalog::count(&index, query),
                    false => catalog::list(&index, &query),
                });
            }
            Op::AgentOptions { agent } => self.options(id, session, agent),
            Op::SessionImport {
                source: ImportSource::File { .. },
            } if self.reach == Reach::Network => {
                self.outlet.verdict(id, Verdict::Error(no_files()))
            }
            Op::SessionImport { source } => {
                importing::import(&self.inner, self.outlet.clone(), (id, source));
            }
            Op::Shutdown {} => {
                self.outlet
                    .verdict(id, Verdict::Accepted(Accepted::Done {}));
                let (queue, inner) = (self.outlet.queue.clone(), self.inner.clone());
                tokio::spawn(async move {
                    // A client that reads has its receipt before anybody acts on it.
                    let _slow = tokio::time::timeout(RECEIPT_LIMIT, queue.flushed()).await;
                    tokio::time::sleep(RECEIPT_WAY).await;
                    inner.ending.send_replace(true);
                });
            }
            op => match session {
                Some(session) => self.for_session(id, session, op),
                None => self.reject(id, ErrorCode::Invalid, "this operation needs a `session`"),
            },
        }
    }

    fn session_new(&mut self, id: SubmissionId, new: sessiond_protocol::SessionNew) {
        let name = new
            .agent
            .as_ref()
            .unwrap_or(&self.inner.config.default_agent);
        let Some(factory) = self.inner.agent(name) else {
            let message = "no agent of that name is configured; `sessiond agents` lists them";
            return self.reject(id, ErrorCode::AgentUnavailable, message);
        };
        if !Path::new(&new.cwd).is_absolute() {
            return self.reject(id, ErrorCode::Invalid, "`cwd` must be an absolute path");
        }
        if let Some(message) = relative_root(Some(&new.setup)) {
            return self.reject(id, ErrorCode::Invalid, message);
        }
        let session = new.id.unwrap_or_else(|| SessionId::new(Uuid::now_v7()));
        self.attached.insert(session);
        let attach = Attach {
            outlet: self.outlet.clone(),
            id,
            replay: sessiond_protocol::Replay::None,
            mode: AttachMode::Control,
            answers: new.answers,
            on_disconnect: new.on_disconnect,
            found_by: sessiond_protocol::FoundBy::default(),
            accept: Vec::new(),
            setup: Some(new.setup),
        };
        opening::create(
            &self.inner,
            opening::Creation {
                session,
                cwd: new.cwd,
                factory,
                attach,
            },
        );
    }

    fn session_resume(&mut self, id: SubmissionId, resume: sessiond_protocol::SessionResume) {
        if resume
            .cwd
            .as_ref()
            .is_some_and(|cwd| !Path::new(cwd).is_absolute())
        {
            return self.reject(id, ErrorCode::Invalid, "`cwd` must be an absolute path");
        }
        if let Some(message) = relative_root(resume.setup.as_ref()) {
            return self.reject(id, ErrorCode::Invalid, message);
        }
        let session = resume.session;
        self.attached.insert(session);
        let attach = Attach {
            outlet: self.outlet.clone(),
            id,
            replay: resume.replay,
            mode: resume.mode,
            answers: resume.answers,
            on_disconnect: resume.on_disconnect,
            found_by: resume.found_by,
            accept: resume.accept,
            setup: resume.setup,
        };
        opening::attach(&self.inner, session, resume.cwd, attach);
    }

    /// The agent as it would be; it is not started for that.
    fn options(&self, id: SubmissionId, session: Option<SessionId>, agent: Option<String>) {
        let inner = self.inner.clone();
        self.look_up(id, move |store| {
            let standing = session.map(|session| catalog::standing(store, session));
            let standing = standing.transpose()?.unwrap_or_default();
            let recorded = standing.header.map(|header| header.agent.name);
            let name = agent.or(recorded);
            let name = name.as_ref().unwrap_or(&inner.config.default_agent);
            let Some(factory) = inner.agent(name) else {
                let message = "no agent of that name is configured; `sessiond agents` lists them";
                return Err(WireError::new(ErrorCode::AgentUnavailable, message));
            };
            let mut info = factory.info();
            info.set_options(&standing.options);
            let first = info.modes.first().map(|mode| mode.id.clone());
            Ok(Accepted::Agent {
                agent: Box::new(info),
                mode: standing.mode.or(first),
            })
        });
    }

    fn for_session(&mut self, id: SubmissionId, session: SessionId, op: Op) {
        if let Op::McpRequest {
            server,
            method,
            params,
        } = op
        {
            let body = RequestBody::Mcp {
                server,
                method,
                params,
            };
            return self.call(id, session, body);
        }
        if let Op::SessionRead {
            after,
            before,
            limit,
            extent,
        } = op
        {
            let wanted = Wanted {
                after,
                before,
                limit,
                extent,
            };
            return self.look_up(id, move |store| pages::read(store, session, wanted));
        }
        if let Op::SessionStatus {} = op {
            let is_open = self.inner.sessions().contains_key(&session);
            return self.look_up(id, move |store| match is_open {
                true => Ok(Accepted::Status {
                    status: SessionStatus::Open,
                }),
                false => catalog::status(store, session),
            });
        }
        if let Op::SessionFork { at, id: child } = op {
            return forking::fork(
                &self.inner,
                self.outlet.clone(),
                forking::Wish {
                    id,
                    session,
                    at,
                    child,
                },
            );
        }
        if let Some(place) = shelf::Place::of(&op) {
            let index = self.inner.index.clone();
            return self.look_up(id, move |store| shelf::put(store, &index, session, place));
        }
        let outlet = self.outlet.clone();
        let sender = self.inner.sessions().get(&session).cloned();
        let Some(sender) = sender.filter(|_| self.attached.contains(&session)) else {
            return outlet.verdict(id, Verdict::Error(not_open(session)));
        };
        let command = Command::Submit {
            outlet: outlet.clone(),
            id: id.clone(),
            op,
        };
        match sender.try_send(command) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                let message = "the session has more commands waiting than it takes";
                let error = WireError::new(ErrorCode::QueueFull, message).about(session);
                outlet.verdict(id, Verdict::Error(error));
            }
            Err(TrySendError::Closed(_)) => outlet.verdict(id, Verdict::Error(not_open(session))),
        }
    }

    /// Reads the store beside everything else; the receipt carries the result.
    fn look_up(
        &self,
        id: SubmissionId,
        query: impl FnOnce(&Store) -> Result<Accepted, WireError> + Send + 'static,
    ) {
        let (store, outlet) = (self.inner.config.store.clone(), self.outlet.clone());
        tokio::task::spawn_blocking(move || {
            let result = match query(&store) {
                Ok(accepted) => Verdict::Accepted(accepted),
                Err(error) => Verdict::Error(error),
            };
            outlet.verdict(id, result);
        });
    }

    fn answer(&self, answer: Answer) {
        let Answer {
            request,
            digest,
            outcome,
        } = answer;
        let asker = self.outlet.asked_by(request);
        let sender = asker.and_then(|session| self.inner.sessions().get(&session).cloned());
        let command = Command::Answer {
            outlet: self.outlet.clone(),
            request,
            digest,
            outcome,
        };
        // A late answer changes nothing, and the client is told so (WIRE-7).
        let unheard = sender.is_none_or(|sender| sender.try_send(command).is_err());
        if unheard {
            self.outlet.refused(None, Refusal::Late);
        }
    }

    /// Takes back what waits in one of the connection's sessions; only those know in which. No word
    /// is said about what comes too late (SQEQ-4).
    fn withdraw(&self, id: &SubmissionId) {
        for session in &self.attached {
            let Some(sender) = self.inner.sessions().get(session).cloned() else {
                continue;
            };
            let cause = Cause {
                conn: self.outlet.conn,
                id: id.clone(),
            };
            if let Err(TrySendError::Full(_)) = sender.try_send(Command::Withdraw(cause)) {
                let message = "the session has more commands waiting than it takes; withdraw again";
                let error = WireError::new(ErrorCode::QueueFull, message);
                self.outlet.error(error.about(*session));
            }
        }
    }

    fn reject(&self, id: SubmissionId, code: ErrorCode, message: &str) {
        self.outlet
            .verdict(id, Verdict::Error(WireError::new(code, message)));
    }

    async fn leave(self) {
        for session in self.attached {
            let sender = self.inner.sessions().get(&session).cloned();
            if let Some(sender) = sender {
                // A session that has just ended need not hear of it.
                let _ended = sender.send(Command::Disconnect(self.outlet.conn)).await;
            }
        }
    }
}

fn no_files() -> WireError {
    let message = "no file is read for a client on the network; import its items instead";
    let mut error = WireError::new(ErrorCode::Refused, message);
    error.pointer = Some("/op/source".into());
    error
}

/// What is wrong with the roots that a client gives, if anything.
fn relative_root(setup: Option<&Setup>) -> Option<&'static str> {
    let mut roots = setup.into_iter().flat_map(|setup| &setup.roots);
    let is_relative = roots.any(|root| !Path::new(root).is_absolute());
    is_relative.then_some("`roots` must be absolute paths")
}
