//! Our side of the conversation with the CLI: what we ask of it, and its answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use sessiond_wire::OutQueue;
use sessiond_wire::program::Over;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::control;
use crate::line::OutFrame;

/// An answer of the CLI: its value, or the text of its error.
pub(super) type Answer = Result<Value, String>;

/// Why a request has no answer.
pub(super) const ENDED: &str = "it ended before it answered";

/// The way to a CLI. Clones are one.
#[derive(Debug, Clone)]
pub(super) struct Link {
    queue: OutQueue<OutFrame>,
    over: Over<OutFrame>,
    unanswered: Arc<Mutex<Unanswered>>,
}

/// What was asked and is not answered; it takes nothing more once the process has ended.
#[derive(Debug, Default)]
struct Unanswered {
    by_id: HashMap<String, oneshot::Sender<Answer>>,
    is_over: bool,
}

impl Link {
    pub(super) fn new(queue: OutQueue<OutFrame>, over: Over<OutFrame>) -> Self {
        Self {
            queue,
            over,
            unanswered: Arc::default(),
        }
    }

    /// Sends a frame, whole.
    pub(super) fn send(&self, frame: &Value) {
        self.queue.push(OutFrame::whole(frame));
    }

    /// Asks something; dropping the answer forgets that it was asked.
    pub(super) async fn ask(&self, request: Value) -> Answer {
        let id = Uuid::now_v7().to_string();
        let (sender, answer) = oneshot::channel();
        {
            let mut unanswered = self.lock();
            if unanswered.is_over {
                return Err(ENDED.to_owned());
            }
            unanswered.by_id.retain(|_, asked| !asked.is_closed());
            unanswered.by_id.insert(id.clone(), sender);
        }
        self.send(&control::request(&id, request));
        answer.await.unwrap_or_else(|_| Err(ENDED.to_owned()))
    }

    /// Asks something whose answer nobody needs.
    pub(super) fn tell(&self, request: Value) {
        let id = Uuid::now_v7().to_string();
        self.send(&control::request(&id, request));
    }

    /// Hands an answer to whoever waits for it.
    pub(super) fn answered(&self, id: &str, answer: Answer) {
        if let Some(asked) = self.lock().by_id.remove(id) {
            // Whoever asked may have gone.
            let _unwanted = asked.send(answer);
        }
    }

    /// The process has ended: nothing is answered any more.
    pub(super) fn end(&self) {
        self.over.end();
        let mut unanswered = self.lock();
        unanswered.is_over = true;
        unanswered.by_id.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Unanswered> {
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
