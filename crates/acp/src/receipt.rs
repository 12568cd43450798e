//! Receipts: what became of what was submitted, as the answer to the request it was for.

use agent_client_protocol_schema::v1::{
    CloseSessionResponse, ListSessionsResponse, LoadSessionResponse, NewSessionResponse,
    PromptResponse, SessionInfo, SetSessionConfigOptionResponse, SetSessionModeResponse,
    StopReason,
};
use sessiond_protocol::{
    Accepted, ErrorCode, Op, Queued, Receipt, SessionId, SessionView, Summary, TurnId, Verdict,
};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, RawId, error};

use crate::face::Face;
use crate::live::Live;
use crate::refusal::from_waist;
use crate::session::{Session, commands_update};
use crate::update::Update;

/// What a submission was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Awaited {
    New {
        id: RawId,
    },
    Load {
        id: RawId,
        session: SessionId,
    },
    List {
        id: RawId,
    },
    Close {
        id: RawId,
        session: SessionId,
    },
    Mode {
        id: RawId,
        session: SessionId,
        mode: String,
        setter: Setter,
    },
    Prompt {
        id: RawId,
        session: SessionId,
        wish: Wish,
    },
    Interrupt,
}

/// Which request set the mode: the other way of showing it is then told by an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setter {
    Mode,
    ConfigOption,
}

/// What the client wants of a prompt whose turn has no name yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Run,
    /// It withdrew the request meanwhile.
    Cancel,
}

impl Awaited {
    /// How the submission's id begins.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Awaited::New { .. } => "new",
            Awaited::Load { .. } => "load",
            Awaited::List { .. } => "list",
            Awaited::Close { .. } => "close",
            Awaited::Mode { .. } => "mode",
            Awaited::Prompt { .. } => "prompt",
            Awaited::Interrupt => "interrupt",
        }
    }

    /// Whether it puts this mode of this session in force.
    pub(crate) fn sets(&self, session: SessionId, mode: &str) -> bool {
        matches!(self, Awaited::Mode { session: of, mode: to, .. } if *of == session && to == mode)
    }
}

impl Face {
    /// Takes in what became of a submission.
    pub(crate) fn receipt(&mut self, receipt: Receipt) {
        let Some(awaited) = self.awaited.remove(&receipt.id) else {
            return;
        };
        match (awaited, receipt.result) {
            (Awaited::New { id }, Verdict::Accepted(Accepted::Session(view))) => {
                self.session_opened(&id, &view);
            }
            (Awaited::Load { id, session }, Verdict::Accepted(Accepted::Session(view))) => {
                self.session_loaded(&id, session, &view);
            }
            (Awaited::List { id }, Verdict::Accepted(Accepted::Sessions { sessions, next })) => {
                let sessions = sessions.into_iter().map(info).collect();
                self.client
                    .answer(&id, &ListSessionsResponse::new(sessions).next_cursor(next));
            }
            (Awaited::Close { id, session }, Verdict::Accepted(_)) => {
                self.session_closed(&id, session);
            }
            // Closed already, by whatever means.
            (Awaited::Close { id, session }, Verdict::Error(refused))
                if refused.code == ErrorCode::NotFound =>
            {
                self.session_closed(&id, session);
            }
            (
                Awaited::Mode {
                    id,
                    session,
                    mode,
                    setter,
                },
                Verdict::Accepted(_),
            ) => {
                self.mode_set(&id, session, (&mode, setter));
            }
            (Awaited::Prompt { id, session, wish }, Verdict::Accepted(Accepted::Turn { turn })) => {
                self.turn_named(id, session, (turn, wish))
            }
            (awaited, Verdict::Error(refused)) => {
                self.refused(awaited, |session| from_waist(&refused, session));
            }
            (awaited, Verdict::Accepted(_)) => {
                self.refused(awaited, |_| error(INTERNAL_ERROR, "Internal error"));
            }
        }
    }

