//! A small client of the waist, and an agent that does as its prompt says.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use sessiond_engine::{
    Agent, AgentError, AgentFactory, Announced, CompactionReport, Emit, Engine, HistorySource,
    Opening, TurnContext, TurnReport,
};
use sessiond_protocol::{
    Accepted, AgentId, AgentInfo, Answer, AttachMode, ClientFrame, Content, Cursor, ErrorCode,
    Event, EventFrame, FoundBy, Hello, HistoryItem, IfBusy, Item, Mode, ModePolicy, OnDisconnect,
    Op, Outcome, Party, Permission, PermissionKind, PermissionOption, Replay, RequestBody,
    RequestFrame, RequestKind, ServerFrame, SessionId, SessionNew, SessionResume, Stop, Submission,
    SubmissionId, ToolCall, ToolContent, ToolStatus, TurnId, TurnOutcome, Verdict, WireError,
};
use sessiond_wire::Connection;

pub(crate) use crate::engines::{Nowhere, engine, engine_in, engine_with};

/// A liveness bound, five times what anything here takes.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// Does what the words of its prompt say: `say:x`, `call`, `ask`, `hang`, `stubborn`, `fail`, `take`
/// (waits for what is added to the turn, and says it), `leave` (waits for it only), `linger` (leaves
/// something behind that takes a while to end, and is stubborn), `told` (says what it knows of a
/// cancellation). Sums up how many items there are; a newest prompt that hangs makes that hang, too.
pub(crate) struct Obedient;

#[async_trait]
impl AgentFactory for Obedient {
    fn info(&self) -> AgentInfo {
        let mode = |id: &str, policy| Mode {
            id: id.into(),
            name: id.into(),
            description: id.into(),
            policy,
        };
        AgentInfo {
            id: AgentId {
                name: "obedient".into(),
                version: None,
            },
            modes: vec![
                mode("ask", ModePolicy::Ask),
                mode("auto", ModePolicy::Allow),
            ],
            options: Vec::new(),
            commands: Vec::new(),
        }
    }

    fn can_compact(&self) -> bool {
        true
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let known = opening.history.load().await?;
        Ok(Box::new(ObedientSession { known }))
    }
}

struct ObedientSession {
    known: Vec<HistoryItem>,
}

#[async_trait]
impl Agent for ObedientSession {
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let words: Vec<String> = prompt
            .iter()
            .filter_map(Content::as_text)
            .flat_map(|text| text.split(' ').map(str::to_owned))
            .collect();
        for word in words {
            match word.as_str() {
                "known" => context.say(format!("{} items", self.known.len())).await?,
                "history" => context.say(crate::hooks::heard(&self.known)).await?,
                "call" => call(context).await?,
                "ask" => ask(context).await?,
                "hang" => context.cancelled().await,
                "stubborn" => std::future::pending().await,
                "take" => take(context).await?,
                "leave" => context.steered().await,
                "told" => context.say(crate::busy::told(context)).await?,
                "linger" => linger(context).await,
                "fail" => return Err(AgentError::failed("as told")),
                other => {
                    let text = other.strip_prefix("say:").unwrap_or(other);
                    context.say(text).await?;
                }
            }
        }
        Ok(TurnReport {
            stop: Stop::EndTurn,
            usage: None,
        })
    }

    async fn compact(
        &mut self,
        conversation: HistorySource,
        context: &TurnContext,
    ) -> Result<CompactionReport, AgentError> {
        self.known.clear();
        crate::compaction::sum_up(conversation, context).await
    }
}

async fn take(context: &TurnContext) -> Result<(), AgentError> {
    context.steered().await;
    for input in context.take_steers().await? {
        let texts = input.iter().filter_map(Content::as_text);
        context.say(texts.collect::<String>()).await?;
    }
    Ok(())
}

/// How many things that were left behind have ended.
pub(crate) static ENDED: AtomicUsize = AtomicUsize::new(0);

async fn linger(context: &TurnContext) {
    let hold = context.hold();
    let _over = context.say("left").await;
    tokio::spawn(async move {
        // Longer than the grace of an interrupt, so that the agent is dropped long before.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        ENDED.fetch_add(1, Ordering::SeqCst);
        drop(hold);
    });
    std::future::pending().await
}

async fn call(context: &TurnContext) -> Result<(), AgentError> {
    let mut call = ToolCall {
        name: "tool".into(),
        ..ToolCall::default()
    };
    call.status = ToolStatus::Running;
    let id = match context.start_call(call.clone()).await? {
        Announced::Run(id) => id,
        Announced::RunWith(id, input) => {
            context.say(format!("with {input}")).await?;
            id
        }
        Announced::Denied(why) => return Ok(context.say(format!("denied: {why}")).await?),
    };
    context.emit(Emit::CallOutput(id, "out".into())).await?;
    call.status = ToolStatus::Completed;
    call.content = vec![ToolContent::text("out")];
    Ok(context.emit(Emit::CallEnded(id, Box::new(call))).await?)
}

