//! What an agent is opened with.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use sessiond_protocol::{McpServer, RequestKind, SessionId, Settings, Setup};

use super::{HistorySource, Updates};

/// What an agent is opened with.
#[derive(Debug)]
pub struct Opening {
    /// The session.
    pub session: SessionId,
    /// Where it works, absolute.
    pub cwd: PathBuf,
    /// What its client gave it to work with. The instructions are those in force.
    pub setup: Setup,
    /// The mode and the options in force.
    pub settings: Settings,
    /// The newest value that the agent recorded of its own ([`Marker::Native`]), by name.
    pub native: BTreeMap<String, String>,
    /// The kinds of request that the controlling client answers.
    pub answers: Vec<RequestKind>,
    /// For what the agent has to say between turns.
    pub updates: Updates,
    /// How it reaches servers that live in the client, where it connects servers itself.
    pub endpoint: Option<Endpoint>,
    /// The conversation so far.
    pub history: HistorySource,
}

impl Opening {
    /// The MCP servers, for an agent that connects them itself: one that lives in the client is a
    /// program that stands for it, where there is one, the client answers, and said what it offers.
    /// Otherwise it is what it was, and the agent has to do without it.
    #[must_use]
    pub fn servers<'a>(&'a self) -> Vec<Cow<'a, McpServer>> {
        let answered = self.answers.contains(&RequestKind::Mcp);
        let endpoint = self.endpoint.as_ref().filter(|_| answered);
        let server = |server: &'a McpServer| match (server, endpoint) {
            (McpServer::Client { name, tools }, Some(endpoint)) if !tools.is_empty() => {
                Cow::Owned(endpoint.server(self.session, name))
            }
            (server, _) => Cow::Borrowed(server),
        };
        self.setup.mcp_servers.iter().map(server).collect()
    }
}

/// The program that stands for a server of a client, and where it finds its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The program, absolute.
    pub program: String,
    /// The word that begins its arguments; the socket, the session and the server follow.
    pub command: String,
    /// The socket at which this process takes clients.
    pub socket: String,
}

impl Endpoint {
    fn server(&self, session: SessionId, name: &str) -> McpServer {
        McpServer::Stdio {
            name: name.to_owned(),
            command: self.program.clone(),
            args: vec![
                self.command.clone(),
                self.socket.clone(),
                session.to_string(),
                name.to_owned(),
            ],
            env: Vec::new(),
        }
    }
}
