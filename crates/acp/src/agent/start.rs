//! Starting an agent for a session: the process, the introduction, a session of its own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_engine::between::bad_line;
use sessiond_engine::{AgentError, Emit, Opening};
use sessiond_protocol::{InstructionsMode, McpServer, NameValue, Severity};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::RpcProgram;
use sessiond_wire::rpc::{CallError, Inbound};
use tokio::sync::mpsc;

use super::asks;
use super::failure::{AUTH_REQUIRED, foreign};
use super::incoming::{Incoming, judge};
use super::introduction::{self, Introduction};
use super::native::{Native, SESSION};
use super::offers::Offers;
use super::replay::Replay;
use super::update::{self, Update};

/// How long the agent has for its introduction: a runner that downloads it first is not hurried.
const INTRODUCTION_LIMIT: Duration = Duration::from_secs(60);

/// How long it has to make or load a session; it may connect MCP servers and replay a long one.
const SESSION_LIMIT: Duration = Duration::from_secs(120);

/// An agent that runs, with a session of its own for ours.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) program: RpcProgram,
    pub(super) incoming: mpsc::Receiver<Incoming>,
    pub(super) introduction: Introduction,
    pub(super) native: Arc<Native>,
    /// What it knows of the conversation.
    pub(super) memory: Memory,
    /// What the user should know.
    pub(super) notices: Vec<Emit>,
    setup: Setup,
}

/// What an agent knows of the conversation.
#[derive(Debug)]
pub(super) enum Memory {
    /// Nothing: its session is new.
    None,
    /// What it replayed.
    Replayed(Replay),
    /// What it had, which it does not show.
    Kept,
}

/// The params that new, load and resume have in common.
#[derive(Debug, Clone)]
struct Setup {
    cwd: String,
    params: Value,
}

struct Starting<'a> {
    command: &'a AgentCommand,
    program: RpcProgram,
    incoming: mpsc::Receiver<Incoming>,
    notices: Vec<Emit>,
}

/// Starts an agent for a session.
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
        program,
        incoming,
        notices: Vec::new(),
    };
    let introduction = starting.introduce(opening).await?;
    let setup = starting.setup(opening, &introduction);
    let known = opening.native.get(SESSION);
    let taken_up = match known {
        Some(id) => starting.take_up(id, &setup, &introduction).await?,
        None => None,
    };
    let (id, offers, memory) = match taken_up {
        Some(taken_up) => taken_up,
        None => {
            let (id, offers) = starting.make(&setup, &introduction).await?;
            (id, offers, Memory::None)
        }
    };
    let native = starting.native(opening, (id, offers), &setup.cwd);
    let Starting {
        program,
        incoming,
        notices,
        ..
    } = starting;
    Ok(Started {
        program,
        incoming,
        introduction,
        native: Arc::new(native),
        memory,
        notices,
        setup,
    })
}

impl Started {
    /// Leaves the session that the agent had, and makes a new one.
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
            program: self.program,
            incoming: self.incoming,
            notices: self.notices,
        };
        let (id, offers) = starting.make(&self.setup, &self.introduction).await?;
        let native = starting.native(opening, (id, offers), &self.setup.cwd);
        Ok(Self {
            program: starting.program,
            incoming: starting.incoming,
            native: Arc::new(native),
            memory: Memory::None,
            notices: starting.notices,
            ..self
        })
    }
}

