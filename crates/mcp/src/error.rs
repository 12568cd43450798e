//! Errors: why a server did not do its part.

/// Why a server did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The session has no such server, or none that can be reached from here.
    #[error("there is no MCP server \"{server}\" in this session")]
    NoServer {
        /// Its name.
        server: String,
    },
    /// It could not be started, went away, or refused.
    #[error("the MCP server \"{server}\" failed: {reason}")]
    Failed {
        /// Its name.
        server: String,
        /// What it said, or the system did.
        reason: String,
    },
}

impl McpError {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            McpError::NoServer { .. } => "no_such_server",
            McpError::Failed { .. } => "server_failed",
        }
    }

    pub(crate) fn failed(server: &str, reason: impl ToString) -> Self {
        McpError::Failed {
            server: server.to_owned(),
            reason: reason.to_string(),
        }
    }
}
