//! A session of many turns: `long_session write STORE TURNS [OUTPUT_BYTES]` writes it and prints its
//! id; `long_session open STORE ID` opens it without replay, prints how many milliseconds that took,
//! and stays until its stdin ends, so that it can be looked at.
//!
//! The turns run through the engine and its log, as a client and an agent would have them: a
//! prompt, a tool call with OUTPUT_BYTES of output, a short answer. So the store is what a user
//! would have, checkpoints and all; `cargo xtask bench open` measures how it is opened.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use sessiond_engine::{
    Agent, AgentError, AgentFactory, Announced, Emit, Engine, EngineConfig, Environment, Opening,
    TurnContext, TurnReport,
};
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, AgentId, AgentInfo, AttachMode, ClientFrame, Content, Event, EventFrame, FoundBy,
    Hello, IfBusy, OnDisconnect, Op, Party, PersistenceState, Receipt, Replay, ServerFrame,
    SessionId, SessionNew, SessionResume, Stop, Submission, SubmissionId, ToolCall, ToolContent,
    ToolKind, ToolStatus, VERSION, Verdict, Workspace,
};
use sessiond_wire::Connection;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What the peers were measured with.
const OUTPUT_BYTES: usize = 3_900;

/// Known to every sessiond, so that it opens what was written here.
const AGENT: &str = "script";

fn main() -> Result<(), Failure> {
    let usage = "usage: long_session write STORE TURNS [OUTPUT_BYTES] | open STORE ID";
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let said = match args[..] {
        ["write", store, turns] => {
            runtime.block_on(write(store.as_ref(), turns.parse()?, OUTPUT_BYTES))?
        }
        ["write", store, turns, bytes] => {
            runtime.block_on(write(store.as_ref(), turns.parse()?, bytes.parse()?))?
        }
        ["open", store, session] => {
            return runtime.block_on(open(store.as_ref(), session.parse()?));
        }
        _ => return Err(usage.into()),
    };
    writeln!(std::io::stdout(), "{said}")?;
    Ok(())
}

fn engine(store: &Path, bytes: usize) -> Result<Engine, Failure> {
    let factory: Arc<dyn AgentFactory> = Arc::new(Reader { bytes });
    Ok(Engine::new(EngineConfig {
        store: Store::open_real(store)?,
        persistence: PersistenceState::On,
        agents: HashMap::from([(AGENT.to_owned(), factory)]),
        default_agent: AGENT.to_owned(),
        source: "measure".to_owned(),
        environment: Arc::new(Nowhere),
    }))
}

async fn open(store: &Path, session: SessionId) -> Result<(), Failure> {
    let engine = engine(store, OUTPUT_BYTES)?;
    let mut client = Client::of(&engine).await?;
    let start = Instant::now();
    let resume = SessionResume {
        setup: Default::default(),
        found_by: FoundBy::Id,
        accept: Vec::new(),
        session,
        cwd: None,
        replay: Replay::None,
        mode: AttachMode::Control,
        answers: Vec::new(),
        on_disconnect: OnDisconnect::default(),
    };
    let asked = client.submit(None, Op::SessionResume(resume)).await?;
    client.opened(&asked).await?;
    let millis = start.elapsed().as_secs_f64() * 1e3;
    writeln!(std::io::stdout(), "{millis:.3}")?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    client.leave(&engine).await
}

async fn write(store: &Path, turns: usize, bytes: usize) -> Result<SessionId, Failure> {
    let engine = engine(store, bytes)?;
    let mut client = Client::of(&engine).await?;
    let new = SessionNew {
        setup: Default::default(),
        id: None,
        cwd: "/tmp".to_owned(),
        agent: None,
        answers: Vec::new(),
        on_disconnect: OnDisconnect::default(),
    };
    let opened = client.submit(None, Op::SessionNew(new)).await?;
    let session = client.opened(&opened).await?;
    for turn in 0..turns {
        let input = vec![Content::text(format!("Read part {turn}, please."))];
        let op = Op::TurnStart {
            input,
            if_busy: IfBusy::default(),
            idempotency_key: None,
        };
        client.submit(Some(session), op).await?;
        client.turn_ended().await?;
    }
    client.leave(&engine).await?;
    Ok(session)
}

struct Client {
    connection: Connection,
    submitted: u64,
}

