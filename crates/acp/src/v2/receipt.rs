//! Receipts: what became of what was submitted, as the answer to the request it was for.

use agent_client_protocol_schema::v2::{
    ForkSessionResponse, ListSessionsResponse, NewSessionResponse, ResumeSessionResponse,
    SessionInfo, SessionListCursor, SessionOptionsResponse, SetSessionConfigOptionResponse,
    SetSessionTitleResponse,
};
use serde::{Serialize, Serializer};
use sessiond_protocol::{
    Accepted, ErrorCode, Kept, Op, Queued, Receipt, Replay, SessionId, SessionResume,
    SessionStatus, SessionView, Summary, TurnId, TurnStage, Verdict, WireError,
};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, RawId, error};

use super::awaited::{Awaited, Behind, Purpose, Stay, Wish};
use super::config::{Config, commands};
use super::face::Face;
use super::session::{Past, Session};
use super::show::Show;
use super::state::State;
use super::update::Update;
use crate::refusal::{from_waist, invalid_params, request_cancelled, unknown_session};

impl Face {
    /// Takes in what became of a submission.
    pub(super) fn receipt(&mut self, receipt: Receipt) {
        let Some(awaited) = self.submissions.received(&receipt.id) else {
            return;
        };
        match receipt.result {
            Verdict::Accepted(accepted) => self.accepted(awaited, accepted),
            Verdict::Error(refused) => self.refused(awaited, &refused),
        }
    }

    fn accepted(&mut self, awaited: Awaited, accepted: Accepted) {
        match (awaited, accepted) {
            (Awaited::New { id }, Accepted::Session(view)) => self.opened(&id, &view),
            (
                Awaited::Resume {
                    id,
                    session,
                    purpose,
                },
                Accepted::Session(view),
            ) => {
                self.resumed((&id, purpose), session, &view);
            }
            (Awaited::Fork { id, resume }, Accepted::Session(view)) => {
                let session = view.session;
                let resume = SessionResume { session, ..*resume };
                if let Err(error) = self.attach((id.clone(), Purpose::Fork), resume) {
                    self.client.fail(&id, &error);
                }
            }
            (Awaited::List { id }, Accepted::Sessions { sessions, next }) => {
                let sessions = sessions.into_iter().map(info).collect();
                let list = ListSessionsResponse::new(sessions)
                    .next_cursor(next.map(SessionListCursor::new));
                self.client.answer(&id, &list);
            }
            (
                Awaited::Close {
                    id,
                    session,
                    behind,
                },
                _,
            ) => self.closed(id, session, behind),
            (Awaited::Shelve { id, .. } | Awaited::Stop { id, .. }, _) => self.done(&id),
            (Awaited::Status { id, session }, Accepted::Status { status }) => {
                let active = self.sessions.get(&session).filter(|state| state.is_active);
                let state = active.map(Session::state);
                self.client.answer(&id, &Told { status, state });
            }
            (Awaited::Options { id, .. }, Accepted::Agent { agent, mode }) => {
                let options = SessionOptionsResponse::new()
                    .config_options(Config::offered(&agent, mode.as_deref()).list())
                    .available_commands(commands(&agent.commands));
                self.client.answer(&id, &options);
            }
            (Awaited::Visit { id, session, title }, Accepted::Session(_)) => {
                if let Err(error) = self.rename((id.clone(), session), title, Stay::Visited) {
                    self.client.fail(&id, &error);
                }
            }
            (
                Awaited::Title {
                    id,
                    session,
                    title,
                    stay,
                },
                _,
            ) => {
                self.leave(session, stay);
                self.client
                    .answer(&id, &SetSessionTitleResponse::new(title));
            }
            (Awaited::Before { id, behind, .. }, Accepted::Status { status })
                if behind.is_done(status) =>
            {
                self.done(&id);
            }
            (Awaited::Before { id, session, .. }, _) => {
                self.client
                    .fail(&id, &unknown_session(&session.to_string()));
            }
            (Awaited::Configure { id, session }, _) => {
                let state = self.sessions.get(&session);
                let all = state.map(|state| state.config.list()).unwrap_or_default();
                self.client
                    .answer(&id, &SetSessionConfigOptionResponse::new(all));
            }
            (Awaited::Prompt { id, session, wish }, Accepted::Turn { turn }) => {
                self.turn_named((id, wish), session, (turn, TurnStage::Waiting));
            }
            (Awaited::Prompt { id, session, wish }, Accepted::Repeated { turn, stage }) => {
                self.turn_named((id, wish), session, (turn, stage));
            }
            (
                Awaited::Compact {
                    id,
                    session,
                    prompt,
                    wish,
                },
                Accepted::Turn { turn },
            ) => self.compacts((&id, wish), session, (turn, &prompt)),
            (Awaited::Extension { id, .. }, Accepted::Extension { extension }) => {
                self.client.answer(&id, &extension);
            }
            (awaited, _) => {
                if let Some((id, _)) = awaited.waits() {
                    self.client
                        .fail(id, &error(INTERNAL_ERROR, "Internal error"));
                }
            }
        }
    }

    fn opened(&mut self, id: &RawId, view: &SessionView) {
        let session = Session::opened(view);
        let response = NewSessionResponse::new(view.session.to_string())
            .config_options(session.config.list())
            .available_commands(commands(&session.commands));
        self.sessions.insert(view.session, session);
        self.client.answer(id, &response);
    }

