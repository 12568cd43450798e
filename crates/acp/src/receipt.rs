//! Receipts: what became of what was submitted, as the answer to the request it was for.

use agent_client_protocol_schema::v1::{
    ForkSessionResponse, ListSessionsResponse, LoadSessionResponse, NewSessionResponse,
    PromptResponse, ResumeSessionResponse, SessionInfo, SetSessionConfigOptionResponse,
    SetSessionModeResponse, StopReason,
};
use sessiond_protocol::{
    Accepted, ErrorCode, Kept, Op, Queued, Receipt, SessionId, SessionResume, SessionView, Summary,
    TurnId, Verdict, WireError,
};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, RawId, error};

use crate::awaited::{Awaited, Purpose, Setter, Showing, Titling, Wish};
use crate::face::Face;
use crate::live::Live;
use crate::refusal::{from_waist, request_cancelled};
use crate::session::{Session, commands_update};
use crate::update::Update;

impl Face {
    /// Takes in what became of a submission.
    pub(crate) fn receipt(&mut self, receipt: Receipt) {
        let Some(awaited) = self.submissions.received(&receipt.id) else {
            return;
        };
        let Some(id) = awaited.request.clone() else {
            return;
        };
        match awaited.session {
            Some(session) => self.receipt_about(session, &id, awaited, receipt.result),
            None => self.receipt_of(&id, awaited, receipt.result),
        }
    }

    /// The receipt of a request that names no session.
    fn receipt_of(&mut self, id: &RawId, awaited: Awaited, verdict: Verdict) {
        match (awaited.purpose, verdict) {
            (Purpose::New, Verdict::Accepted(Accepted::Session(view))) => {
                self.session_opened(id, &view);
            }
            (Purpose::List, Verdict::Accepted(Accepted::Sessions { sessions, next, .. })) => {
                let sessions = sessions.into_iter().map(info).collect();
                let response = ListSessionsResponse::new(sessions).next_cursor(next);
                self.client.answer(id, &response);
            }
            (Purpose::Options, Verdict::Accepted(Accepted::Agent { agent, mode })) => {
                self.answer_options(id, &agent, mode.as_ref());
            }
            (_, Verdict::Error(refused)) => self.client.fail(id, &from_waist(&refused, "")),
            (_, Verdict::Accepted(_)) => self.client.fail(id, &internal()),
        }
    }

    fn receipt_about(
        &mut self,
        session: SessionId,
        id: &RawId,
        awaited: Awaited,
        verdict: Verdict,
    ) {
        match (awaited.purpose, verdict) {
            (Purpose::Attach(showing), Verdict::Accepted(Accepted::Session(view))) => {
                self.session_attached(id, (session, showing), &view);
            }
            (Purpose::Fork(attach), Verdict::Accepted(Accepted::Session(view))) => {
                self.forked(id, *attach, view.session);
            }
            (Purpose::Forked, Verdict::Accepted(Accepted::Session(view))) => {
                self.fork_attached(id, &view);
            }
            (Purpose::Status, Verdict::Accepted(Accepted::Status { status })) => {
                self.answer_status(id, status);
            }
            (Purpose::Options, Verdict::Accepted(Accepted::Agent { agent, mode })) => {
                self.answer_options(id, &agent, mode.as_ref());
            }
            (Purpose::Close, verdict) if is_closed(&verdict) => self.answer_closed(id, session),
            (Purpose::CloseFor(shelf), verdict) if is_closed(&verdict) => {
                self.closed_for(id, session, shelf);
            }
            (Purpose::Shelve(shelf), verdict) => self.shelved(id, (session, shelf), &verdict),
            (Purpose::ShelvedBefore(shelf), verdict) => {
                self.shelved_before(id, (session, shelf), &verdict);
            }
            (Purpose::Configure(setter), Verdict::Accepted(_)) => {
                self.configured(id, session, setter);
            }
            (Purpose::Title(titling), Verdict::Accepted(_)) => self.titled(id, session, titling),
            (Purpose::Prompt(wish), Verdict::Accepted(Accepted::Turn { turn })) => {
                self.turn_named(id.clone(), session, (turn, wish));
            }
            (Purpose::Extension(_), Verdict::Accepted(Accepted::Extension { extension })) => {
                self.client.answer(id, &extension);
            }
            (purpose, Verdict::Error(refused)) => {
                self.refused(id, (session, purpose), Some(&refused));
            }
            (purpose, Verdict::Accepted(_)) => self.refused(id, (session, purpose), None),
        }
    }

    /// The response comes first: clients know nothing of the session before it (acp.md 5.2).
    fn session_opened(&mut self, id: &RawId, view: &SessionView) {
        let session = Session::opened(view);
        let response = NewSessionResponse::new(view.session.to_string())
            .modes(session.choices.modes())
            .config_options(session.choices.offered(self.gates()));
        self.sessions.insert(view.session, session);
        self.client.answer(id, &response);
        self.tell_commands(view.session);
    }

    /// The receipt ends the replay, so all of it was sent (acp.md 1.5). Of a resume nothing is.
    fn session_attached(
        &mut self,
        id: &RawId,
        (session, showing): (SessionId, Showing),
        view: &SessionView,
    ) {
        let gates = self.gates();
        let state = self.sessions.entry(session).or_default();
        let replay = state.end_load();
        state.attached(view);
        let replay = replay.filter(|_| showing == Showing::All);
        let open = replay.map(|replay| replay.finish(&self.client, gates, session));
        // Without a turn nothing will end what is open.
        let open = open.filter(|_| !state.turns.is_empty());
        state.live = Live::resumed(open.unwrap_or_default());
        let modes = state.choices.modes();
        let options = state.choices.offered(gates);
        match showing {
            Showing::All => {
                let response = LoadSessionResponse::new().modes(modes);
                self.client.answer(id, &response.config_options(options));
            }
            Showing::Nothing => {
                let response = ResumeSessionResponse::new().modes(modes);
                self.client.answer(id, &response.config_options(options));
            }
        }
        self.tell_commands(session);
    }

