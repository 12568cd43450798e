//! What the CLI says between turns.

use std::pin::pin;
use std::sync::Arc;

use sessiond_engine::Emit;
use sessiond_protocol::Severity;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::asks;
use super::incoming::Incoming;
use super::native::{Native, bad_line};
use crate::control::Message;

/// Things held back for the first turn of a run; more than that before anybody asked anything is not
/// worth the memory.
const HELD: usize = 64;

/// Whether what is said is told at once. What would be recorded waits for the first turn of this run:
/// a load records nothing (RESUME-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Held,
    Free,
}

/// Listens to a CLI until a turn takes over, or the session is gone.
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
    native: Arc<Native>,
    left: Left,
    voice: Voice,
    /// Frames that belonged to a turn.
    late: u64,
}

impl Between {
    /// Begins to listen. `gone` is done when the session is gone.
    pub(super) fn begin(
        native: Arc<Native>,
        left: Left,
        voice: Voice,
        gone: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let listener = Listener {
            native,
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
    /// Listens until it is stopped, and gives back the way from the CLI; none where the session is
    /// gone.
    async fn listen(mut self, mut stopped: oneshot::Receiver<()>) -> Option<Left> {
        let updates = self.native.updates.clone();
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
                    let notice = bad_line(&self.native.agent);
                    self.tell(notice).await;
                }
                Incoming::End(how) => {
                    let agent = &self.native.agent;
                    tracing::debug!(agent, how, "a CLI ended between turns");
                    self.native.link.end();
                }
            }
        }
    }

    async fn hear(&mut self, message: Message) {
        match message {
            Message::Frame { kind, frame } => match self.native.noted(&kind, &frame) {
                Some(emits) => {
                    for emit in emits {
                        self.tell(emit).await;
                    }
                }
                None => self.belated().await,
            },
            Message::Request { id, request } => asks::outside(&self.native.link, &id, &request),
            message => self.native.answered(message),
        }
    }

    /// Something of a turn came after its end. It is part of no turn, and the user hears so once.
    async fn belated(&mut self) {
        self.late += 1;
        if self.late == 1 && self.voice == Voice::Free {
            let agent = &self.native.agent;
            let title = format!("{agent} went on after the end of its turn; that is not shown");
            self.tell(Emit::Notice(Severity::Warning, title)).await;
        }
    }

    async fn tell(&mut self, emit: Emit) {
        if !matches!(emit, Emit::Commands(_)) && self.voice == Voice::Held {
            if self.left.held.len() < HELD {
                self.left.held.push(emit);
            }
            return;
        }
        // A session that is gone needs to know nothing.
        let _gone = self.native.updates.send(emit).await;
    }
}
