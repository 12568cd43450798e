//! How an agent takes back what it asks.

use tokio::sync::watch;

/// Whether a question of the agent was taken back. Clones are one.
#[derive(Debug, Clone)]
pub struct Withdrawal {
    taken_back: watch::Sender<bool>,
}

impl Withdrawal {
    /// Of a question that stands.
    #[must_use]
    pub fn none() -> Self {
        Self {
            taken_back: watch::Sender::new(false),
        }
    }

    /// The agent wants no answer any more.
    pub fn take_back(&self) {
        self.taken_back.send_replace(true);
    }

    /// Whether it wants none.
    #[must_use]
    pub fn is_taken_back(&self) -> bool {
        *self.taken_back.borrow()
    }

    /// Returns once it is taken back.
    pub async fn taken_back(&self) {
        let mut taken_back = self.taken_back.subscribe();
        // Cannot fail: the sender is here.
        let _seen = taken_back.wait_for(|is_taken_back| *is_taken_back).await;
    }
}
