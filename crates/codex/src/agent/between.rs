//! What Codex says between turns.

use std::pin::pin;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_engine::Emit;
use sessiond_protocol::Severity;
use sessiond_wire::rpc::{Inbound, Peer, RawId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::asks;
use super::link::Incoming;
use super::said;
use super::thread::{Thread, bad_line};

/// Things held back for the first turn of a run; a Codex that says more than that before anybody
/// asked it anything is not worth the memory.
const HELD: usize = 64;

/// Whether what Codex says is told at once. What would be recorded waits for the first turn of this
/// run: a load records nothing (RESUME-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Held,
    Free,
}

/// Listens to Codex until a turn takes over, or the session is gone.
#[derive(Debug)]
pub(super) struct Between {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Option<Left>>,
}

/// What a turn takes over.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) incoming: mpsc::Receiver<Incoming>,
    /// What was held back, oldest first.
    pub(super) held: Vec<Emit>,
}

struct Listener {
    thread: Arc<Thread>,
    left: Left,
    voice: Voice,
    /// Messages that belonged to a turn.
    late: u64,
}

impl Between {
    /// Begins to listen. `gone` is done when the session is gone.
    pub(super) fn begin(
        thread: Arc<Thread>,
        left: Left,
        voice: Voice,
        gone: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let listener = Listener {
            thread,
            left,
            voice,
            late: 0,
        };
        let task = tokio::spawn(async move {
            let left = listener.listen(stopped).await;
            if left.is_none() {
                gone();
            }
            left
        });
        Self { stop, task }
    }

    /// Stops listening.
    pub(super) async fn end(mut self) -> Option<Left> {
        let (unused, _) = oneshot::channel();
        let _ended = std::mem::replace(&mut self.stop, unused).send(());
        (&mut self.task).await.ok().flatten()
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listener {
    /// Listens until it is stopped, and gives back the way from Codex; none where the session is
    /// gone.
    async fn listen(mut self, mut stopped: oneshot::Receiver<()>) -> Option<Left> {
        let updates = self.thread.updates.clone();
        let mut gone = pin!(updates.gone());
        loop {
            // What was received is told before anything else happens: nothing is lost on the way.
            let incoming = tokio::select! {
                biased;
                _ = &mut stopped => return Some(self.left),
                () = &mut gone => return None,
                Some(incoming) = self.left.incoming.recv() => incoming,
            };
            match incoming {
                Incoming::Message(message, _weight) => self.hear(message).await,
                Incoming::Bad => {
                    let notice = bad_line(&self.thread.agent);
                    self.tell(notice).await;
                }
                Incoming::End(how) => {
                    let agent = &self.thread.agent;
                    tracing::debug!(agent, how, "an agent ended between turns");
                    self.thread.over.end();
                }
            }
        }
    }

    async fn hear(&mut self, message: Inbound) {
        match message {
            Inbound::Notification { method, params } => {
                let said = said::read(&self.thread.id, &method, params.as_deref());
                match self.thread.noted(said, None) {
                    Some(emits) => {
                        for emit in emits {
                            self.tell(emit).await;
                        }
                    }
                    None => self.belated().await,
                }
            }
            Inbound::Request { id, method, params } => {
                outside(
                    &self.thread.requests.peer,
                    &id,
                    (&method, params.as_deref()),
                );
            }
            message => self.thread.answered(message),
        }
    }

    /// Something of a turn came after its end. It is part of no turn, and the user hears so once.
    async fn belated(&mut self) {
        self.late += 1;
        if self.late == 1 && self.voice == Voice::Free {
            let agent = &self.thread.agent;
            let title = format!("{agent} went on after the end of its turn; that is not shown");
            self.tell(Emit::Notice(Severity::Warning, title)).await;
        }
    }

    async fn tell(&mut self, emit: Emit) {
        if self.voice == Voice::Held {
            if self.left.held.len() < HELD {
                self.left.held.push(emit);
            }
            return;
        }
        // A session that is gone needs to know nothing.
        let _gone = self.thread.updates.send(emit).await;
    }
}

/// Answers a request that came while no turn runs: there is nobody to ask.
pub(super) fn outside(peer: &Peer, id: &RawId, (method, params): (&str, Option<&RawValue>)) {
    let params: Value = params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default();
    match asks::read(method, &params) {
        Ok(asked) => peer.respond(id, Ok(&asked.unasked())),
        Err(refused) => peer.refuse(Some(id), &refused),
    }
}
