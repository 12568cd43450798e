//! Starting Codex for a session: the process, the introduction, a thread of its own.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use sessiond_engine::between::bad_line;
use sessiond_engine::{AgentError, Emit, Opening};
use sessiond_protocol::{InstructionsMode, McpServer, NameValue, Severity};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::RpcProgram;
use sessiond_wire::rpc::Inbound;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::PROVED;
use super::between::outside;
use super::failure::{Failed, foreign};
use super::incoming::{Incoming, judge};
use super::offers::Offers;
use super::record::Record;
use super::requests::{Requests, SOON};
use super::said::{self, Said, UNWANTED};
use super::thread::{Known, THREAD, Thread};

/// How long Codex has to make or take up a thread; it may connect MCP servers and read a long one.
const THREAD_LIMIT: Duration = Duration::from_secs(120);

/// Turns of a thread that are read with one request.
const PAGE: u32 = 50;

/// How often a thread is asked for that another process still holds, and the pause between two: one
/// that was killed a moment ago may not have ended yet.
const HELD: (u32, Duration) = (20, Duration::from_millis(150));

/// What Codex says of a thread that another process holds.
const ACTIVE_WRITER: &str = "already has an active writer";

/// A Codex that runs, with a thread of its own for our session.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) program: RpcProgram,
    pub(super) incoming: mpsc::Receiver<Incoming>,
    /// Its version, where it says.
    pub(super) version: Option<String>,
    pub(super) thread: Arc<Thread>,
    /// What the thread holds of the conversation; none where it is new.
    pub(super) record: Option<Record>,
    /// What the user should know.
    pub(super) notices: Vec<Emit>,
    models: Value,
    setup: Value,
}

/// What may be wrong besides, in the words of an error.
const LOGIN: &str = ", and log in with `codex login` where it wants that";

struct Starting<'a> {
    command: &'a AgentCommand,
    program: RpcProgram,
    requests: Requests,
    incoming: mpsc::Receiver<Incoming>,
    notices: Vec<Emit>,
}

/// Starts Codex for a session.
///
/// # Errors
/// [`AgentError`]: unavailable, with what happened and what to do.
pub(super) async fn start(
    command: &AgentCommand,
    opening: &Opening,
) -> Result<Started, AgentError> {
    let opened = RpcProgram::open(command, &opening.cwd, judge);
    let (program, incoming) = opened.map_err(|why| AgentError::not_run(&command.name, &why))?;
    let mut starting = Starting {
        command,
        requests: Requests::new(program.peer.clone()),
        program,
        incoming,
        notices: Vec::new(),
    };
    let version = starting.introduce().await?;
    let models = starting.models().await?;
    let setup = starting.setup(opening);
    let taken_up = match opening.native.get(THREAD) {
        Some(id) => starting.take_up(id, &setup).await?,
        None => None,
    };
    let (opened, record) = match taken_up {
        Some((opened, record)) => (opened, Some(record)),
        None => (starting.make(&setup).await?, None),
    };
    let thread = starting.thread(opening, &models, &opened);
    let Starting {
        program,
        incoming,
        notices,
        ..
    } = starting;
    Ok(Started {
        program,
        incoming,
        version,
        thread: Arc::new(thread),
        record,
        notices,
        models,
        setup,
    })
}

impl Started {
    /// Leaves the thread that Codex had, and makes a new one.
    ///
    /// # Errors
    /// As [`start`].
    pub(super) async fn anew(
        self,
        command: &AgentCommand,
        opening: &Opening,
    ) -> Result<Self, AgentError> {
        let mut starting = Starting {
            command,
            requests: Requests::new(self.program.peer.clone()),
            program: self.program,
            incoming: self.incoming,
            notices: self.notices,
        };
        let opened = starting.make(&self.setup).await?;
        let thread = starting.thread(opening, &self.models, &opened);
        Ok(Self {
            program: starting.program,
            incoming: starting.incoming,
            thread: Arc::new(thread),
            record: None,
            notices: starting.notices,
            ..self
        })
    }

