//! An agent that can only tell what it offers once it runs, speaks between turns, takes extensions,
//! and stops single calls.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use serde_json::{Value, json};
use sessiond_engine::{
    Agent, AgentError, AgentFactory, Announced, Emit, Engine, Extensions, Opening, TurnContext,
    TurnReport, Updates,
};
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, AgentId, AgentInfo, Answered, AttachMode, Command, Content, ErrorCode, Event,
    EventFrame, Item, Marker, McpServer, Op, Replay, SessionId, SessionNew, Setup, Stop, Stoppable,
    ToolCall, ToolStatus, TurnOutcome, Verdict,
};

use crate::harness::{Client, Nowhere, code, engine_with};

/// What the agent was made ready or opened with, in order.
type Openings = Arc<Mutex<Vec<(&'static str, Seen)>>>;

#[derive(Debug, Clone, PartialEq)]
struct Seen {
    servers: Vec<String>,
    native: Option<String>,
    mode: Option<String>,
}

impl Seen {
    fn of(opening: &Opening) -> Self {
        let servers = opening.setup.mcp_servers.iter();
        Self {
            servers: servers.map(|server| server.name().to_owned()).collect(),
            native: opening.native.get("thread").cloned(),
            mode: opening.settings.mode.clone(),
        }
    }
}

/// Says what it offers when it is made ready; does not start at a directory called `/broken`.
#[derive(Default)]
struct Late {
    openings: Openings,
    updates: Mutex<HashMap<SessionId, Updates>>,
}

fn info(commands: &[&str]) -> AgentInfo {
    let command = |name: &&str| Command {
        name: (*name).into(),
        description: String::new(),
        hint: None,
    };
    AgentInfo {
        id: AgentId {
            name: "late".into(),
            version: None,
        },
        modes: Vec::new(),
        options: Vec::new(),
        commands: commands.iter().map(command).collect(),
    }
}

#[async_trait]
impl AgentFactory for Late {
    fn info(&self) -> AgentInfo {
        info(&[])
    }

    async fn prepare(&self, opening: &Opening) -> Result<AgentInfo, AgentError> {
        self.openings
            .lock()
            .unwrap()
            .push(("prepare", Seen::of(opening)));
        if opening.cwd == Path::new("/broken") {
            return Err(AgentError::unavailable("as told"));
        }
        let mut updates = self.updates.lock().unwrap();
        updates.insert(opening.session, opening.updates.clone());
        Ok(info(&["told"]))
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        self.openings
            .lock()
            .unwrap()
            .push(("open", Seen::of(&opening)));
        Ok(Box::new(LateSession))
    }

    fn extensions(&self, session: SessionId) -> Option<Arc<dyn Extensions>> {
        let known = self.updates.lock().unwrap().contains_key(&session);
        known.then(|| Arc::new(Echo) as Arc<dyn Extensions>)
    }
}

struct Echo;

#[async_trait]
impl Extensions for Echo {
    async fn request(&self, method: String, params: Value) -> Result<Value, AgentError> {
        if method == "_fail" {
            return Err(AgentError::failed("as told"));
        }
        Ok(json!({ "method": method, "params": params }))
    }

    async fn notify(&self, _method: String, _params: Value) {}
}

struct LateSession;

#[async_trait]
impl Agent for LateSession {
    /// Records what it calls the session; with `call` it runs one until that is stopped.
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let (name, value) = ("thread".into(), "t1".into());
        context.record(Marker::Native { name, value }).await?;
        if prompt.first().and_then(Content::as_text) == Some("call") {
            let mut call = ToolCall {
                name: "slow".into(),
                stoppable: Stoppable::Yes,
                ..ToolCall::default()
            };
            if let Announced::Run(item) = context.start_call(call.clone()).await? {
                context.call_stopped(item).await;
                call.status = ToolStatus::Cancelled;
                context.emit(Emit::CallEnded(item, Box::new(call))).await?;
            }
            context.say("went on").await?;
        }
        Ok(TurnReport {
            stop: Stop::EndTurn,
            usage: None,
        })
    }
}

fn engine(store: Store, late: &Arc<Late>) -> Engine {
    engine_with(store, late.clone(), Arc::new(Nowhere))
}

fn opened(late: &Late) -> Vec<(&'static str, Seen)> {
    std::mem::take(&mut late.openings.lock().unwrap())
}

fn seen(servers: &[&str], native: Option<&str>) -> Seen {
    Seen {
        servers: servers.iter().map(|name| (*name).into()).collect(),
        native: native.map(Into::into),
        mode: None,
    }
}

fn files() -> McpServer {
    McpServer::Client {
        name: "files".into(),
        tools: Vec::new(),
    }
}

fn with_files() -> SessionNew {
    SessionNew {
        setup: Setup {
            mcp_servers: vec![files()],
            ..Setup::default()
        },
        ..SessionNew::at("/w")
    }
}

/// SEC-2: what a client gives the agent reaches it, and no log.
#[tokio::test]
async fn an_agent_says_what_it_offers_before_the_session_is_there() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let engine = engine(store, &late);
    let mut client = Client::connect(&engine).await;
    let new = Op::SessionNew(with_files());
    let Verdict::Accepted(Accepted::Session(view)) = client.submit(None, new).await else {
        panic!("no session");
    };
    assert_eq!(view.agent.commands, info(&["told"]).commands);
    client.turn(view.session, "hello").await;
    client.turn(view.session, "again").await;
    let expected = [
        ("prepare", seen(&["files"], None)),
        ("open", seen(&["files"], None)),
    ];
    assert_eq!(opened(&late), expected, "one agent for both turns");
    let events = serde_json::to_string(&client.events).unwrap();
    assert!(!events.contains("files"), "{events}");
}