async fn ask(context: &TurnContext) -> Result<(), AgentError> {
    let announced = context
        .start_call(ToolCall {
            name: "tool".into(),
            ..ToolCall::default()
        })
        .await?;
    let Announced::Run(id) = announced else {
        return Ok(());
    };
    let options = PermissionKind::ALL.map(|kind| PermissionOption {
        id: kind.id().into(),
        name: kind.id().into(),
        kind,
    });
    let question = Permission {
        title: "May I?".into(),
        tool: "tool".into(),
        pattern: "all".into(),
        options: options.to_vec(),
    };
    let outcome = context
        .ask(Some(id), RequestBody::Permission(question))
        .await?;
    let mut call = ToolCall {
        name: "tool".into(),
        ..ToolCall::default()
    };
    call.status = match &outcome {
        Outcome::Selected { option } if option.starts_with("allow") => ToolStatus::Completed,
        _ => ToolStatus::Failed,
    };
    Ok(context.emit(Emit::CallEnded(id, Box::new(call))).await?)
}

/// A turn with these words.
pub(crate) fn prompt(words: &str, if_busy: IfBusy) -> Op {
    let (input, idempotency_key) = (vec![Content::text(words)], None);
    Op::TurnStart {
        input,
        if_busy,
        idempotency_key,
    }
}

/// Why something was refused.
pub(crate) fn code(verdict: Verdict) -> ErrorCode {
    match verdict {
        Verdict::Error(error) => error.code,
        Verdict::Accepted(accepted) => panic!("accepted: {accepted:?}"),
    }
}

/// The durable ones among events.
pub(crate) fn durable(events: &[EventFrame]) -> Vec<EventFrame> {
    let is_durable = |frame: &&EventFrame| frame.cursor.is_some();
    events.iter().filter(is_durable).cloned().collect()
}

/// A client of the waist.
pub(crate) struct Client {
    connection: Connection,
    submitted: u64,
    /// Every event so far.
    pub(crate) events: Vec<EventFrame>,
    /// Every request so far that is not closed.
    pub(crate) requests: Vec<RequestFrame>,
    /// Every error frame so far.
    pub(crate) errors: Vec<WireError>,
}

impl Client {
    pub(crate) async fn connect(engine: &Engine) -> Self {
        Self::greet(engine.connect(), false).await
    }

    /// A client that acknowledges what it gets.
    pub(crate) async fn acknowledging(engine: &Engine) -> Self {
        Self::greet(engine.connect(), true).await
    }

    pub(crate) async fn from_a_network(engine: &Engine) -> Self {
        Self::greet(engine.connect_remote(), false).await
    }

