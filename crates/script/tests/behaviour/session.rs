//! A session of the script agent in a real engine on an in-memory store, and its client.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sessiond_engine::{AgentFactory, Engine, EngineConfig, Environment};
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Answer, ClientFrame, Content, Event, Hello, IfBusy, Item, ItemId, Op, OptionSetting,
    OptionValue, Outcome, Party, PermissionKind, PersistenceState, PlanEntry, Queued, RequestBody,
    RequestKind, ServerFrame, SessionId, SessionNew, Setup, Stop, Stream, Submission, Titler,
    ToolCall, ToolContent, ToolStatus, TurnEnded, TurnOutcome, Usage, VERSION, Verdict, Workspace,
};
use sessiond_script::ScriptAgent;
use sessiond_wire::{Connection, process::SupervisorExe};
use tempfile::TempDir;

use crate::watched::Watched;

/// A turn here takes milliseconds; one that takes this long hangs.
const LIVENESS: Duration = Duration::from_secs(30);

/// What a client sees of a turn, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Text(String),
    Thought(String),
    Started(ToolCall),
    Changed(ToolCall),
    Output(String),
    Ended(ToolCall),
    Plan(Vec<PlanEntry>),
    Usage(Usage),
    Title(String),
    Asked(RequestBody),
}

/// What a client does about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    Watch,
    Answer(Outcome),
    Interrupt,
    /// Stops the call that this is about.
    StopCall,
    /// Adds a prompt to the turn, then answers.
    Steer(String, Outcome),
}

/// A turn that has ended.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) seen: Vec<Seen>,
    pub(crate) outcome: TurnOutcome,
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<String>,
}

/// A session in an empty folder, and the client that controls it.
pub(crate) struct Session {
    store: Store,
    folder: TempDir,
    client: Connection,
    /// None where the agent's turns do not return by themselves.
    agent: Option<Watched>,
    /// Turns so far.
    turns: usize,
    id: SessionId,
    submissions: u32,
    /// Which items are thoughts: their deltas look like those of messages.
    thoughts: Vec<ItemId>,
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

impl Session {
    /// A new session whose client answers these kinds of request.
    pub(crate) async fn new(answers: &[RequestKind]) -> Self {
        let watched = Watched::new(ScriptAgent::new(supervisor()));
        let agent: Arc<dyn AgentFactory> = Arc::new(watched.clone());
        let mut session = Self::opened(agent, Setup::default(), answers).await;
        session.agent = Some(watched);
        session
    }

    /// The same, given something to work with.
    pub(crate) async fn given(setup: Setup, answers: &[RequestKind]) -> Self {
        let agent = Arc::new(ScriptAgent::new(supervisor()));
        Self::opened(agent, setup, answers).await
    }

    /// The same with another agent, whose turns need not return.
    pub(crate) async fn of(agent: Arc<dyn AgentFactory>, answers: &[RequestKind]) -> Self {
        Self::opened(agent, Setup::default(), answers).await
    }

    async fn opened(agent: Arc<dyn AgentFactory>, setup: Setup, answers: &[RequestKind]) -> Self {
        let store = Store::in_memory();
        let folder = tempfile::tempdir().expect("a folder");
        let engine = Engine::new(EngineConfig {
            store: store.clone(),
            persistence: PersistenceState::Off,
            agents: HashMap::from([("script".to_owned(), agent)]),
            default_agent: "script".to_owned(),
            source: "test".to_owned(),
            environment: Arc::new(Nowhere),
        });
        let id = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10"
            .parse()
            .expect("an id");
        let client = engine.connect();
        let mut session = Self {
            store,
            folder,
            client,
            agent: None,
            turns: 0,
            id,
            submissions: 0,
            thoughts: Vec::new(),
        };
        let party = Party {
            name: "test".to_owned(),
            version: "1".to_owned(),
        };
        session
            .send(ClientFrame::Hello(Hello {
                versions: vec![VERSION],
                client: party,
                ack: false,
            }))
            .await;
        let new = SessionNew {
            setup,
            id: Some(id),
            cwd: session.cwd().to_str().expect("UTF-8").to_owned(),
            agent: None,
            answers: answers.to_vec(),
            on_disconnect: Default::default(),
        };
        session.submit(None, Op::SessionNew(new)).await;
        loop {
            if let ServerFrame::Receipt(receipt) = session.receive().await {
                let opened = matches!(receipt.result, Verdict::Accepted(Accepted::Session(_)));
                assert!(opened, "{receipt:?}");
                return session;
            }
        }
    }

