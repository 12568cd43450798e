//! What the CLI says between turns.

use sessiond_engine::between::Outside;
use sessiond_engine::{Emit, Updates};

use super::asks;
use super::native::Native;
use crate::control::Message;

/// Whoever listens to a CLI between turns.
pub(super) type Between = sessiond_engine::between::Between<Message>;

impl Outside for Native {
    type Message = Message;

    fn agent(&self) -> &str {
        &self.agent
    }

    fn updates(&self) -> &Updates {
        &self.updates
    }

    fn ended(&self) {
        self.link.end();
    }

    fn hear(&self, message: Message) -> Option<Vec<Emit>> {
        match message {
            Message::Frame { kind, frame } => return self.noted(&kind, &frame),
            Message::Request { id, request } => asks::outside(&self.link, &id, &request),
            message => self.answered(message),
        }
        Some(Vec::new())
    }
}