    /// The response comes first: clients know nothing of the session before it (acp.md 5.2).
    fn session_opened(&mut self, id: &RawId, view: &SessionView) {
        let session = Session::opened(view);
        let response = NewSessionResponse::new(view.session.to_string())
            .modes(session.modes.as_ref().map(|modes| modes.state()))
            .config_options(session.modes.as_ref().map(|modes| modes.options()));
        self.sessions.insert(view.session, session);
        self.client.answer(id, &response);
        self.client
            .update(view.session, &commands_update(&view.agent.commands));
    }

    /// The receipt ends the replay, so all of it was sent (acp.md 1.5).
    fn session_loaded(&mut self, id: &RawId, session: SessionId, view: &SessionView) {
        let notices = self.notices();
        let state = self.sessions.entry(session).or_default();
        let replay = state.end_load();
        state.attached(view);
        let open = replay.map(|replay| replay.finish(&self.client, notices, session));
        // Without a turn nothing will end what is open.
        let open = open.filter(|_| !state.turns.is_empty());
        state.live = Live::resumed(open.unwrap_or_default());
        let response = LoadSessionResponse::new()
            .modes(state.modes.as_ref().map(|modes| modes.state()))
            .config_options(state.modes.as_ref().map(|modes| modes.options()));
        self.client.answer(id, &response);
        self.client
            .update(session, &commands_update(&view.agent.commands));
    }

    /// Prompts that the engine did not end are answered before the close is.
    fn session_closed(&mut self, id: &RawId, session: SessionId) {
        let closed = self.sessions.remove(&session).unwrap_or_default();
        for prompt in closed.turns.values() {
            self.client
                .answer(prompt, &PromptResponse::new(StopReason::Cancelled));
        }
        self.questions.withdraw_all(session);
        self.client.answer(id, &CloseSessionResponse::new());
    }

    /// Both ways of showing the mode stay in step.
    fn mode_set(&mut self, id: &RawId, session: SessionId, (mode, setter): (&str, Setter)) {
        let modes = self
            .sessions
            .get_mut(&session)
            .and_then(|session| session.modes.as_mut());
        if let Some(modes) = modes {
            modes.set(mode);
            match setter {
                Setter::Mode => self.client.update(session, &modes.options_update()),
                Setter::ConfigOption => {
                    let update = Update::CurrentModeUpdate {
                        current_mode_id: mode,
                    };
                    self.client.update(session, &update);
                    let all = SetSessionConfigOptionResponse::new(modes.options());
                    return self.client.answer(id, &all);
                }
            }
        }
        self.client.answer(id, &SetSessionModeResponse::new());
    }

    fn turn_named(&mut self, id: RawId, session: SessionId, (turn, wish): (TurnId, Wish)) {
        match self.sessions.get_mut(&session) {
            Some(state) => drop(state.turns.insert(turn, id)),
            None => {
                return self
                    .client
                    .answer(&id, &PromptResponse::new(StopReason::Cancelled));
            }
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
        if self.submit(Awaited::Interrupt, Some(session), op).is_err() {
            tracing::error!("an interrupt could not be submitted");
        }
    }

    fn refused(&mut self, awaited: Awaited, told: impl FnOnce(&str) -> ErrorObject) {
        let (id, session) = match awaited {
            Awaited::Interrupt => return,
            Awaited::New { id } | Awaited::List { id } => (id, None),
            Awaited::Load { id, session } => {
                self.load_failed(session);
                (id, Some(session))
            }
            Awaited::Close { id, session }
            | Awaited::Mode { id, session, .. }
            | Awaited::Prompt { id, session, .. } => (id, Some(session)),
        };
        let session = session
            .map(|session| session.to_string())
            .unwrap_or_default();
        self.client.fail(&id, &told(&session));
    }

    fn load_failed(&mut self, session: SessionId) {
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        state.end_load();
        if state.is_idle() {
            self.sessions.remove(&session);
        }
    }
}

fn info(summary: Summary) -> SessionInfo {
    SessionInfo::new(summary.session.to_string(), summary.cwd)
        .title(summary.title)
        .updated_at(summary.updated_at)
}
