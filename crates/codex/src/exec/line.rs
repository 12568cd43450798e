//! The lines of `codex exec --json`.

use serde::Serialize;
use serde_json::Value;
use sessiond_protocol::{Content, SessionId};

use crate::change::ChangeKind;
use crate::tokens::Tokens;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
pub(super) enum Line {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: SessionId },
    #[serde(rename = "turn.started")]
    TurnStarted {},
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.updated")]
    ItemUpdated { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "turn.completed")]
    TurnCompleted { usage: Used },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Message },
    #[serde(rename = "error")]
    Error { message: String },
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Message {
    pub(super) message: String,
}

/// What the thread has used in all its turns: Codex does not count the turn alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Used {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl From<Tokens> for Used {
    fn from(tokens: Tokens) -> Self {
        Self {
            input_tokens: tokens.input,
            cached_input_tokens: tokens.cached,
            cache_write_input_tokens: tokens.cache_write,
            output_tokens: tokens.output,
            reasoning_output_tokens: tokens.reasoning,
        }
    }
}

/// An item. Its id is of this process alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Item {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) detail: Detail,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Detail {
    AgentMessage {
        text: String,
    },
    Reasoning {
        text: String,
    },
    CommandExecution {
        command: String,
        aggregated_output: String,
        exit_code: Option<i32>,
        status: Status,
    },
    FileChange {
        changes: Vec<Changed>,
        status: Status,
    },
    McpToolCall {
        server: String,
        tool: String,
        arguments: Value,
        result: Option<Answer>,
        error: Option<Message>,
        status: Status,
    },
    TodoList {
        items: Vec<Todo>,
    },
    Error {
        message: String,
    },
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) kind: ChangeKind,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Answer {
    pub(super) content: Vec<Content>,
    pub(super) structured_content: Value,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Todo {
    pub(super) text: String,
    pub(super) completed: bool,
}
