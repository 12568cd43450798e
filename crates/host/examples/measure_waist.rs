//! What the waist costs: `measure_waist DIRECTORY SESSIONS EVENTS` prints one JSON object.
//!
//! - events a second of one streaming turn, to a client in the process and to one behind a socket;
//! - the same turn with a hundred viewers, all of them reading or one standing still: when the
//!   last of the others has its end;
//! - SESSIONS sessions in one engine, each with a turn, through one socket: whether an event was
//!   lost or came out of order, and the memory of a session that rests.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use sessiond_engine::{
    Agent, AgentError, AgentFactory, Emit, Engine, EngineConfig, Environment, Opening, TurnContext,
    TurnReport,
};
use sessiond_host::{Place, listen, raise_file_limit, relay};
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, AgentId, AgentInfo, ClientFrame, Content, Event, EventFrame, Hello, IfBusy,
    OnDisconnect, Op, Party, PersistenceState, ServerFrame, SessionId, SessionNew, Stop,
    Submission, SubmissionId, VERSION, Verdict, Workspace,
};
use sessiond_wire::Connection;
use sessiond_wire::socket::connect;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Text of a delta: a token or two.
const DELTA: &str = "some text";

/// Clients that look on.
const VIEWERS: usize = 100;

/// Runs of each stream; the median counts.
const RUNS: usize = 5;

/// After it what a session used for its turn is given back.
const REST: Duration = Duration::from_millis(500);

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [directory, sessions, events] = &args[..] else {
        return Err("usage: measure_waist DIRECTORY SESSIONS EVENTS".into());
    };
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let figures = runtime.block_on(measure(
        directory.as_ref(),
        sessions.parse()?,
        events.parse()?,
    ))?;
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

async fn measure(directory: &Path, sessions: usize, events: usize) -> Result<Value, Failure> {
    let store = directory.join("store");
    std::fs::create_dir_all(&store)?;
    let engine = engine(&store)?;
    let place = Place::of(&store, Some(directory))?;
    let waist = engine.clone();
    let door = listen(&place.host(), move || waist.connect())?;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        here.push(stream(Client::of(engine.connect()).await?, events).await?);
        let relayed = relay(connect(door.path()).await?);
        there.push(stream(Client::of(relayed).await?, events).await?);
    }
    let (here, there) = (median(here), median(there));

    let (mut reading, mut with_one_stopped) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        reading.push(viewed(&engine, events / 2, VIEWERS, 0).await?);
        with_one_stopped.push(viewed(&engine, events / 2, VIEWERS - 1, 1).await?);
    }
    let (reading, with_one_stopped) = (median(reading), median(with_one_stopped));

    let before = resident()?;
    let mut client = Client::of(relay(connect(door.path()).await?)).await?;
    let begun = Instant::now();
    let mut ids = Vec::new();
    for _ in 0..sessions {
        ids.push(client.new_session().await?);
    }
    for id in &ids {
        client.start(*id, 20).await?;
    }
    client.until_ended(ids.len()).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let disorder = client.disorder();
    tokio::time::sleep(REST).await;
    let each = resident()?.saturating_sub(before) as f64 / sessions.max(1) as f64;
    Ok(json!({
        "events": events,
        "in_process_us": here,
        "socket_us": there,
        "viewers_ms": reading,
        "viewers_one_stopped_ms": with_one_stopped,
        "viewers_ratio": with_one_stopped / reading,
        "sessions": sessions,
        "sessions_seconds": seconds,
        "out_of_order": disorder,
        "bytes_per_session": each,
    }))
}

/// Microseconds an event of one streaming turn takes, from the agent to the client.
async fn stream(mut client: Client, events: usize) -> Result<f64, Failure> {
    let session = client.new_session().await?;
    let begun = Instant::now();
    client.start(session, events).await?;
    client.until_ended(1).await?;
    let elapsed = begun.elapsed().as_secs_f64();
    if client.deltas_bytes != events * DELTA.len() {
        return Err("text was lost".into());
    }
    Ok(elapsed * 1e6 / events as f64)
}

/// Milliseconds from the start of a streaming turn until the last of `reading` viewers has its end,
/// while `stopped` others take nothing.
async fn viewed(
    engine: &Engine,
    events: usize,
    reading: usize,
    stopped: usize,
) -> Result<f64, Failure> {
    let mut controller = Client::of(engine.connect()).await?;
    let session = controller.new_session().await?;
    let (mut still, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..stopped {
        let mut viewer = Client::of(engine.connect()).await?;
        viewer.view(session).await?;
        still.push(viewer);
    }
    let mut viewers = Vec::new();
    for _ in 0..reading {
        let mut viewer = Client::of(engine.connect()).await?;
        viewer.view(session).await?;
        viewers.push(viewer);
    }
    let begun = Instant::now();
    for mut viewer in viewers {
        tasks.push(tokio::spawn(async move { viewer.until_ended(1).await }));
    }
    controller.start(session, events).await?;
    controller.until_ended(1).await?;
    for task in tasks {
        task.await??;
    }
    let elapsed = begun.elapsed().as_secs_f64() * 1e3;
    drop(still);
    Ok(elapsed)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Bytes of memory of this process.
fn resident() -> Result<usize, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().nth(1));
    Ok(kib.ok_or("no VmRSS")?.parse::<usize>()? * 1024)
}