    /// The receipt ends the replay: then come its end, the state, the answer, in this order.
    fn resumed(
        &mut self,
        (id, purpose): (&RawId, Purpose),
        session: SessionId,
        view: &SessionView,
    ) {
        let state = self.sessions.entry(session).or_default();
        let (wanted, past) = state.end_resume();
        let was_active = state.is_active;
        state.attached(view);
        let mut in_flight = Vec::new();
        let show = match past {
            Some(Past::Replay(replay)) => Some(replay.finish(&self.client, session)),
            Some(Past::InFlight(frames)) => {
                in_flight = frames;
                None
            }
            None => None,
        };
        if wanted != Replay::None {
            self.client.update(session, &Update::ReplayComplete {});
        }
        // Without a turn nothing will end what is open.
        let keeps = view.turn.is_some();
        match show {
            Some(show) => state.show = if keeps { show } else { Show::default() },
            None if !was_active || !keeps => state.show = Show::default(),
            None => {}
        }
        self.client
            .update(session, &Update::StateUpdate(state.state()));
        let (options, commands) = (state.config.list(), commands(&state.commands));
        match purpose {
            Purpose::Resume => {
                let response = ResumeSessionResponse::new()
                    .config_options(options)
                    .available_commands(commands);
                self.client.answer(id, &response);
            }
            Purpose::Fork => {
                let response = ForkSessionResponse::new(session.to_string())
                    .config_options(options)
                    .available_commands(commands);
                self.client.answer(id, &response);
            }
        }
        for frame in in_flight {
            self.happen(frame);
        }
    }

    /// Nothing more is said about the session; what the engine did not end is answered before.
    fn closed(&mut self, id: RawId, session: SessionId, behind: Behind) {
        let closed = self.sessions.remove(&session).unwrap_or_default();
        for prompt in closed.prompts.values().flatten() {
            self.client.fail(prompt, &request_cancelled());
        }
        self.questions.withdraw_all(session);
        if let Err(error) = self.shelve(id.clone(), session, behind) {
            self.client.fail(&id, &error);
        }
    }

    /// Lets a session go that was attached to for one thing, unless the client has it meanwhile.
    fn leave(&mut self, session: SessionId, stay: Stay) {
        if stay == Stay::Active || self.sessions.contains_key(&session) {
            return;
        }
        let left = self.submit(Awaited::Told, Some(session), Op::SessionDetach {});
        if left.is_err() {
            tracing::error!("a session could not be left");
        }
    }

    /// Stops turns of a session. The receipt says nothing that the turns' ends do not say.
    pub(super) fn interrupt(
        &mut self,
        session: SessionId,
        (turn, queued): (Option<TurnId>, Queued),
    ) {
        let op = Op::TurnInterrupt { turn, queued };
        if self.submit(Awaited::Told, Some(session), op).is_err() {
            tracing::error!("an interrupt could not be submitted");
        }
    }

    fn refused(&mut self, awaited: Awaited, refused: &WireError) {
        match &awaited {
            // Closed already, by whatever means.
            Awaited::Close {
                id,
                session,
                behind,
            } if refused.code == ErrorCode::NotFound => {
                return self.closed(id.clone(), *session, *behind);
            }
            // What is not there is deleted.
            Awaited::Shelve {
                id,
                behind: Behind::Delete,
                ..
            } if refused.code == ErrorCode::NotFound => return self.done(id),
            // It may have been put there before.
            Awaited::Shelve {
                id,
                session,
                behind,
            } if refused.code == ErrorCode::NotFound => {
                let awaited = Awaited::Before {
                    id: id.clone(),
                    session: *session,
                    behind: *behind,
                };
                if let Err(error) = self.submit(awaited, Some(*session), Op::SessionStatus {}) {
                    self.client.fail(id, &error);
                }
                return;
            }
            Awaited::Extension {
                id,
                wish: Wish::Cancel,
                ..
            } => return self.client.fail(id, &request_cancelled()),
            Awaited::Title { session, stay, .. } => self.leave(*session, *stay),
            Awaited::Resume { session, .. } => self.resume_failed(*session),
            _ => {}
        }
        if let Some((id, session)) = awaited.waits() {
            let named = session.map(|session| session.to_string());
            let told = told(refused, &named.unwrap_or_default());
            self.client.fail(id, &told);
        }
    }

    fn resume_failed(&mut self, session: SessionId) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        state.end_resume();
        if state.is_idle() {
            self.sessions.remove(&session);
        }
    }
}

/// How a session stands; what it does is known where it is active.
#[derive(Debug, Serialize)]
struct Told {
    #[serde(serialize_with = "word")]
    status: SessionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
}

/// A session in the archive is neither open nor ready to be resumed: a word of our own.
fn word<S: Serializer>(status: &SessionStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match status {
        SessionStatus::Open => "open",
        SessionStatus::Saved => "saved",
        SessionStatus::Archived => "_archived",
    })
}

/// A key that came with another prompt is no key for this one.
fn told(refused: &WireError, session: &str) -> ErrorObject {
    match refused.code {
        ErrorCode::KeyReused => invalid_params("this idempotency key came with another prompt"),
        _ => from_waist(refused, session),
    }
}

fn info(summary: Summary) -> SessionInfo {
    SessionInfo::new(summary.session.to_string(), summary.cwd)
        .title(summary.title)
        .updated_at(summary.updated_at)
        .additional_directories(summary.roots)
        .archived((summary.kept == Kept::Archive).then_some(true))
}
