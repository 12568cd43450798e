//! The conversation so far, for an agent.

use std::fmt;

use sessiond_protocol::{HistoryItem, TurnId};

use super::AgentError;

/// A conversation, and where it broke off.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The closed items of all turns before the one that is about to run.
    pub items: Vec<HistoryItem>,
    /// The oldest of the newest turns that failed or were cut by a dead process: an agent that keeps
    /// a record of its own may lack what was said from there on.
    pub broken_off: Option<TurnId>,
}

/// The conversation so far, read from the log when an agent wants it: one that keeps its own, or
/// needs none, costs a long session nothing.
pub struct HistorySource {
    read: Box<dyn FnOnce() -> Result<Conversation, AgentError> + Send + Sync>,
}

impl HistorySource {
    pub(crate) fn new(
        read: impl FnOnce() -> Result<Conversation, AgentError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            read: Box::new(read),
        }
    }

    /// No conversation.
    #[must_use]
    pub fn none() -> Self {
        Self::new(|| Ok(Conversation::default()))
    }

    /// Reads it: the closed items of all turns before the one that is about to run.
    ///
    /// # Errors
    /// [`AgentError`] where the log cannot be read.
    pub async fn load(self) -> Result<Vec<HistoryItem>, AgentError> {
        self.conversation().await.map(|known| known.items)
    }

    /// Reads it, and where it broke off.
    ///
    /// # Errors
    /// [`AgentError`] where the log cannot be read.
    pub async fn conversation(self) -> Result<Conversation, AgentError> {
        let read = tokio::task::spawn_blocking(self.read);
        read.await
            .unwrap_or_else(|_| Err(AgentError::failed("reading the history was aborted")))
    }
}

impl fmt::Debug for HistorySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HistorySource")
    }
}
