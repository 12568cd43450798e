//! Hooks: points of a turn at which the controlling client may have a say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Content, Stop, ToolCall};

/// A point of a turn, with what is about to happen there or has happened. A client that does not
/// answer hooks has no opinion, and so has one that does not answer in time
/// ([`crate::limits::HOOK_SECONDS`]), that cannot, or that goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "point", rename_all = "snake_case")]
pub enum Hook {
    /// Before the agent gets a prompt. `denied` ends the turn as failed, with the reason; `changed`
    /// gives the agent other input, a list of content.
    Prompt {
        /// What the user says.
        input: Vec<Content>,
    },
    /// Before a tool call runs, and before the user is asked about it. `denied` ends the call as
    /// failed, and it does not run; `changed` gives it another input, as the tool takes it.
    BeforeTool {
        /// The call, as it was announced.
        call: Box<ToolCall>,
    },
    /// After a tool call. What it did is done; the reason of `denied` is given to the agent as more
    /// input.
    AfterTool {
        /// The call with its result.
        call: Box<ToolCall>,
    },
    /// Before the turn ends well. `denied` has the agent go on with the reason as its input, at most
    /// [`crate::limits::CONTINUATIONS`] times a turn.
    Stop {
        /// Why the agent stopped.
        stop: Stop,
        /// How often the turn was made to go on.
        continued: u32,
    },
}