fn engine(store: &Path) -> Result<Engine, Failure> {
    let factory: Arc<dyn AgentFactory> = Arc::new(Streamer);
    Ok(Engine::new(EngineConfig {
        store: Store::open_real(store)?,
        persistence: PersistenceState::On,
        agents: HashMap::from([("streamer".to_owned(), factory)]),
        default_agent: "streamer".to_owned(),
        source: "measure".to_owned(),
        environment: Arc::new(Nowhere),
    }))
}

struct Client {
    connection: Connection,
    submitted: u64,
    ended: usize,
    deltas_bytes: usize,
    /// The newest cursor of each session, and how often one did not follow on the one before.
    cursors: HashMap<SessionId, u64>,
    disorder: u64,
}

impl Client {
    async fn of(connection: Connection) -> Result<Self, Failure> {
        let client = Party {
            name: "measure".to_owned(),
            version: "1".to_owned(),
        };
        let versions = vec![VERSION];
        let hello = ClientFrame::Hello(Hello {
            versions,
            client,
            ack: false,
        });
        connection.send(hello).await?;
        connection.recv().await.ok_or("no welcome")?;
        Ok(Self {
            connection,
            submitted: 0,
            ended: 0,
            deltas_bytes: 0,
            cursors: HashMap::new(),
            disorder: 0,
        })
    }

    async fn call(&mut self, session: Option<SessionId>, op: Op) -> Result<Accepted, Failure> {
        self.submitted += 1;
        let id = SubmissionId::try_from(format!("s{}", self.submitted))?;
        let submission = Submission {
            id: id.clone(),
            session,
            op,
        };
        let frame = ClientFrame::Submission(submission);
        self.connection.send(frame).await?;
        loop {
            if let ServerFrame::Receipt(receipt) = self.next().await?
                && receipt.id == id
            {
                return match receipt.result {
                    Verdict::Accepted(accepted) => Ok(accepted),
                    Verdict::Error(error) => Err(error.into()),
                };
            }
        }
    }

    async fn next(&mut self) -> Result<ServerFrame, Failure> {
        let frame = self.connection.recv().await.ok_or("the connection ended")?;
        if let ServerFrame::Event(event) = &frame {
            self.event(event);
        }
        Ok(frame)
    }

    fn event(&mut self, frame: &EventFrame) {
        match &frame.event {
            Event::ItemDelta { text, .. } => self.deltas_bytes += text.len(),
            Event::TurnEnded(_) => self.ended += 1,
            _ => {}
        }
        if let Some(cursor) = frame.cursor {
            let before = self.cursors.insert(frame.session, cursor.0);
            self.disorder += u64::from(before.unwrap_or(0) + 1 != cursor.0);
        }
    }

    async fn new_session(&mut self) -> Result<SessionId, Failure> {
        let new = SessionNew {
            setup: Default::default(),
            id: None,
            cwd: "/tmp".to_owned(),
            agent: None,
            answers: Vec::new(),
            on_disconnect: OnDisconnect::Finish,
        };
        match self.call(None, Op::SessionNew(new)).await? {
            Accepted::Session(view) => Ok(view.session),
            _ => Err("no session".into()),
        }
    }

    async fn view(&mut self, session: SessionId) -> Result<(), Failure> {
        let resume = json!({"type": "session.resume", "session": session, "mode": "view"});
        self.call(None, serde_json::from_value(resume)?)
            .await
            .map(drop)
    }

    /// Starts a turn of so many deltas.
    async fn start(&mut self, session: SessionId, deltas: usize) -> Result<(), Failure> {
        let op = Op::TurnStart {
            input: vec![Content::text(deltas.to_string())],
            if_busy: IfBusy::Reject,
            idempotency_key: None,
        };
        self.call(Some(session), op).await.map(drop)
    }

    async fn until_ended(&mut self, turns: usize) -> Result<(), Failure> {
        while self.ended < turns {
            self.next().await?;
        }
        Ok(())
    }

    fn disorder(&self) -> u64 {
        self.disorder
    }
}

/// An agent that streams as many deltas as the prompt says.
#[derive(Debug)]
struct Streamer;

#[async_trait]
impl AgentFactory for Streamer {
    fn info(&self) -> AgentInfo {
        AgentInfo {
            id: AgentId {
                name: "streamer".to_owned(),
                version: None,
            },
            modes: Vec::new(),
            options: Vec::new(),
            commands: Vec::new(),
        }
    }

    async fn open(&self, _opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Streamer))
    }
}

#[async_trait]
impl Agent for Streamer {
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let deltas = prompt.iter().find_map(Content::as_text);
        let deltas: usize = deltas.and_then(|text| text.parse().ok()).unwrap_or(0);
        for _ in 0..deltas {
            context.emit(Emit::Text(DELTA.to_owned())).await?;
        }
        Ok(TurnReport {
            stop: Stop::EndTurn,
            usage: None,
        })
    }
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
