//! How an agent takes back what it asks us (`$/cancel_request`).

use tokio::sync::watch;

/// Whether a question of the agent was taken back. Clones are one.
#[derive(Debug, Clone)]
pub(super) struct Withdrawal {
    taken_back: watch::Sender<bool>,
}

impl Withdrawal {
    /// Of a question that stands.
    pub(super) fn none() -> Self {
        Self {
            taken_back: watch::Sender::new(false),
        }
    }

    /// The agent wants no answer any more.
    pub(super) fn take_back(&self) {
        self.taken_back.send_replace(true);
    }

    pub(super) fn is_taken_back(&self) -> bool {
        *self.taken_back.borrow()
    }

    /// Returns once it is taken back.
    pub(super) async fn taken_back(&self) {
        let mut taken_back = self.taken_back.subscribe();
        // Cannot fail: the sender is here.
        let _seen = taken_back.wait_for(|is_taken_back| *is_taken_back).await;
    }
}
