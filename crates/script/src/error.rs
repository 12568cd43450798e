//! Errors: why a tool call did not do what it was for.

use std::io;

use sessiond_engine::TurnOver;
use sessiond_mcp::McpError;
use sessiond_protocol::ToolStatus;

/// Why a tool call ended without its result. The text is the call's content, for the owner of the
/// session; the code is part of its structured output.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// The engine takes nothing more: nobody is left to be told how the call ended.
    #[error(transparent)]
    Over(#[from] TurnOver),
    /// The turn is being cancelled.
    #[error("Not run: the turn was cancelled.")]
    Cancelled,
    /// The user, the mode or a grant said no.
    #[error("Not run: permission was rejected.")]
    Rejected,
    /// The user said no, and why.
    #[error("Not run: {reason}")]
    Refused { reason: String },
    /// The client could not do its part; the words are the client's.
    #[error("{message}")]
    Client { message: String },
    /// The client would not do its part, though the turn goes on.
    #[error("The client dismissed the request.")]
    Dismissed,
    /// The client answered something else than was asked.
    #[error("The client's answer does not fit what it was asked.")]
    Misfit,
    /// The file system refused.
    #[error("Could not {verb} {path}: {reason}.")]
    File {
        verb: &'static str,
        path: String,
        reason: io::Error,
    },
    /// A directory, a device, a pipe: opening it could block for ever.
    #[error("{path} is not a regular file.")]
    NotRegular { path: String },
    /// More than an edit takes.
    #[error("{path} has more than {limit} bytes.")]
    TooLong { path: String, limit: u64 },
    /// Not UTF-8.
    #[error("{path} is not UTF-8 text.")]
    NotText { path: String },
    /// The text to replace is not there.
    #[error("Not edited: {path} does not hold the text to replace.")]
    Absent { path: String },
    /// The command did not start.
    #[error("Could not start the command: {reason}.")]
    NotStarted { reason: String },
    /// The command started, and nobody knows what became of it (RESUME-6).
    #[error("What became of the command is unknown: {reason}.")]
    Lost { reason: String },
    /// The input that a hook or the user gave is none of the tool.
    #[error("Not run: the changed input has no text \"{member}\".")]
    BadInput { member: &'static str },
    /// No such MCP server.
    #[error("There is no MCP server \"{server}\" in this session.")]
    NoServer { server: String },
    /// An MCP server did not do its part.
    #[error("The MCP server \"{server}\" failed: {reason}.")]
    Server { server: String, reason: String },
}

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        match error {
            McpError::NoServer { server } => ToolError::NoServer { server },
            McpError::Failed { server, reason } => ToolError::Server { server, reason },
        }
    }
}

impl ToolError {
    /// A stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            ToolError::Over(_) => "turn_over",
            ToolError::Cancelled => "cancelled",
            ToolError::Rejected | ToolError::Refused { .. } => "permission_rejected",
            ToolError::Client { .. } => "client_failed",
            ToolError::Dismissed => "client_dismissed",
            ToolError::Misfit => "client_answer_misfit",
            ToolError::File { .. } => "file_error",
            ToolError::NotRegular { .. } => "not_a_regular_file",
            ToolError::TooLong { .. } => "file_too_long",
            ToolError::NotText { .. } => "not_text",
            ToolError::Absent { .. } => "text_not_found",
            ToolError::NotStarted { .. } => "not_started",
            ToolError::Lost { .. } => "outcome_unknown",
            ToolError::BadInput { .. } => "bad_input",
            ToolError::NoServer { .. } => "no_such_server",
            ToolError::Server { .. } => "server_failed",
        }
    }

    /// The status that its call ends with.
    pub(crate) fn status(&self) -> ToolStatus {
        match self {
            ToolError::Cancelled => ToolStatus::Cancelled,
            ToolError::Lost { .. } => ToolStatus::Unknown,
            _ => ToolStatus::Failed,
        }
    }
}
