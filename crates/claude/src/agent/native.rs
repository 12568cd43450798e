//! A session of the CLI's own, as whoever deals with it knows it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sessiond_engine::{Emit, Updates};
use sessiond_protocol::{Severity, Usage};

use super::link::Link;
use super::offers::{self, Offers};
use crate::control::{self, Message};

/// The name under which the CLI's own id of a session is recorded.
pub(super) const SESSION: &str = "session";

/// One session of one running CLI.
#[derive(Debug)]
pub(super) struct Native {
    /// What the configuration calls the agent.
    pub(super) agent: String,
    /// The CLI's own id of it.
    pub(super) id: String,
    pub(super) link: Link,
    pub(super) updates: Updates,
    pub(super) offers: Mutex<Offers>,
    /// Its context and cost, as it last told them.
    pub(super) context: Mutex<Usage>,
}

impl Native {
    /// What it offers, as it stands.
    pub(super) fn offers(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its context and cost, as it last told them.
    pub(super) fn context(&self) -> MutexGuard<'_, Usage> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a frame says that belongs to no turn; none where it does.
    pub(super) fn noted(&self, kind: &str, frame: &Map<String, Value>) -> Option<Vec<Emit>> {
        match kind {
            "assistant" | "user" | "result" | "stream_event" => None,
            "system" => Some(self.noted_by_system(frame)),
            // The log is what counts: the next start gives it back what it has forgotten.
            "conversation_reset" => {
                let agent = &self.agent;
                let title = format!("{agent} has left its own record; the session keeps all of it");
                Some(vec![Emit::Notice(Severity::Warning, title)])
            }
            _ => Some(Vec::new()),
        }
    }

    fn noted_by_system(&self, frame: &Map<String, Value>) -> Vec<Emit> {
        let warn = |title: String| vec![Emit::Notice(Severity::Warning, title)];
        let agent = &self.agent;
        match control::text(frame, "subtype").as_deref() {
            Some("status" | "init") => {
                let Some(mode) = control::text(frame, "permissionMode") else {
                    return Vec::new();
                };
                let mut offers = self.offers();
                if offers.mode == mode {
                    return Vec::new();
                }
                offers.mode.clone_from(&mode);
                vec![Emit::Mode(mode)]
            }
            Some("commands_changed") => {
                let commands = offers::commands(frame.get("commands"));
                self.offers().commands.clone_from(&commands);
                vec![Emit::Commands(commands)]
            }
            Some("compact_boundary") => {
                let title = format!("{agent} has summed up its own record of the conversation");
                vec![Emit::Notice(Severity::Info, title)]
            }
            Some("api_retry") => warn(format!("{agent} could not reach its model and tries again")),
            Some("informational") => {
                let content = control::text(frame, "content");
                content
                    .map(|text| warn(format!("{agent}: {text}")))
                    .unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Hands an answer of the CLI to whoever waits for it.
    pub(super) fn answered(&self, message: Message) {
        if let Message::Response { id, answer } = message {
            self.link.answered(&id, answer);
        }
    }
}