    /// All that is recorded of it.
    pub(crate) fn records(&self) -> Vec<String> {
        let subject = self.id.to_string().parse().expect("a subject");
        let mut records = Vec::new();
        let read = self.store.visit(&subject, &mut |record| {
            records.push(record.data.to_owned());
        });
        read.expect("a log");
        records
    }

    /// Closes it.
    pub(crate) async fn close(&mut self) {
        self.submit(Some(self.id), Op::SessionClose {}).await;
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.cwd().join(name).to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.cwd().join(name), bytes).expect("a file");
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.cwd().join(name)).ok()
    }

    /// Changes the session's mode.
    pub(crate) async fn configure(&mut self, mode: &str) {
        let mode = mode.to_owned();
        self.submit(Some(self.id), Op::set_mode(mode)).await;
    }

    /// Sets an option of the agent.
    pub(crate) async fn option(&mut self, id: &str, value: OptionValue) {
        let setting = OptionSetting {
            id: id.to_owned(),
            value,
        };
        let configure = Op::SessionConfigure {
            mode: None,
            options: vec![setting],
        };
        self.submit(Some(self.id), configure).await;
    }

    /// Runs a turn to its end; the client does with each thing it sees what it likes.
    pub(crate) async fn turn(
        &mut self,
        prompt: &str,
        mut client: impl FnMut(&Seen) -> Act,
    ) -> Turn {
        let input = vec![Content::text(prompt)];
        let start = Op::TurnStart {
            input,
            if_busy: IfBusy::Reject,
            idempotency_key: None,
        };
        self.submit(Some(self.id), start).await;
        self.turns += 1;
        let mut all = Vec::new();
        loop {
            let frame = self.receive().await;
            if let ServerFrame::Event(frame) = &frame
                && let Event::TurnEnded(ended) = &frame.event
            {
                // Not the engine's grace but the agent has ended it.
                if let Some(agent) = &self.agent {
                    assert_eq!(agent.returned(), self.turns, "{prompt}");
                }
                return Turn::new(all, ended);
            }
            let Some(seen) = self.seen(&frame) else {
                continue;
            };
            let act = match client(&seen) {
                Act::Steer(text, outcome) => {
                    let input = vec![Content::text(text)];
                    self.submit(Some(self.id), Op::TurnSteer { input, turn: None })
                        .await;
                    Act::Answer(outcome)
                }
                act => act,
            };
            let item = match &frame {
                ServerFrame::Event(frame) => frame.item,
                ServerFrame::Request(request) => request.item,
                _ => None,
            };
            match (act, frame) {
                (Act::StopCall, _) => {
                    let item = item.expect("an item");
                    self.submit(Some(self.id), Op::CallCancel { item }).await;
                }
                (Act::Answer(outcome), ServerFrame::Request(request)) => {
                    let (request, digest) = (request.id, request.digest);
                    self.send(ClientFrame::Answer(Answer {
                        request,
                        digest,
                        outcome,
                    }))
                    .await;
                }
                (Act::Interrupt, _) => {
                    let interrupt = Op::TurnInterrupt {
                        turn: None,
                        queued: Queued::Keep,
                    };
                    self.submit(Some(self.id), interrupt).await;
                }
                _ => {}
            }
            all.push(seen);
        }
    }

    fn seen(&mut self, frame: &ServerFrame) -> Option<Seen> {
        let frame = match frame {
            ServerFrame::Request(request) => return Some(Seen::Asked(request.body.clone())),
            ServerFrame::Event(frame) => frame,
            ServerFrame::Error { error, .. } => panic!("refused: {error:?}"),
            _ => return None,
        };
        Some(match frame.event.clone() {
            Event::ItemStarted {
                item: Item::Thought { .. },
            } => {
                self.thoughts.extend(frame.item);
                return None;
            }
            Event::ItemStarted {
                item: Item::ToolCall(call),
            } => Seen::Started(*call),
            Event::ItemChanged { call } => Seen::Changed(*call),
            Event::ItemEnded {
                item: Item::ToolCall(call),
            } => Seen::Ended(*call),
            Event::ItemEnded {
                item: Item::Plan { entries },
            } => Seen::Plan(entries),
            Event::ItemDelta {
                stream: Stream::Output,
                text,
                ..
            } => Seen::Output(text),
            Event::ItemDelta { text, .. } => match frame.item {
                Some(item) if self.thoughts.contains(&item) => Seen::Thought(text),
                _ => Seen::Text(text),
            },
            Event::Usage(usage) => Seen::Usage(usage),
            Event::SessionChanged(change) if change.titled_by == Some(Titler::Agent) => {
                Seen::Title(change.title?)
            }
            _ => return None,
        })
    }

    async fn submit(&mut self, session: Option<SessionId>, op: Op) {
        self.submissions += 1;
        let id = self.submissions.to_string().try_into().expect("an id");
        self.send(ClientFrame::Submission(Submission { id, session, op }))
            .await;
    }

    async fn send(&self, frame: ClientFrame) {
        self.client.send(frame).await.expect("an engine");
    }

    async fn receive(&self) -> ServerFrame {
        let frame = tokio::time::timeout(LIVENESS, self.client.recv());
        frame.await.expect("a frame in time").expect("an engine")
    }
}

