//! Requests to Codex. It drops what it is asked beyond its queues, answers and all (codex.md B4), so
//! that few are out at once, each has a deadline, and one that it was too busy for is asked again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sessiond_wire::rpc::Peer;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::failure::Failed;

/// Requests that are out at once. Its queues hold 128 messages of all kinds.
const IN_FLIGHT: usize = 16;

/// What it answers when it is too busy; nothing was done then.
const OVERLOADED: i32 = -32001;

/// How often a request is asked again that it was too busy for.
const ATTEMPTS: u32 = 6;

/// The pause before it is asked again the first time; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(100);

/// How long an answer may take where nothing else is said: none of them waits for a model.
pub(super) const SOON: Duration = Duration::from_secs(60);

/// The way to ask. Clones are one.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    pub(super) peer: Peer,
    room: Arc<Semaphore>,
}

impl Requests {
    pub(super) fn new(peer: Peer) -> Self {
        Self {
            peer,
            room: Arc::new(Semaphore::new(IN_FLIGHT)),
        }
    }

    /// Asks Codex.
    ///
    /// # Errors
    /// [`Failed`] where there is no result.
    pub(super) async fn call(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, Failed> {
        let late = Failed::Late(limit.as_secs());
        let asked = timeout(limit, self.ask(method, params)).await;
        asked.unwrap_or(Err(late))
    }

    async fn ask(&self, method: &str, params: &Value) -> Result<Value, Failed> {
        // An error would say that the semaphore is closed, which nobody does.
        let _room = self.room.acquire().await.map_err(|_| Failed::Gone)?;
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            match self.once(method, params).await {
                Err(Failed::Refused(error)) if error.code() == OVERLOADED => sleep(pause).await,
                answer => return answer,
            }
            pause *= 2;
        }
        self.once(method, params).await
    }

    async fn once(&self, method: &str, params: &Value) -> Result<Value, Failed> {
        self.peer.queue().ready().await;
        let answer = self.peer.request(method, params).await?;
        Ok(serde_json::from_str(answer.get()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
