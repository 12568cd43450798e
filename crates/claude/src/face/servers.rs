//! MCP servers: those of the command line, which the agent runs or reaches itself, and those that
//! live in the program, reached through it by `mcp_message`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use sessiond_protocol::{McpServer, NameValue, RequestFrame, WireError};

use super::open::Asked;
use super::serve::{Face, Input};
use crate::control;

/// The version of MCP that servers are greeted with.
const MCP_VERSION: &str = "2025-06-18";

/// The servers of a session.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Those that the agent runs or reaches itself.
    given: Vec<McpServer>,
    /// Those that live in the program, by name.
    living: BTreeMap<String, Living>,
    /// Numbers of messages to them.
    count: u64,
}

/// A server that lives in the program.
#[derive(Debug, Default)]
struct Living {
    standing: Standing,
    info: Value,
    tools: Vec<Value>,
    /// What is asked of it before it is ready.
    waiting: Vec<RequestFrame>,
}

/// How far a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Standing {
    /// It was not greeted yet.
    #[default]
    Unmet,
    /// It was greeted and has not answered all.
    Greeted,
    Ready,
    Failed,
}

impl Servers {
    /// Takes up a configuration: JSON, or the path of a file with it. Gives what is wrong with it.
    pub(super) fn configure(&mut self, config: &str, cwd: &Path) -> Option<String> {
        let read = match config.trim_start().starts_with('{') {
            true => Ok(config.to_owned()),
            // The user's own file, named on the command line.
            false => std::fs::read_to_string(cwd.join(config)),
        };
        let Ok(text) = read else {
            return Some("--mcp-config names a file that cannot be read".to_owned());
        };
        let Ok(config) = serde_json::from_str::<Value>(&text) else {
            return Some("--mcp-config is not JSON".to_owned());
        };
        let servers = config.get("mcpServers").and_then(Value::as_object);
        let mut unknown = Vec::new();
        for (name, server) in servers.into_iter().flatten() {
            match server.get("type").and_then(Value::as_str) {
                Some("sdk") => self.live(name),
                kind => match given(name, kind, server, cwd) {
                    Some(server) => self.given.push(server),
                    None => unknown.push(name.as_str()),
                },
            }
        }
        (!unknown.is_empty()).then(|| {
            format!(
                "MCP servers of an unknown form are left out: {}",
                unknown.join(", ")
            )
        })
    }

    /// A server that lives in the program.
    pub(super) fn live(&mut self, name: &str) {
        self.living.entry(name.to_owned()).or_default();
    }

    /// All of them, for the agent.
    pub(super) fn for_agent(&self) -> Vec<McpServer> {
        let living = self.living.iter().map(|(name, server)| McpServer::Client {
            name: name.clone(),
            tools: server.tools.clone(),
        });
        self.given.iter().cloned().chain(living).collect()
    }

    /// Those of the command line that do not live in the program.
    pub(super) fn given(&self) -> &[McpServer] {
        &self.given
    }

    /// Whether one of this name is among those.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|server| server.name() == name)
    }

    /// Whether a server of this name lives in the program.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.living.contains_key(name)
    }

    /// Whether any lives in the program.
    pub(super) fn any_living(&self) -> bool {
        !self.living.is_empty()
    }

    /// Whether all that live in the program have answered, or failed to.
    pub(super) fn are_met(&self) -> bool {
        let mut living = self.living.values();
        living.all(|it| matches!(it.standing, Standing::Ready | Standing::Failed))
    }

    /// Keeps a request for a server that is being greeted; it is asked once that is ready.
    pub(super) fn holds_back(&mut self, name: &str, request: &RequestFrame) -> bool {
        match self.living.get_mut(name) {
            Some(server) if server.standing == Standing::Greeted => {
                server.waiting.push(request.clone());
                true
            }
            _ => false,
        }
    }

    /// What waits for servers that will never be ready.
    pub(super) fn give_up(&mut self) -> Vec<RequestFrame> {
        let living = self.living.values_mut();
        living
            .flat_map(|it| std::mem::take(&mut it.waiting))
            .collect()
    }

    /// The number of the next message.
    pub(super) fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// The names of tools, as calls of them are named.
    pub(super) fn tools(&self) -> Vec<String> {
        let of_server = |(server, living): (&String, &Living)| {
            let name = |tool: &Value| {
                tool.get("name")?
                    .as_str()
                    .map(|it| format!("mcp__{server}__{it}"))
            };
            living.tools.iter().filter_map(name).collect::<Vec<_>>()
        };
        self.living.iter().flat_map(of_server).collect()
    }

    /// How the servers stand; `all` of it, or name and status alone.
    pub(super) fn statuses(&self, detail: Detail) -> Vec<Value> {
        let living = self.living.iter().map(|(name, server)| {
            let status = match server.standing {
                Standing::Ready => "connected",
                Standing::Failed => "failed",
                Standing::Unmet | Standing::Greeted => "pending",
            };
            let mut shown = json!({ "name": name, "status": status });
            if let (Detail::All, Some(shown)) = (detail, shown.as_object_mut()) {
                shown.insert("serverInfo".to_owned(), server.info.clone());
                shown.insert("tools".to_owned(), server.tools.clone().into());
                shown.insert("scope".to_owned(), "sdk".into());
            }
            shown
        });
        // What the agent does with those that it was given is not known here.
        let given = self.given.iter();
        let given = given.map(|server| json!({ "name": server.name(), "status": "pending" }));
        living.chain(given).collect()
    }
}

