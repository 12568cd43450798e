//! Steps: what a script does, one after the other.

use std::time::Duration;

use serde_json::{Map, Value};

/// One thing to do. Paths are as the script gave them: absolute, or relative to the session's cwd.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Say a text back, word by word.
    Echo(String),
    /// Say a text in one piece.
    Say(String),
    /// Say a number of pieces of one size.
    Stream(Pieces),
    /// Think a text.
    Think(String),
    /// Wait.
    Sleep(Duration),
    /// Show a file.
    Read { path: String },
    /// Make a file hold a text.
    Write { path: String, text: String },
    /// Replace the first occurrence of a text in a file.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Run a command in the shell.
    Run { command: String },
    /// Ask the user.
    Ask { question: String },
    /// Show a plan.
    Plan(Vec<String>),
    /// Call a tool of an MCP server.
    Mcp {
        server: String,
        tool: String,
        arguments: Map<String, Value>,
    },
    /// Tell context and cost.
    Usage,
    /// Fail the turn.
    Fail(String),
    /// Refuse the turn.
    Refuse,
    /// Name the session.
    Title(String),
    /// Do one step several times.
    Repeat { times: u32, step: Box<Step> },
}

/// What `/stream` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// How many.
    pub(crate) count: usize,
    /// How long each is, in bytes.
    pub(crate) bytes: usize,
    /// How long to wait after each but the last.
    pub(crate) delay: Duration,
}