impl Starting<'_> {
    async fn introduce(&mut self, opening: &Opening) -> Result<Introduction, AgentError> {
        let params = introduction::params(&opening.answers);
        let mut deaf = |_: &RawValue| {};
        let answer = self
            .call("initialize", &params, INTRODUCTION_LIMIT, &mut deaf)
            .await?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Err(self.refused("initialize", &error, &[]).await),
        };
        match introduction::read(&answer) {
            Ok(introduction) => Ok(introduction),
            Err(why) => Err(self.unavailable(&why).await),
        }
    }

    /// Takes up the session that the agent had; none where it has it no more.
    async fn take_up(
        &mut self,
        id: &str,
        setup: &Setup,
        introduction: &Introduction,
    ) -> Result<Option<(String, Offers, Memory)>, AgentError> {
        let method = if introduction.can_load() {
            "session/load"
        } else if introduction.can_resume() {
            "session/resume"
        } else {
            return Ok(None);
        };
        let mut params = setup.params.clone();
        if let Some(params) = params.as_object_mut() {
            params.insert("sessionId".to_owned(), id.into());
        }
        let (mut replay, mut early) = (Replay::default(), Early::default());
        let mut hear = |update: &RawValue| match update::read(update) {
            Some((session, said)) if session == id => match said {
                said @ (Update::Commands(_) | Update::Mode(_) | Update::Options(_)) => {
                    early.hear(said);
                }
                said => replay.hear(said),
            },
            _ => {}
        };
        let answer = self.call(method, &params, SESSION_LIMIT, &mut hear).await?;
        match answer {
            Ok(answer) => {
                let memory = if introduction.can_load() {
                    Memory::Replayed(replay)
                } else {
                    Memory::Kept
                };
                let offers = early.onto(Offers::read(&answer));
                Ok(Some((id.to_owned(), offers, memory)))
            }
            Err(CallError::Rpc(error)) if error.code() != AUTH_REQUIRED => {
                let agent = &self.command.name;
                let title = format!(
                    "{agent} could not take up its own record of this session (error {}); it \
                     begins anew with what the log holds",
                    error.code()
                );
                self.notices.push(Emit::Notice(Severity::Warning, title));
                Ok(None)
            }
            Err(error) => Err(self.refused(method, &error, &introduction.logins).await),
        }
    }

    async fn make(
        &mut self,
        setup: &Setup,
        introduction: &Introduction,
    ) -> Result<(String, Offers), AgentError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Made {
            session_id: String,
        }
        let mut early = Early::default();
        let mut hear = |update: &RawValue| {
            if let Some((_, said)) = update::read(update) {
                early.hear(said);
            }
        };
        let answer = self
            .call("session/new", &setup.params, SESSION_LIMIT, &mut hear)
            .await?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let refused = self.refused("session/new", &error, &introduction.logins);
                return Err(refused.await);
            }
        };
        let Ok(made) = serde_json::from_str::<Made>(answer.get()) else {
            let why = "its answer to session/new is malformed";
            return Err(self.unavailable(why).await);
        };
        Ok((made.session_id, early.onto(Offers::read(&answer))))
    }

    fn native(&self, opening: &Opening, (id, offers): (String, Offers), cwd: &str) -> Native {
        Native {
            agent: self.command.name.clone(),
            session: opening.session,
            cwd: cwd.to_owned(),
            id,
            peer: self.program.peer.clone(),
            over: self.program.over(),
            updates: opening.updates.clone(),
            offers: Mutex::new(offers),
            context: Mutex::default(),
        }
    }

    /// The params that new, load and resume have in common. What the agent does not take of them is
    /// named in a notice.
    fn setup(&mut self, opening: &Opening, introduction: &Introduction) -> Setup {
        let cwd = opening.cwd.display().to_string();
        let given = &opening.setup;
        let servers = opening.servers();
        let (takes, leaves): (Vec<_>, Vec<_>) = servers
            .iter()
            .partition(|server| introduction.connects(server));
        let servers: Vec<Value> = takes.into_iter().map(|it| server(it)).collect();
        let mut params = json!({ "cwd": cwd, "mcpServers": servers });
        let agent = &self.command.name;
        let mut lacks = |what: String| {
            let title = format!("{agent} does not take {what}");
            self.notices.push(Emit::Notice(Severity::Warning, title));
        };
        if !leaves.is_empty() {
            let names: Vec<&str> = leaves.iter().map(|server| server.name()).collect();
            lacks(format!("these MCP servers: {}", names.join(", ")));
        }
        if let Some(params) = params.as_object_mut() {
            if introduction.takes_roots() {
                params.insert("additionalDirectories".to_owned(), json!(given.roots));
            } else if !given.roots.is_empty() {
                lacks("directories beside the working directory".to_owned());
            }
            if let Some(given) = &given.instructions
                && introduction.takes_instructions(given.mode)
            {
                let mode = match given.mode {
                    InstructionsMode::Append => "append",
                    InstructionsMode::Override => "override",
                };
                let content = json!([{ "type": "text", "text": given.text }]);
                let prompt = json!({ "mode": mode, "content": content });
                params.insert("systemPrompt".to_owned(), prompt);
            }
        }
        Setup { cwd, params }
    }

    /// Calls the agent; `hear` gets its updates meanwhile. The inner error is the agent's refusal.
    ///
    /// # Errors
    /// [`AgentError`]: unavailable, where it ended or does not answer.
    async fn call(
        &mut self,
        method: &str,
        params: &Value,
        limit: Duration,
        hear: &mut (dyn FnMut(&RawValue) + Send),
    ) -> Result<Result<Box<RawValue>, CallError>, AgentError> {
        let mut call = self.program.peer.request(method, params);
        let late = tokio::time::sleep(limit);
        let mut late = std::pin::pin!(late);
        loop {
            let incoming = tokio::select! {
                biased;
                answer = &mut call => return Ok(answer),
                incoming = self.incoming.recv() => incoming,
                () = &mut late => {
                    let seconds = limit.as_secs();
                    let why = format!("it did not answer {method} within {seconds} s");
                    return Err(self.unavailable(&why).await);
                }
            };
            match incoming {
                Some(Incoming::Message(message, _weight)) => self.take(message, hear),
                Some(Incoming::Bad) => self.notices.push(bad_line(&self.command.name)),
                Some(Incoming::End(how)) => {
                    return Err(self.unavailable(&format!("it {how}")).await);
                }
                None => return Err(self.unavailable("it ended").await),
            }
        }
    }

    fn take(&self, message: Inbound, hear: &mut (dyn FnMut(&RawValue) + Send)) {
        let peer = &self.program.peer;
        match message {
            Inbound::Response { id, result } => peer.accept(&id, result),
            Inbound::Notification { method, params } => {
                if let Some(params) = params.filter(|_| method == "session/update") {
                    hear(&params);
                }
            }
            Inbound::Request { id, method, .. } => asks::outside(peer, &id, &method),
            Inbound::Invalid { .. } | Inbound::Ignore => {}
        }
    }

    async fn unavailable(&mut self, why: &str) -> AgentError {
        let complaints = self.program.complaints().await;
        AgentError::not_started(self.command, why, ("", complaints))
    }

    async fn refused(&mut self, method: &str, error: &CallError, logins: &[String]) -> AgentError {
        let CallError::Rpc(error) = error else {
            return self.unavailable(&format!("{method}: {error}")).await;
        };
        if error.code() == AUTH_REQUIRED {
            let AgentCommand { name, .. } = self.command;
            let line = self.command.line();
            let ways = match logins {
                [] => String::new(),
                logins => format!(" It offers: {}.", logins.join(", ")),
            };
            let message = format!(
                "the agent `{name}` wants a login first: run `{line}` or its login command in a \
                 terminal, or set its key in `env` of the configuration.{ways}"
            );
            return AgentError::unavailable(message).with_foreign(foreign(error));
        }
        let why = format!("it refused {method}: {}", error.message());
        self.unavailable(&why).await.with_foreign(foreign(error))
    }
}

