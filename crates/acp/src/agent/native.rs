//! A session of the agent's own, as whoever deals with it knows it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sessiond_engine::{Emit, Updates};
use sessiond_protocol::{SessionId, Usage};
use sessiond_wire::program::RpcOver;
use sessiond_wire::rpc::{Inbound, Peer};

use super::offers::{Changed, Offers};
use super::update::Update;

/// The name under which the agent's own id of a session is recorded.
pub(super) const SESSION: &str = "session";

/// The member of params that names a session.
const SESSION_ID: &str = "sessionId";

/// One session of one running agent.
#[derive(Debug)]
pub(super) struct Native {
    /// What the configuration calls the agent.
    pub(super) agent: String,
    /// Our session.
    pub(super) session: SessionId,
    /// Where it works, absolute.
    pub(super) cwd: String,
    /// The agent's own id of it.
    pub(super) id: String,
    pub(super) peer: Peer,
    pub(super) over: RpcOver,
    pub(super) updates: Updates,
    pub(super) offers: Mutex<Offers>,
    /// Its context and cost, as it last told them.
    pub(super) context: Mutex<Usage>,
}

impl Native {
    /// What it offers, as it stands.
    pub(super) fn offers(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn context(&self) -> MutexGuard<'_, Usage> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its context and cost, as it last told them.
    pub(super) fn context_stands_at(&self) -> Usage {
        *self.context()
    }

    /// What an update says that belongs to no turn; none where it does.
    pub(super) fn noted(&self, update: Update<'_>) -> Option<Vec<Emit>> {
        Some(match update {
            Update::Commands(commands) => {
                self.offers().commands.clone_from(&commands);
                vec![Emit::Commands(commands)]
            }
            Update::Mode(mode) => {
                self.offers().mode = Some(mode.clone());
                vec![Emit::Mode(mode)]
            }
            Update::Options(listed) => {
                let changed = self.offers().set_options(listed);
                self.told(changed)
            }
            Update::Title(title) => title.map(Emit::Title).into_iter().collect(),
            Update::Usage(usage) => {
                self.context().clone_from(&usage);
                vec![Emit::Usage(usage)]
            }
            Update::Notice(severity, title) => vec![Emit::Notice(severity, title)],
            Update::User(_)
            | Update::Agent(_)
            | Update::Thought(_)
            | Update::Call(_)
            | Update::Plan(_)
            | Update::Other => return None,
        })
    }

    /// What to tell of a change of what it offers.
    pub(super) fn told(&self, changed: Changed) -> Vec<Emit> {
        let offers = self.offers();
        let modes = changed.modes.then(|| Emit::Modes(offers.modes.clone()));
        let mode = offers.mode.clone().filter(|_| changed.mode);
        let options = changed
            .options
            .then(|| Emit::Options(offers.options.clone()));
        let emits = modes.into_iter().chain(mode.map(Emit::Mode));
        emits.chain(options).collect()
    }

    /// Params of the agent as our client gets them: about our session.
    pub(super) fn to_ours(&self, params: &mut Value) {
        self.rewrite(params, &self.id, &self.session.to_string());
    }

    /// Params of our client as the agent gets them: about its own session.
    pub(super) fn to_native(&self, params: &mut Value) {
        self.rewrite(params, &self.session.to_string(), &self.id);
    }

    /// Only the params' own member: what stands deeper is the business of those who wrote it.
    fn rewrite(&self, params: &mut Value, from: &str, to: &str) {
        if let Some(named) = params.get_mut(SESSION_ID)
            && named == from
        {
            *named = to.into();
        }
    }

    /// Hands an answer of the agent to the call that waits for it.
    pub(super) fn answered(&self, message: Inbound) {
        if let Inbound::Response { id, result } = message {
            self.peer.accept(&id, result);
        }
    }
}