    /// Puts items into the thread.
    ///
    /// # Errors
    /// The inner one: Codex refused them. [`AgentError`]: it ended.
    pub(super) async fn inject(
        &mut self,
        command: &AgentCommand,
        items: &[Value],
    ) -> Result<Result<(), Failed>, AgentError> {
        let params = json!({ "threadId": self.thread.id, "items": items });
        let requests = self.thread.requests.clone();
        let mut call = pin!(requests.call("thread/inject_items", &params, THREAD_LIMIT));
        loop {
            let incoming = tokio::select! {
                biased;
                answer = &mut call => return Ok(answer.map(|_| ())),
                incoming = self.incoming.recv() => incoming,
            };
            match incoming {
                Some(Incoming::Message(message, _weight)) => {
                    hear(&requests, message, &mut self.notices);
                }
                Some(Incoming::Bad) => self.notices.push(bad_line(&command.name)),
                Some(Incoming::End(_)) | None => return Ok(Err(Failed::Gone)),
            }
        }
    }
}

impl Starting<'_> {
    async fn introduce(&mut self) -> Result<Option<String>, AgentError> {
        let params = json!({
            "clientInfo": {
                "name": "sessiond", "title": "sessiond", "version": env!("CARGO_PKG_VERSION"),
            },
            // Items are put into threads, and settings are told, by methods of this kind.
            "capabilities": { "experimentalApi": true, "optOutNotificationMethods": UNWANTED },
        });
        let answer = self.must("initialize", &params, SOON).await?;
        if self.program.peer.notify("initialized", &json!({})).is_err() {
            tracing::error!("a notification could not be written as JSON");
        }
        let version = answer["userAgent"].as_str().and_then(version);
        if let Some(version) = version.filter(|version| *version != PROVED) {
            let agent = &self.command.name;
            let title = format!(
                "{agent} is Codex {version}; this version of sessiond was proved with {PROVED}"
            );
            self.notices.push(Emit::Notice(Severity::Info, title));
        }
        Ok(version.map(str::to_owned))
    }

    /// The models that can be chosen; a Codex that does not list them offers no choice.
    async fn models(&mut self) -> Result<Value, AgentError> {
        let params = json!({ "limit": 100 });
        let answer = self.call("model/list", &params, SOON).await?;
        Ok(answer.unwrap_or_default())
    }

    /// Takes up the thread that the session had; none where Codex has it no more.
    async fn take_up(
        &mut self,
        id: &str,
        setup: &Value,
    ) -> Result<Option<(Value, Record)>, AgentError> {
        let mut params = setup.clone();
        params["threadId"] = json!(id);
        params["excludeTurns"] = json!(true);
        let (attempts, pause) = HELD;
        for attempt in 1..=attempts {
            match self.call("thread/resume", &params, THREAD_LIMIT).await? {
                Ok(opened) => {
                    return Ok(match self.record(id).await? {
                        Ok(record) => Some((opened, record)),
                        Err(error) => self.begins_anew(&error),
                    });
                }
                Err(Failed::Refused(error))
                    if error.message().contains(ACTIVE_WRITER) && attempt < attempts =>
                {
                    sleep(pause).await;
                }
                Err(error) => return Ok(self.begins_anew(&error)),
            }
        }
        Ok(None)
    }

    fn begins_anew(&mut self, error: &Failed) -> Option<(Value, Record)> {
        let agent = &self.command.name;
        let title = format!(
            "{agent} could not take up its own thread of this session ({error}); it begins anew \
             with what the log holds"
        );
        self.notices.push(Emit::Notice(Severity::Warning, title));
        None
    }

    /// What the thread holds.
    async fn record(&mut self, id: &str) -> Result<Result<Record, Failed>, AgentError> {
        let mut record = Record::default();
        let mut params = json!({
            "threadId": id, "itemsView": "full", "sortDirection": "asc", "limit": PAGE,
        });
        loop {
            let page = match self
                .call("thread/turns/list", &params, THREAD_LIMIT)
                .await?
            {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            record.take(&page);
            match page.get("nextCursor").filter(|cursor| cursor.is_string()) {
                Some(cursor) => params["cursor"] = cursor.clone(),
                None => return Ok(Ok(record)),
            }
        }
    }

    async fn make(&mut self, setup: &Value) -> Result<Value, AgentError> {
        self.must("thread/start", setup, THREAD_LIMIT).await
    }

    fn thread(&self, opening: &Opening, models: &Value, opened: &Value) -> Thread {
        let id = opened["thread"]["id"].as_str().unwrap_or_default();
        let offers = Offers::read(models, opened, &opening.setup.roots);
        Thread {
            agent: self.command.name.clone(),
            id: id.to_owned(),
            requests: self.requests.clone(),
            over: self.program.over(),
            updates: opening.updates.clone(),
            known: Known {
                offers: Mutex::new(offers),
                ..Known::default()
            },
        }
    }

    /// The params that start and resume have in common. What Codex does not take is named in a
    /// notice. What the user's own configuration of Codex says is left to it.
    fn setup(&mut self, opening: &Opening) -> Value {
        let given = &opening.setup;
        let mut config = Map::new();
        let mut left = Vec::new();
        let servers = opening.servers();
        for server in &servers {
            match table(server) {
                Some(table) => {
                    config.insert(format!("mcp_servers.{}", server.name()), table);
                }
                None => left.push(server.name()),
            }
        }
        if !left.is_empty() {
            let agent = &self.command.name;
            let title = format!(
                "{agent} does not take these MCP servers: {}",
                left.join(", ")
            );
            self.notices.push(Emit::Notice(Severity::Warning, title));
        }
        if !given.roots.is_empty() {
            let roots = "sandbox_workspace_write.writable_roots".to_owned();
            config.insert(roots, json!(given.roots));
        }
        let mut setup = json!({ "cwd": opening.cwd.display().to_string() });
        if !config.is_empty() {
            setup["config"] = config.into();
        }
        if let Some(given) = &given.instructions {
            let member = match given.mode {
                InstructionsMode::Append => "developerInstructions",
                InstructionsMode::Override => "baseInstructions",
            };
            setup[member] = json!(given.text);
        }
        setup
    }

    /// Asks Codex what it must answer.
    ///
    /// # Errors
    /// [`AgentError`]: unavailable.
    async fn must(
        &mut self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, AgentError> {
        match self.call(method, params, limit).await? {
            Ok(answer) => Ok(answer),
            Err(Failed::Refused(error)) => {
                let why = format!("it refused {method}: {}", error.message());
                Err(self.unavailable(&why).await.with_foreign(foreign(&error)))
            }
            Err(failed) => Err(self.unavailable(&format!("{method}: {failed}")).await),
        }
    }

    /// Asks Codex. The inner error is its own.
    ///
    /// # Errors
    /// [`AgentError`]: unavailable, where it ended.
    async fn call(
        &mut self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Result<Value, Failed>, AgentError> {
        let requests = self.requests.clone();
        let mut call = pin!(requests.call(method, params, limit));
        loop {
            let incoming = tokio::select! {
                biased;
                answer = &mut call => return Ok(answer),
                incoming = self.incoming.recv() => incoming,
            };
            match incoming {
                Some(Incoming::Message(message, _weight)) => {
                    hear(&requests, message, &mut self.notices);
                }
                Some(Incoming::Bad) => self.notices.push(bad_line(&self.command.name)),
                Some(Incoming::End(how)) => {
                    return Err(self.unavailable(&format!("it {how}")).await);
                }
                None => return Err(self.unavailable("it ended").await),
            }
        }
    }

    async fn unavailable(&mut self, why: &str) -> AgentError {
        let complaints = self.program.complaints().await;
        AgentError::not_started(self.command, why, (LOGIN, complaints))
    }
}

/// Takes in a message while nobody has the thread yet.
fn hear(requests: &Requests, message: Inbound, notices: &mut Vec<Emit>) {
    match message {
        Inbound::Response { id, result } => requests.peer.accept(&id, result),
        Inbound::Notification { method, params } => {
            // Of a thread that is not known yet only warnings count.
            if let Said::Notice(severity, title) = said::read("", &method, params.as_deref()) {
                notices.push(Emit::Notice(severity, title));
            }
        }
        Inbound::Request { id, method, params } => {
            outside(&requests.peer, &id, (&method, params.as_deref()));
        }
        Inbound::Invalid { .. } | Inbound::Ignore => {}
    }
}

/// Codex's version, as its user agent names it.
fn version(user_agent: &str) -> Option<&str> {
    let (_, rest) = user_agent.split_once('/')?;
    rest.split(' ').next().filter(|version| !version.is_empty())
}

/// A server as Codex's configuration has it; none where Codex cannot connect it.
fn table(server: &McpServer) -> Option<Value> {
    let pairs = |pairs: &[NameValue]| -> Value {
        let pairs = pairs.iter();
        let pairs = pairs.map(|pair| (pair.name.clone(), json!(pair.value)));
        Value::Object(pairs.collect())
    };
    match server {
        McpServer::Stdio {
            command, args, env, ..
        } => Some(json!({ "command": command, "args": args, "env": pairs(env) })),
        McpServer::Http { url, headers, .. } => {
            Some(json!({ "url": url, "http_headers": pairs(headers) }))
        }
        McpServer::Sse { .. } | McpServer::Client { .. } => None,
    }
}

#[cfg(test)]
mod tests;