/// The example of this crate that becomes the guard: cargo builds it with the tests.
pub(crate) fn supervisor() -> SupervisorExe {
    SupervisorExe::at(example("script_guard"))
}

/// A program of this crate's examples.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let profile = test.ancestors().nth(2).expect("the profile's folder");
    let exe = profile.join("examples").join(name);
    assert!(
        exe.exists(),
        "build it: cargo build -p sessiond-script --examples"
    );
    exe
}

/// A client that chooses this option of each permission question.
pub(crate) fn selected(kind: PermissionKind) -> impl FnMut(&Seen) -> Act {
    move |seen| match seen {
        Seen::Asked(RequestBody::Permission(_)) => Act::Answer(Outcome::Selected {
            option: kind.id().to_owned(),
        }),
        _ => Act::Watch,
    }
}

impl Turn {
    fn new(seen: Vec<Seen>, ended: &TurnEnded) -> Self {
        let error = ended.error.as_ref().map(|error| error.message.clone());
        Self {
            seen,
            outcome: ended.outcome,
            stop: ended.stop,
            usage: ended.usage,
            error,
        }
    }

    /// All that was said.
    pub(crate) fn text(&self) -> String {
        let texts = self.seen.iter().filter_map(|seen| match seen {
            Seen::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// All that was asked.
    pub(crate) fn asked(&self) -> Vec<RequestBody> {
        let asked = |seen: &Seen| match seen {
            Seen::Asked(body) => Some(body.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(asked).collect()
    }

    /// The one call, as it ended.
    pub(crate) fn call(&self) -> &ToolCall {
        let ended = self.seen.iter().filter_map(|seen| match seen {
            Seen::Ended(call) => Some(call),
            _ => None,
        });
        let calls: Vec<&ToolCall> = ended.collect();
        let [call] = calls.as_slice() else {
            panic!("not one call: {:?}", self.seen)
        };
        call
    }

    /// The text that the one call shows.
    pub(crate) fn shown(&self) -> String {
        let texts = self
            .call()
            .content
            .iter()
            .filter_map(|content| match content {
                ToolContent::Content { content } => content.as_text(),
                _ => None,
            });
        texts.collect()
    }

    /// Where the one call stood, from its start to its end.
    pub(crate) fn statuses(&self) -> Vec<ToolStatus> {
        let status = |seen: &Seen| match seen {
            Seen::Started(call) | Seen::Changed(call) | Seen::Ended(call) => Some(call.status),
            _ => None,
        };
        self.seen.iter().filter_map(status).collect()
    }
}
