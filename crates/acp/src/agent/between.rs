//! What an agent says between turns.

use sessiond_engine::between::Outside;
use sessiond_engine::{Emit, Updates};
use sessiond_wire::rpc::Inbound;

use super::asks;
use super::native::Native;
use super::said::{Said, said};

/// Whoever listens to an agent between turns.
pub(super) type Between = sessiond_engine::between::Between<Inbound>;

impl Outside for Native {
    type Message = Inbound;

    fn agent(&self) -> &str {
        &self.agent
    }

    fn updates(&self) -> &Updates {
        &self.updates
    }

    fn ended(&self) {
        self.over.end();
    }

    fn hear(&self, message: Inbound) -> Option<Vec<Emit>> {
        match message {
            Inbound::Notification { method, params } => {
                return match said(self, &method, params.as_deref()) {
                    Said::Update(update) => self.noted(update),
                    Said::Beyond(emit) => Some(vec![emit]),
                    Said::Nothing => Some(Vec::new()),
                };
            }
            Inbound::Request { id, method, .. } => asks::outside(&self.peer, &id, &method),
            message => self.answered(message),
        }
        Some(Vec::new())
    }
}