/// How much of a server is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Status,
    All,
}

impl Face {
    /// Greets the servers that were not met. The Python SDK answers nothing else before that.
    pub(super) fn greet_servers(&mut self) {
        let unmet = self.servers.living.iter_mut();
        let unmet = unmet.filter(|(_, server)| server.standing == Standing::Unmet);
        let names: Vec<String> = unmet
            .map(|(name, server)| {
                server.standing = Standing::Greeted;
                name.clone()
            })
            .collect();
        for name in names {
            let params = json!({ "protocolVersion": MCP_VERSION, "capabilities": {},
                "clientInfo": { "name": "sessiond", "version": env!("CARGO_PKG_VERSION") } });
            let asked = Asked::Greeting(name.clone());
            self.ask_mcp(&name, ("initialize", &params), asked);
        }
    }

    /// A server has answered the greeting.
    pub(super) async fn greeted(
        &mut self,
        name: &str,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        let result = answer
            .ok()
            .and_then(|it| it.pointer("/mcp_response/result").cloned());
        let Some(result) = result else {
            return self.met(name, Standing::Failed).await;
        };
        if let Some(server) = self.servers.living.get_mut(name) {
            server.info = result.get("serverInfo").cloned().unwrap_or_default();
        }
        let id = self.asks.open(Asked::Told);
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let told = json!({ "subtype": "mcp_message", "server_name": name, "message": message });
        self.out.control(control::request(&id, told));
        let asked = Asked::Listing(name.to_owned());
        self.ask_mcp(name, ("tools/list", &json!({})), asked);
        Ok(())
    }

    /// A server has listed its tools. One without a list has none that are known; calls reach it.
    pub(super) async fn listed(
        &mut self,
        name: &str,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        let tools = answer.ok();
        let tools = tools
            .as_ref()
            .and_then(|it| it.pointer("/mcp_response/result/tools"));
        if let Some(server) = self.servers.living.get_mut(name) {
            server.tools = tools.and_then(Value::as_array).cloned().unwrap_or_default();
        }
        self.met(name, Standing::Ready).await
    }

    async fn met(&mut self, name: &str, standing: Standing) -> Result<(), WireError> {
        let Some(server) = self.servers.living.get_mut(name) else {
            return Ok(());
        };
        server.standing = standing;
        for request in std::mem::take(&mut server.waiting) {
            self.asked_server_again(request).await?;
        }
        if self.servers.are_met() {
            self.submit_prompts().await?;
        }
        Ok(())
    }

    async fn asked_server_again(&mut self, request: RequestFrame) -> Result<(), WireError> {
        Box::pin(self.asked(request)).await
    }

    /// Whether prompts wait for servers to be met.
    pub(super) fn waits_for_servers(&self) -> bool {
        self.input == Input::Open && !self.servers.are_met()
    }
}

/// A server of the command line that the agent runs or reaches itself.
fn given(name: &str, kind: Option<&str>, server: &Value, cwd: &Path) -> Option<McpServer> {
    let name = name.to_owned();
    let text = |member: &str| server.get(member)?.as_str().map(str::to_owned);
    let pairs = |member: &str| pairs(server.get(member).and_then(Value::as_object));
    match kind {
        None | Some("stdio") => Some(McpServer::Stdio {
            name,
            command: program(&text("command")?, cwd),
            args: server
                .get("args")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|arg| arg.as_str().map(str::to_owned))
                .collect(),
            env: pairs("env"),
        }),
        Some("http") => Some(McpServer::Http {
            name,
            url: text("url")?,
            headers: pairs("headers"),
        }),
        Some("sse") => Some(McpServer::Sse {
            name,
            url: text("url")?,
            headers: pairs("headers"),
        }),
        Some(_) => None,
    }
}

/// A program as the waist wants it: absolute. One that is not found stays as it is named, and the
/// agent says so when it starts it.
fn program(command: &str, cwd: &Path) -> String {
    let found = match command.contains('/') {
        true => Some(cwd.join(command)),
        false => std::env::var_os("PATH").and_then(|path| {
            let places = std::env::split_paths(&path).map(|place| place.join(command));
            places.into_iter().find(|place| place.is_file())
        }),
    };
    let found = found.and_then(|path| path.into_os_string().into_string().ok());
    found.unwrap_or_else(|| command.to_owned())
}

fn pairs(object: Option<&Map<String, Value>>) -> Vec<NameValue> {
    let pair = |(name, value): (&String, &Value)| {
        let (name, value) = (name.clone(), value.as_str()?.to_owned());
        Some(NameValue { name, value })
    };
    object.into_iter().flatten().filter_map(pair).collect()
}