/// What an agent says of its offers before it has answered.
#[derive(Debug, Default)]
struct Early {
    said: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Commands(Vec<sessiond_protocol::Command>),
    Mode(String),
    Options(Vec<agent_client_protocol_schema::v1::SessionConfigOption>),
}

impl Early {
    fn hear(&mut self, update: Update<'_>) {
        self.said.extend(match update {
            Update::Commands(commands) => Some(Change::Commands(commands)),
            Update::Mode(mode) => Some(Change::Mode(mode)),
            Update::Options(options) => Some(Change::Options(options)),
            _ => None,
        });
    }

    fn onto(self, mut offers: Offers) -> Offers {
        for change in self.said {
            match change {
                Change::Commands(commands) => offers.commands = commands,
                Change::Mode(mode) => offers.mode = Some(mode),
                // The answer that followed says how they stand now, where it has any.
                Change::Options(options) if offers.options.is_empty() => {
                    offers.set_options(options);
                }
                Change::Options(_) => {}
            }
        }
        offers
    }
}

fn server(server: &McpServer) -> Value {
    let pairs = |pairs: &[NameValue]| json!(pairs);
    match server {
        McpServer::Stdio {
            name,
            command,
            args,
            env,
        } => json!({ "name": name, "command": command, "args": args, "env": pairs(env) }),
        McpServer::Http { name, url, headers } => {
            json!({ "type": "http", "name": name, "url": url, "headers": pairs(headers) })
        }
        McpServer::Sse { name, url, headers } => {
            json!({ "type": "sse", "name": name, "url": url, "headers": pairs(headers) })
        }
        // Never connected by an agent of this kind.
        McpServer::Client { name, .. } => json!({ "name": name }),
    }
}
