//! Prompts that the face follows itself: `/clear`, and `/compact` where the engine answers it.

use serde_json::json;
use sessiond_protocol::{Accepted, Command, Content, Op, WireError};
use sessiond_wire::waist::unexpected;

use super::outcome::Outcome;
use super::prompt::Prompt;
use super::serve::{Face, Place};

/// What a prompt asks the face for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    Clear,
    Compact,
}

impl Local {
    /// What a prompt is, if it is one of them and nothing else. A command of the same name that the
    /// agent has itself goes to the agent.
    pub(super) fn of(prompt: &Prompt, commands: &[Command]) -> Option<Self> {
        let [Content::Text { text, .. }] = &prompt.content[..] else {
            return None;
        };
        let has = |name: &str| commands.iter().any(|command| command.name == name);
        match text.trim() {
            "/clear" if !has("clear") => Some(Local::Clear),
            "/compact" if commands.contains(&Command::compaction()) => Some(Local::Compact),
            _ => None,
        }
    }
}

impl Face {
    /// Follows such a prompt. Nothing runs or waits.
    pub(super) async fn follow(&mut self, local: Local, prompt: Prompt) -> Result<(), WireError> {
        if self.place != Place::Attached {
            // There is nothing yet that could be cleared or summed up.
            self.tell_result(&Outcome::local());
            self.out.lifecycle(&prompt, "completed");
            return Ok(());
        }
        let op = match local {
            Local::Clear => Op::SessionClear {},
            Local::Compact => Op::SessionCompact {},
        };
        match (local, self.engine.call(Some(self.out.session), op).await) {
            (_, Err(error)) => {
                self.tell_result(&Outcome::failed(&error));
                self.out.lifecycle(&prompt, "cancelled");
            }
            (Local::Clear, Ok(_)) => {
                let id = self.out.session.to_string();
                let members = json!({ "new_conversation_id": id, "trigger": "clear" });
                self.out.passing("conversation_reset", members);
                self.tell_result(&Outcome::local());
                self.out.lifecycle(&prompt, "completed");
            }
            (Local::Compact, Ok(Accepted::Turn { turn })) => {
                self.queued.push_back((turn, prompt));
            }
            (Local::Compact, Ok(_)) => return Err(unexpected()),
        }
        Ok(())
    }
}