    /// The copy is there: it is attached to as the client asked.
    fn forked(&mut self, id: &RawId, attach: SessionResume, child: SessionId) {
        let op = Op::SessionResume(SessionResume {
            session: child,
            ..attach
        });
        let awaited = Awaited::about(child, id, Purpose::Forked);
        if let Err(error) = self.submit(awaited, None, op) {
            self.client.fail(id, &error);
        }
    }

    fn fork_attached(&mut self, id: &RawId, view: &SessionView) {
        let session = Session::opened(view);
        let response = ForkSessionResponse::new(view.session.to_string())
            .modes(session.choices.modes())
            .config_options(session.choices.offered(self.gates()));
        self.sessions.insert(view.session, session);
        self.client.answer(id, &response);
        self.tell_commands(view.session);
    }

    /// Says which slash commands a session has.
    pub(crate) fn tell_commands(&self, session: SessionId) {
        if let Some(state) = self.sessions.get(&session) {
            self.client
                .update(session, &commands_update(&state.commands));
        }
    }

    /// A session is not active any more. Prompts that the engine did not end are answered first.
    pub(crate) fn session_closed(&mut self, session: SessionId) {
        let closed = self.sessions.remove(&session).unwrap_or_default();
        for prompt in closed.turns.values() {
            self.client
                .answer(prompt, &PromptResponse::new(StopReason::Cancelled));
        }
        self.questions.withdraw_all(session);
    }

    /// Both ways of showing what the user chooses stay in step; the event of the change came before.
    fn configured(&mut self, id: &RawId, session: SessionId, setter: Setter) {
        let gates = self.gates();
        let Some(state) = self.sessions.get_mut(&session) else {
            return match setter {
                Setter::Mode(_) => self.client.answer(id, &SetSessionModeResponse::new()),
                Setter::ConfigOption(_) => {
                    let none = SetSessionConfigOptionResponse::new(Vec::new());
                    self.client.answer(id, &none);
                }
            };
        };
        match setter {
            Setter::Mode(change) => {
                state.choices.change(&change);
                let update = state.choices.update(gates);
                self.client.update(session, &update);
                self.client.answer(id, &SetSessionModeResponse::new());
            }
            Setter::ConfigOption(change) => {
                state.choices.change(&change);
                if let Some(current_mode_id) = change.mode.as_deref() {
                    let update = Update::CurrentModeUpdate { current_mode_id };
                    self.client.update(session, &update);
                }
                let all = SetSessionConfigOptionResponse::new(state.choices.options(gates));
                self.client.answer(id, &all);
            }
        }
    }

    fn turn_named(&mut self, id: RawId, session: SessionId, (turn, wish): (TurnId, Wish)) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return self
                .client
                .answer(&id, &PromptResponse::new(StopReason::Cancelled));
        };
        state.turns.insert(turn, id);
        // Some clients drop what comes right behind the answer that names the session (acp.md 5.3).
        if !std::mem::replace(&mut state.was_prompted, true) {
            self.tell_commands(session);
        }
        if wish == Wish::Cancel {
            self.interrupt(session, (Some(turn), Queued::Keep));
        }
    }

    /// Stops turns of a session. The receipt says nothing that the turns' ends do not say.
    pub(crate) fn interrupt(
        &mut self,
        session: SessionId,
        (turn, queued): (Option<TurnId>, Queued),
    ) {
        let op = Op::TurnInterrupt { turn, queued };
        if self.submit(Awaited::nothing(), Some(session), op).is_err() {
            tracing::error!("an interrupt could not be submitted");
        }
    }

    fn refused(
        &mut self,
        id: &RawId,
        (session, purpose): (SessionId, Purpose),
        refused: Option<&WireError>,
    ) {
        match purpose {
            Purpose::Attach(_) => self.attach_failed(session),
            Purpose::Forked => self.drop_copy(session),
            Purpose::Title(Titling::Attached(_)) => self.leave(session),
            Purpose::Extension(Wish::Cancel) => {
                return self.client.fail(id, &request_cancelled());
            }
            _ => {}
        }
        let error = match refused {
            Some(refused) => from_waist(refused, &session.to_string()),
            None => internal(),
        };
        self.client.fail(id, &error);
    }

    /// A copy that could not be attached to is of no use to anybody.
    fn drop_copy(&mut self, child: SessionId) {
        let op = Op::SessionDelete {};
        if self.submit(Awaited::nothing(), Some(child), op).is_err() {
            tracing::error!("a copy could not be removed");
        }
    }

    fn attach_failed(&mut self, session: SessionId) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        state.end_load();
        if state.is_idle() {
            self.sessions.remove(&session);
        }
    }
}

/// Whether a session is closed now, by whatever means.
fn is_closed(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Accepted(_) => true,
        Verdict::Error(refused) => refused.code == ErrorCode::NotFound,
    }
}

fn internal() -> ErrorObject {
    error(INTERNAL_ERROR, "Internal error")
}

fn info(summary: Summary) -> SessionInfo {
    let roots = summary.roots.into_iter().map(Into::into).collect();
    SessionInfo::new(summary.session.to_string(), summary.cwd)
        .additional_directories(roots)
        .title(summary.title)
        .updated_at(summary.updated_at)
        .archived((summary.kept == Kept::Archive).then_some(true))
}
