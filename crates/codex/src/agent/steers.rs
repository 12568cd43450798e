//! What the user adds while a turn runs (`turn/steer`).

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use sessiond_engine::{TurnContext, TurnOver};
use sessiond_protocol::Content;
use tokio::sync::watch;

use super::input::Input;
use super::requests::SOON;
use super::thread::Thread;

/// What was added to a turn and did not reach Codex, and whether something is on its way.
#[derive(Debug)]
pub(super) struct Steers {
    left: Mutex<Vec<Vec<Content>>>,
    sending: watch::Sender<bool>,
}

impl Steers {
    pub(super) fn new() -> Self {
        Self {
            left: Mutex::default(),
            sending: watch::channel(false).0,
        }
    }

    /// Hands what is added to Codex, into its turn as soon as that has an id. What Codex does not
    /// take, because its turn is ending or cannot be added to, is left.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn follow(
        &self,
        thread: &Thread,
        context: &TurnContext,
        mut native: watch::Receiver<Option<String>>,
    ) -> Result<(), TurnOver> {
        let turn = match native.wait_for(Option::is_some).await {
            Ok(turn) => turn.clone().unwrap_or_default(),
            Err(_) => return Err(TurnOver),
        };
        loop {
            context.steered().await;
            self.sending.send_replace(true);
            for content in context.take_steers().await? {
                let params = json!({
                    "threadId": thread.id, "expectedTurnId": turn,
                    "input": Input::of(&content).parts,
                });
                if let Err(error) = thread.requests.call("turn/steer", &params, SOON).await {
                    tracing::info!(%error, "a steer did not reach the turn; it is the next prompt");
                    let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
                    left.push(content);
                }
            }
            self.sending.send_replace(false);
        }
    }

    /// Returns once nothing is on its way to Codex.
    pub(super) async fn settled(&self) {
        let mut sending = self.sending.subscribe();
        // An error would say that `self` is gone.
        let _gone = pin!(sending.wait_for(|sending| !sending)).await;
    }

    /// What did not reach Codex, joined, oldest first.
    pub(super) fn take_left(&self) -> Vec<Content> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *left).into_iter().flatten().collect()
    }
}