impl Client {
    async fn of(engine: &Engine) -> Result<Self, Failure> {
        let (connection, submitted) = (engine.connect(), 0);
        let client = Self {
            connection,
            submitted,
        };
        client.greet().await?;
        Ok(client)
    }

    async fn leave(self, engine: &Engine) -> Result<(), Failure> {
        self.send(ClientFrame::Bye {}).await?;
        drop(self);
        Ok(engine.drain().await?)
    }

    async fn greet(&self) -> Result<(), Failure> {
        let client = Party {
            name: "long_session".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let versions = vec![VERSION];
        self.send(ClientFrame::Hello(Hello {
            versions,
            client,
            ack: false,
        }))
        .await?;
        match self.receive().await? {
            ServerFrame::Welcome(_) => Ok(()),
            other => Err(format!("no welcome but {other:?}").into()),
        }
    }

    async fn submit(
        &mut self,
        session: Option<SessionId>,
        op: Op,
    ) -> Result<SubmissionId, Failure> {
        self.submitted += 1;
        let id = SubmissionId::try_from(format!("s{}", self.submitted))?;
        let submission = Submission {
            id: id.clone(),
            session,
            op,
        };
        self.send(ClientFrame::Submission(submission)).await?;
        Ok(id)
    }

    async fn opened(&self, submission: &SubmissionId) -> Result<SessionId, Failure> {
        loop {
            match self.receive().await? {
                ServerFrame::Receipt(Receipt { id, result }) if id == *submission => {
                    return match result {
                        Verdict::Accepted(Accepted::Session(view)) => Ok(view.session),
                        other => Err(format!("no session but {other:?}").into()),
                    };
                }
                _ => {}
            }
        }
    }

    async fn turn_ended(&self) -> Result<(), Failure> {
        loop {
            match self.receive().await? {
                ServerFrame::Event(EventFrame {
                    event: Event::TurnEnded(_),
                    ..
                }) => return Ok(()),
                ServerFrame::Receipt(Receipt {
                    result: Verdict::Error(error),
                    ..
                }) => return Err(error.to_string().into()),
                _ => {}
            }
        }
    }

    async fn send(&self, frame: ClientFrame) -> Result<(), Failure> {
        let sent = self.connection.send(frame).await;
        sent.map_err(|_| "the engine ended the connection".into())
    }

    async fn receive(&self) -> Result<ServerFrame, Failure> {
        let frame = self.connection.recv().await;
        frame.ok_or_else(|| "the engine ended the connection".into())
    }
}

/// An agent whose every turn is one call of a tool that says a lot.
struct Reader {
    bytes: usize,
}

#[async_trait]
impl AgentFactory for Reader {
    fn info(&self) -> AgentInfo {
        AgentInfo {
            id: AgentId {
                name: AGENT.to_owned(),
                version: None,
            },
            modes: Vec::new(),
            options: Vec::new(),
            commands: Vec::new(),
        }
    }

    async fn open(&self, _opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let (bytes, turn) = (self.bytes, 0);
        Ok(Box::new(Reading { bytes, turn }))
    }
}

struct Reading {
    bytes: usize,
    turn: usize,
}

#[async_trait]
impl Agent for Reading {
    async fn turn(
        &mut self,
        _prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        self.turn += 1;
        let mut call = ToolCall {
            name: "read".to_owned(),
            title: format!("Read part {}", self.turn),
            kind: ToolKind::Read,
            status: ToolStatus::Running,
            ..ToolCall::default()
        };
        let Announced::Run(item) = context.start_call(call.clone()).await? else {
            return Err(AgentError::failed("nobody has a say here"));
        };
        call.status = ToolStatus::Completed;
        call.content = vec![ToolContent::text(lines(self.turn, self.bytes))];
        context.emit(Emit::CallEnded(item, Box::new(call))).await?;
        context.say(format!("Part {} is read.", self.turn)).await?;
        let (stop, usage) = (Stop::EndTurn, None);
        Ok(TurnReport { stop, usage })
    }
}

/// `bytes` of lines that differ from turn to turn.
fn lines(turn: usize, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut line = 0;
    while text.len() < bytes {
        line += 1;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{line:4}: part {turn} says what line {line} of \"it\" says"
        );
    }
    text.truncate(bytes);
    text
}

struct Nowhere;

impl Environment for Nowhere {
    fn workspace(&self, _cwd: &Path) -> Workspace {
        Workspace::default()
    }

    fn principal(&self) -> Option<String> {
        None
    }
}
