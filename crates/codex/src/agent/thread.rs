//! A thread of Codex's own, as whoever deals with it knows it.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sessiond_engine::{Emit, Updates};
use sessiond_protocol::Severity;
use sessiond_wire::program::RpcOver;
use sessiond_wire::rpc::Inbound;

use super::offers::Offers;
use super::requests::Requests;
use super::said::Said;
use super::usage::Spent;

/// The name under which Codex's id of the thread is recorded.
pub(super) const THREAD: &str = "thread";

/// The name under which is recorded how far a conversation was put into a thread before its first
/// turn.
pub(super) const HANDED: &str = "handed";

/// Notices of one process that are known, so that none is told twice. Codex says some of them with
/// every turn; beyond this many they are told again.
const NOTICES: usize = 64;

/// One thread of one running Codex.
#[derive(Debug)]
pub(super) struct Thread {
    /// What the configuration calls the agent.
    pub(super) agent: String,
    /// Codex's id of the thread.
    pub(super) id: String,
    pub(super) requests: Requests,
    pub(super) over: RpcOver,
    pub(super) updates: Updates,
    pub(super) known: Known,
}

/// What is known of a thread, as it was last told.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) offers: Mutex<Offers>,
    pub(super) spent: Mutex<Spent>,
    pub(super) notices: Mutex<HashSet<String>>,
}

impl Thread {
    /// What Codex offers, as it stands.
    pub(super) fn offers(&self) -> MutexGuard<'_, Offers> {
        lock(&self.known.offers)
    }

    /// What the thread has used.
    pub(super) fn spent(&self) -> Spent {
        *lock(&self.known.spent)
    }

    /// What is said that belongs to no turn; `before` is what the thread had used when the turn that
    /// runs began. None for what belongs to a turn.
    pub(super) fn noted(&self, said: Said, before: Option<Spent>) -> Option<Vec<Emit>> {
        Some(match said {
            Said::Turn(..) => return None,
            Said::Spent(spent) => {
                *lock(&self.known.spent) = spent;
                // Between turns it repeats what an old one has used.
                let usage = before.map(|before| spent.since(before));
                usage.map(Emit::Usage).into_iter().collect()
            }
            Said::Settings(settings) => {
                let mut offers = self.offers();
                match offers.updated(&settings) {
                    true => vec![Emit::Options(offers.options().to_vec())],
                    false => Vec::new(),
                }
            }
            Said::Title(title) => vec![Emit::Title(title)],
            Said::Notice(severity, title) => self.notice(severity, title).into_iter().collect(),
            Said::Resolved(_) | Said::Nothing => Vec::new(),
        })
    }

    /// A notice, unless it was told already.
    fn notice(&self, severity: Severity, title: String) -> Option<Emit> {
        let mut told = lock(&self.known.notices);
        if told.len() >= NOTICES {
            told.clear();
        }
        let is_new = told.insert(title.clone());
        is_new.then_some(Emit::Notice(severity, title))
    }

    /// Hands an answer of Codex to the request that waits for it.
    pub(super) fn answered(&self, message: Inbound) {
        if let Inbound::Response { id, result } = message {
            self.requests.peer.accept(&id, result);
        }
    }
}

fn lock<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
