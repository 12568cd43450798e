//! What an agent's program says between turns: of whatever kind it is, it is listened to the same way.

use std::pin::pin;
use std::sync::Arc;

use sessiond_protocol::Severity;
use sessiond_wire::program::Incoming;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{AgentError, Emit, Updates};

/// Things held back for the first turn of a run; an agent that says more than that before anybody
/// asked it anything is not worth the memory.
const HELD: usize = 64;

/// An agent's program while no turn of it runs.
pub trait Outside: Send + Sync + 'static {
    /// What it writes.
    type Message: Send + 'static;

    /// What the configuration calls the agent.
    fn agent(&self) -> &str;

    /// Where it is told what the agent says.
    fn updates(&self) -> &Updates;

    /// Its process has ended.
    fn ended(&self);

    /// What a message says that belongs to no turn; none where it belongs to one. A request is
    /// answered: there is nobody to ask.
    fn hear(&self, message: Self::Message) -> Option<Vec<Emit>>;
}

/// Whether what the agent says is told at once. What would be recorded waits for the first turn of
/// this run: a load records nothing (RESUME-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// It waits.
    Held,
    /// It is told.
    Free,
}

/// Listens to an agent until a turn takes over, or the session is gone.
#[derive(Debug)]
pub struct Between<M> {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Option<Left<M>>>,
}

/// What a turn takes over.
#[derive(Debug)]
pub struct Left<M> {
    /// The way from the agent.
    pub incoming: mpsc::Receiver<Incoming<M>>,
    /// What was held back, oldest first.
    pub held: Vec<Emit>,
}

struct Listener<O: Outside> {
    outside: Arc<O>,
    left: Left<O::Message>,
    voice: Voice,
    /// Messages that belonged to a turn.
    late: u64,
}

impl<M: Send + 'static> Between<M> {
    /// Begins to listen. `gone` is done when the session is gone.
    pub fn begin<O: Outside<Message = M>>(
        outside: Arc<O>,
        left: Left<M>,
        voice: Voice,
        gone: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let listener = Listener {
            outside,
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
    pub async fn end(mut self) -> Option<Left<M>> {
        let (unused, _) = oneshot::channel();
        let _ended = std::mem::replace(&mut self.stop, unused).send(());
        (&mut self.task).await.ok().flatten()
    }

    /// Stops whoever listens, for a turn of this agent.
    ///
    /// # Errors
    /// [`AgentError`]: failed, where nobody listens, or the session is gone.
    pub async fn take_over(between: &mut Option<Self>, agent: &str) -> Result<Left<M>, AgentError> {
        let left = match between.take() {
            Some(between) => between.end().await,
            None => None,
        };
        let ended = || AgentError::failed(format!("{agent} has ended; the next prompt starts it"));
        left.ok_or_else(ended)
    }
}

impl<M> Drop for Between<M> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<O: Outside> Listener<O> {
    /// Listens until it is stopped, and gives back the way from the agent; none where the session is
    /// gone.
    async fn listen(mut self, mut stopped: oneshot::Receiver<()>) -> Option<Left<O::Message>> {
        let updates = self.outside.updates().clone();
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
                Incoming::Message(message, _weight) => match self.outside.hear(message) {
                    Some(emits) => {
                        for emit in emits {
                            self.tell(emit).await;
                        }
                    }
                    None => self.belated().await,
                },
                Incoming::Bad => {
                    let notice = bad_line(self.outside.agent());
                    self.tell(notice).await;
                }
                Incoming::End(how) => {
                    let agent = self.outside.agent();
                    tracing::debug!(agent, how, "an agent ended between turns");
                    self.outside.ended();
                }
            }
        }
    }

    /// Something of a turn came after its end. It is part of no turn, and the user hears so once.
    async fn belated(&mut self) {
        self.late += 1;
        if self.late == 1 && self.voice == Voice::Free {
            let agent = self.outside.agent();
            let title = format!("{agent} went on after the end of its turn; that is not shown");
            self.tell(Emit::Notice(Severity::Warning, title)).await;
        }
    }

    async fn tell(&mut self, emit: Emit) {
        let is_recorded = !matches!(
            emit,
            Emit::Commands(_) | Emit::Modes(_) | Emit::Extension(..)
        );
        if is_recorded && self.voice == Voice::Held {
            if self.left.held.len() < HELD {
                self.left.held.push(emit);
            }
            return;
        }
        // A session that is gone needs to know nothing.
        let _gone = self.outside.updates().send(emit).await;
    }
}

/// The notice of a line that is no message; what it says is not repeated (WIRE-14).
#[must_use]
pub fn bad_line(agent: &str) -> Emit {
    let title =
        format!("{agent} wrote a line that is no message of its protocol; it was passed over");
    Emit::Notice(Severity::Warning, title)
}