#[tokio::test]
async fn an_agent_that_does_not_start_leaves_no_session_behind() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let engine = engine(store, &late);
    let mut client = Client::connect(&engine).await;
    let new = Op::SessionNew(SessionNew::at("/broken"));
    let refused = client.submit(None, new).await;
    assert_eq!(code(refused), ErrorCode::AgentUnavailable);
    let list = client
        .submit(None, Op::SessionList(Default::default()))
        .await;
    let Verdict::Accepted(Accepted::Sessions { sessions, .. }) = list else {
        panic!("{list:?}");
    };
    assert!(sessions.is_empty(), "{sessions:?}");
}

/// RESUME-4: the agent's own name for the conversation is restored, until the user begins anew.
#[tokio::test]
async fn what_the_agent_recorded_of_its_own_comes_back_until_a_clear() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let session = {
        let engine = engine(store.clone(), &late);
        let mut client = Client::connect(&engine).await;
        let session = client.create(with_files()).await;
        client.turn(session, "hello").await;
        client.submit(Some(session), Op::SessionClose {}).await;
        engine.drain().await.unwrap();
        session
    };
    opened(&late);
    let engine = engine(store, &late);
    let mut viewer = Client::connect(&engine).await;
    viewer.attach(session, Replay::None, AttachMode::View).await;
    assert_eq!(opened(&late), [], "who looks on starts no agent");
    drop(viewer);
    engine.idle().await;
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::None).await;
    assert_eq!(opened(&late), [("prepare", seen(&[], Some("t1")))]);
    client.submit(Some(session), Op::SessionClear {}).await;
    client.turn(session, "anew").await;
    assert_eq!(opened(&late), [("open", seen(&[], None))]);
}

/// What an agent cannot do is refused before anything begins.
#[tokio::test]
async fn an_agent_that_cannot_compact_is_not_asked() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let engine = engine(store, &late);
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.turn(session, "hello").await;
    let newest = client.newest();
    let refused = client.submit(Some(session), Op::SessionCompact {}).await;
    assert_eq!(code(refused), ErrorCode::Unsupported);
    assert_eq!(client.newest(), newest);
}

#[tokio::test]
async fn an_agent_speaks_between_turns() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let engine = engine(store, &late);
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let updates = late.updates.lock().unwrap().get(&session).cloned().unwrap();
    updates.send(Emit::Title("Named".into())).await.unwrap();
    updates.send(Emit::Text("of no turn".into())).await.unwrap();
    let commands = info(&["more"]).commands;
    updates
        .send(Emit::Commands(commands.clone()))
        .await
        .unwrap();
    let changed = |frame: &EventFrame| match &frame.event {
        Event::SessionChanged(change) => change.commands.clone(),
        _ => None,
    };
    while client.events.iter().find_map(changed) != Some(commands.clone()) {
        client.next().await;
    }
    assert!(client.said().is_empty());
    client.submit(Some(session), Op::SessionClose {}).await;
    engine.drain().await.unwrap();
    assert!(updates.send(Emit::Title("Late".into())).await.is_err());
}

#[tokio::test]
async fn extensions_reach_the_agent_while_it_runs_and_while_it_rests() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let engine = engine(store, &late);
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let ask = |method: &str, answer| Op::Extension {
        method: method.into(),
        params: json!({ "a": 1 }),
        answer,
    };
    let asked = client
        .submit(Some(session), ask("_x", Answered::Answer))
        .await;
    let extension = json!({ "method": "_x", "params": { "a": 1 } });
    let answered = Verdict::Accepted(Accepted::Extension { extension });
    assert_eq!(asked, answered);
    let turn = client.start(session, "call").await;
    let running = client
        .submit(Some(session), ask("_x", Answered::Answer))
        .await;
    assert_eq!(running, answered);
    let told = client
        .submit(Some(session), ask("_x", Answered::None))
        .await;
    assert_eq!(told, Verdict::Accepted(Accepted::Done {}));
    let failed = client
        .submit(Some(session), ask("_fail", Answered::Answer))
        .await;
    assert_eq!(code(failed), ErrorCode::AgentFailed);
    client
        .submit(
            Some(session),
            Op::TurnInterrupt {
                turn: None,
                queued: Default::default(),
            },
        )
        .await;
    client.ended(turn).await;
}

/// TASK-4: stopping one call is not stopping its turn.
#[tokio::test]
async fn a_call_is_stopped_and_its_turn_goes_on() {
    let (store, late) = (Store::in_memory(), Arc::new(Late::default()));
    let engine = engine(store, &late);
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let turn = client.start(session, "call").await;
    let call = |frame: &EventFrame| match &frame.event {
        Event::ItemStarted {
            item: Item::ToolCall(_),
        } => frame.item,
        _ => None,
    };
    let item = loop {
        match client.events.iter().find_map(call) {
            Some(item) => break item,
            None => drop(client.next().await),
        }
    };
    let stopped = client.submit(Some(session), Op::CallCancel { item }).await;
    assert_eq!(stopped, Verdict::Accepted(Accepted::Done {}));
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    assert_eq!(client.said(), ["went on"]);
    let again = client.submit(Some(session), Op::CallCancel { item }).await;
    assert_eq!(code(again), ErrorCode::Invalid);
}
