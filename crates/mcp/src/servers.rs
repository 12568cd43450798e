//! The MCP servers that a session was given: started when they are first called, kept while
//! the session is open, and gone with it. What a server is given is given to no other (SEC-2).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::{RunningService, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use sessiond_protocol::{McpServer, NameValue};
use sessiond_wire::process::{
    ErrorOutput, GuardedCommand, Input, Output, Supervised, SupervisorExe,
};

use crate::error::McpError;

/// How long a server may take to start and to say what it is. Beyond that somebody wants to know.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Most bytes of one event or answer of a server that is reached over HTTP: as long as one of our own
/// frames may be.
const ANSWER_BYTES: usize = sessiond_protocol::limits::FRAME_BYTES;

/// The servers of one session.
#[derive(Debug)]
pub struct Servers {
    given: Vec<McpServer>,
    cwd: PathBuf,
    supervisor: SupervisorExe,
    running: HashMap<String, Server>,
}

/// A server that runs.
#[derive(Debug)]
struct Server {
    service: RunningService<RoleClient, ()>,
    /// Its process, if it is one; dropping it ends the whole tree. Nobody locks it: it only has to go
    /// where the agent goes.
    _process: Option<Mutex<Supervised>>,
}

impl Servers {
    /// Those that a session was given; none runs yet.
    #[must_use]
    pub fn new(given: Vec<McpServer>, cwd: &Path, supervisor: &SupervisorExe) -> Self {
        Self {
            given,
            cwd: cwd.to_owned(),
            supervisor: supervisor.clone(),
            running: HashMap::new(),
        }
    }

    /// Whether a server of this name is ours to call, and not the client's.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Calls a tool; its result as MCP has it. A wait that is dropped ends the server: what it does
    /// with a call that nobody waits for is not known.
    ///
    /// # Errors
    /// [`McpError::Failed`] where it cannot be started, went away, or knows no such tool.
    pub async fn call(
        &mut self,
        name: &str,
        tool: String,
        arguments: Option<JsonObject>,
    ) -> Result<Value, McpError> {
        let server = match self.running.remove(name).filter(Server::is_there) {
            Some(server) => server,
            None => self.start(name).await?,
        };
        let mut params = CallToolRequestParams::new(tool);
        params.arguments = arguments;
        let called = server.service.call_tool(params).await;
        if server.is_there() {
            self.running.insert(name.to_owned(), server);
        }
        let result = called.map_err(|error| McpError::failed(name, error))?;
        serde_json::to_value(result).map_err(|error| McpError::failed(name, error))
    }

    fn find(&self, name: &str) -> Option<&McpServer> {
        let ours = |server: &&McpServer| {
            server.name() == name && !matches!(server, McpServer::Client { .. })
        };
        self.given.iter().find(ours)
    }

    async fn start(&self, name: &str) -> Result<Server, McpError> {
        let absent = || McpError::NoServer {
            server: name.to_owned(),
        };
        let given = self.find(name).ok_or_else(absent)?;
        let started = async {
            match given {
                McpServer::Stdio {
                    command, args, env, ..
                } => self.start_program(name, command, (args, env)).await,
                McpServer::Http { url, headers, .. } => reach(name, url, headers).await,
                McpServer::Sse { .. } | McpServer::Client { .. } => Err(absent()),
            }
        };
        let started = tokio::time::timeout(START_LIMIT, started).await;
        started.unwrap_or_else(|_| Err(McpError::failed(name, "it did not answer in time")))
    }

    async fn start_program(
        &self,
        name: &str,
        command: &str,
        (args, env): (&[String], &[NameValue]),
    ) -> Result<Server, McpError> {
        let pair = |it: &NameValue| (it.name.clone().into(), it.value.clone().into());
        let mut process = Supervised::spawn(GuardedCommand {
            args: args.iter().map(Into::into).collect(),
            cwd: Some(self.cwd.clone()),
            env: env.iter().map(pair).collect(),
            stdin: Input::Piped,
            stdout: Output::Piped,
            stderr: ErrorOutput::Null,
            exe: self.supervisor.clone(),
            ..GuardedCommand::new(command)
        })
        .map_err(|error| McpError::failed(name, error))?;
        let (Some(stdout), Some(stdin)) = (process.stdout.take(), process.stdin.take()) else {
            return Err(McpError::failed(name, "it has no pipes"));
        };
        let service = serve_client((), (stdout, stdin)).await;
        Ok(Server {
            service: service.map_err(|error| McpError::failed(name, error))?,
            _process: Some(Mutex::new(process)),
        })
    }
}

impl Server {
    fn is_there(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }
}

/// A server at an address. No redirect is followed: its headers are for this address alone.
async fn reach(name: &str, url: &str, headers: &[NameValue]) -> Result<Server, McpError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // One that is there already serves as well.
        let _there = rustls::crypto::ring::default_provider().install_default();
    });
    let header = |it: &NameValue| {
        let name = HeaderName::try_from(it.name.as_str()).ok()?;
        Some((name, HeaderValue::try_from(it.value.as_str()).ok()?))
    };
    let headers: Option<HashMap<HeaderName, HeaderValue>> = headers.iter().map(header).collect();
    let headers =
        headers.ok_or_else(|| McpError::failed(name, "one of its headers is malformed"))?;
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| McpError::failed(name, error))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_sse_event_size(ANSWER_BYTES)
        .max_json_response_size(ANSWER_BYTES);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let service = serve_client((), transport).await;
    Ok(Server {
        service: service.map_err(|error| McpError::failed(name, error))?,
        _process: None,
    })
}