    async fn greet(connection: Connection, ack: bool) -> Self {
        let client = Party {
            name: "test".into(),
            version: "1".into(),
        };
        connection
            .send(ClientFrame::Hello(Hello {
                versions: vec![1],
                client,
                ack,
            }))
            .await
            .unwrap();
        let welcome = tokio::time::timeout(DEADLINE, connection.recv())
            .await
            .unwrap();
        assert!(
            matches!(welcome, Some(ServerFrame::Welcome(_))),
            "{welcome:?}"
        );
        let (events, requests, errors) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            connection,
            submitted: 0,
            events,
            requests,
            errors,
        }
    }

    /// Submits, and waits for the receipt; what comes before it is kept.
    pub(crate) async fn submit(&mut self, session: Option<SessionId>, op: Op) -> Verdict {
        let id = self.send(session, op).await;
        self.receipt(id).await
    }

    /// Submits, and waits for nothing.
    pub(crate) async fn send(&mut self, session: Option<SessionId>, op: Op) -> SubmissionId {
        self.submitted += 1;
        let id: SubmissionId = format!("s{}", self.submitted).try_into().unwrap();
        let submission = Submission {
            id: id.clone(),
            session,
            op,
        };
        self.connection
            .send(ClientFrame::Submission(submission))
            .await
            .unwrap();
        id
    }

    /// Waits for a receipt; what comes before it is kept.
    pub(crate) async fn receipt(&mut self, id: SubmissionId) -> Verdict {
        loop {
            if let ServerFrame::Receipt(receipt) = self.next().await
                && receipt.id == id
            {
                return receipt.result;
            }
        }
    }

    /// The next frame, kept where it is an event, a request or an error.
    pub(crate) async fn next(&mut self) -> ServerFrame {
        let frame = tokio::time::timeout(DEADLINE, self.connection.recv()).await;
        let frame = frame
            .expect("a frame in time")
            .expect("the connection lives");
        match &frame {
            ServerFrame::Event(event) => self.events.push(event.clone()),
            ServerFrame::Request(request) => self.requests.push(request.clone()),
            ServerFrame::RequestClosed { id, .. } => self.requests.retain(|open| open.id != *id),
            ServerFrame::Error { error, .. } => self.errors.push(error.clone()),
            _ => {}
        }
        frame
    }

    pub(crate) async fn new_session(&mut self) -> SessionId {
        self.new_session_in("/w").await
    }

    pub(crate) async fn new_session_in(&mut self, cwd: &str) -> SessionId {
        self.create(SessionNew::at(cwd)).await
    }

    pub(crate) async fn create(&mut self, new: SessionNew) -> SessionId {
        match self.submit(None, Op::SessionNew(new)).await {
            Verdict::Accepted(Accepted::Session(view)) => view.session,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn resume(&mut self, session: SessionId, replay: Replay) -> Verdict {
        self.attach(session, replay, AttachMode::Control).await
    }

    pub(crate) async fn attach(
        &mut self,
        session: SessionId,
        replay: Replay,
        mode: AttachMode,
    ) -> Verdict {
        let id = self.begin_attach(session, replay, mode).await;
        self.receipt(id).await
    }

    /// Attaches, and waits for nothing.
    pub(crate) async fn begin_attach(
        &mut self,
        session: SessionId,
        replay: Replay,
        mode: AttachMode,
    ) -> SubmissionId {
        let resume = SessionResume {
            setup: Default::default(),
            session,
            cwd: None,
            found_by: FoundBy::Id,
            accept: Vec::new(),
            replay,
            mode,
            answers: vec![RequestKind::Permission],
            on_disconnect: OnDisconnect::Cancel,
        };
        self.send(None, Op::SessionResume(resume)).await
    }

    pub(crate) async fn start(&mut self, session: SessionId, prompt: &str) -> TurnId {
        let input = vec![Content::text(prompt)];
        let op = Op::TurnStart {
            input,
            if_busy: IfBusy::Queue,
            idempotency_key: None,
        };
        match self.submit(Some(session), op).await {
            Verdict::Accepted(Accepted::Turn { turn }) => turn,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for a durable event.
    pub(crate) async fn until(&mut self, cursor: Cursor) {
        let is_it = |frame: &EventFrame| frame.cursor == Some(cursor);
        while !self.events.iter().any(is_it) {
            self.next().await;
        }
    }

    /// The newest durable event so far.
    pub(crate) fn newest(&self) -> Cursor {
        let cursors = self.events.iter().filter_map(|frame| frame.cursor);
        cursors.max().unwrap_or(Cursor::START)
    }

    /// Adds to the active turn.
    pub(crate) async fn steer(&mut self, session: SessionId, text: &str) {
        let (input, turn) = (vec![Content::text(text)], None);
        let steer = Op::TurnSteer { input, turn };
        let verdict = self.submit(Some(session), steer).await;
        assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
    }

    /// Waits for the end of a turn.
    pub(crate) async fn ended(&mut self, turn: TurnId) -> TurnOutcome {
        loop {
            match self.ended_already(turn) {
                Some(outcome) => return outcome,
                None => drop(self.next().await),
            }
        }
    }

    /// How a turn ended, as far as is known.
    pub(crate) fn ended_already(&self, turn: TurnId) -> Option<TurnOutcome> {
        self.events.iter().find_map(|frame| match &frame.event {
            Event::TurnEnded(ended) if frame.turn == Some(turn) => Some(ended.outcome),
            _ => None,
        })
    }

    /// A whole turn.
    pub(crate) async fn turn(&mut self, session: SessionId, prompt: &str) -> TurnOutcome {
        let turn = self.start(session, prompt).await;
        self.ended(turn).await
    }

    /// Waits for a request.
    pub(crate) async fn request(&mut self) -> RequestFrame {
        while self.requests.is_empty() {
            self.next().await;
        }
        self.requests.first().cloned().unwrap()
    }

    /// Takes back a submission.
    pub(crate) async fn withdraw(&mut self, id: SubmissionId) {
        let withdraw = ClientFrame::Withdraw { id };
        self.connection.send(withdraw).await.unwrap();
    }

    pub(crate) async fn ack(&mut self, session: SessionId, cursor: Cursor) {
        let ack = ClientFrame::Ack { session, cursor };
        self.connection.send(ack).await.unwrap();
    }

    pub(crate) async fn answer(&mut self, request: &RequestFrame, outcome: Outcome) {
        let (request, digest) = (request.id, request.digest.clone());
        let answer = ClientFrame::Answer(Answer {
            request,
            digest,
            outcome,
        });
        self.connection.send(answer).await.unwrap();
    }

    /// The texts of the agent, as the durable events have them.
    pub(crate) fn said(&self) -> Vec<String> {
        let said = |frame: &EventFrame| match &frame.event {
            Event::ItemEnded {
                item: Item::AgentMessage { text, .. },
            } => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(said).collect()
    }
}
