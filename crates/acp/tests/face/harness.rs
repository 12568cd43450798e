//! A stage: the face in the middle, the test plays the client and the engine.

use std::collections::HashMap;
use std::time::Duration;

use agent_client_protocol_schema::v1;
use serde_json::{Value, json};
use sessiond_acp::{FaceError, Options, Versions, serve};
use sessiond_protocol::{
    Accepted, AgentId, AgentInfo, Answer, ClientFrame, Command, Cursor, DriftClass, Event,
    EventFrame, ItemId, Limits, Mode, ModePolicy, Op, Party, PersistenceState, Receipt,
    ServerFrame, SessionId, SessionView, Stop, Submission, TurnEnded, TurnId, TurnOutcome, Verdict,
    Welcome, WireError,
};
use sessiond_wire::rpc::RpcFrame;
use sessiond_wire::{Line, OutQueue, ServerEnd, pair};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::reading::reads_as;

/// How long anything may take that should happen at once. Liveness only.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

pub(crate) const S: &str = "00000000-0000-7000-8000-000000000001";
pub(crate) const OTHER: &str = "00000000-0000-7000-8000-000000000002";

pub(crate) fn session() -> SessionId {
    S.parse().unwrap()
}

pub(crate) fn turn(number: u8) -> TurnId {
    format!("00000000-0000-7000-8000-0000000001{number:02}")
        .parse()
        .unwrap()
}

pub(crate) fn item(number: u8) -> ItemId {
    format!("00000000-0000-7000-8000-0000000002{number:02}")
        .parse()
        .unwrap()
}

/// The face with both of its ends in the test's hands.
pub(crate) struct Stage {
    pub(crate) lines: Option<mpsc::Sender<Line>>,
    pub(crate) out: OutQueue<RpcFrame>,
    pub(crate) engine: ServerEnd,
    pub(crate) face: JoinHandle<Result<(), FaceError>>,
    /// What the client asked, by id: answers are read as its schema says.
    asked: HashMap<String, String>,
    /// The version of the protocol that frames are read as.
    version: u16,
    cursor: u64,
    was_prompted: bool,
}

impl Stage {
    /// A face that greeted the engine.
    pub(crate) async fn new() -> Self {
        Self::speaking(Versions::V1, 1).await
    }

    /// A face that speaks these versions, and a client that reads as this one.
    pub(crate) async fn speaking(versions: Versions, version: u16) -> Self {
        Self::accepting(Vec::new(), (versions, version)).await
    }

    /// The same for a user who accepts this of what has changed since a session was recorded.
    pub(crate) async fn accepting(accept: Vec<DriftClass>, of: (Versions, u16)) -> Self {
        let (versions, version) = of;
        let (lines, receiver) = mpsc::channel(4);
        let (waist, mut engine) = pair();
        let out = OutQueue::new();
        let options = Options {
            agent: Some("script".into()),
            store: Some("/store".into()),
            accept,
            versions,
            on_disconnect: sessiond_protocol::OnDisconnect::Cancel,
        };
        let face = tokio::spawn(serve(receiver, out.clone(), waist, options));
        let hello = timeout(DEADLINE, engine.recv()).await.unwrap();
        assert!(matches!(hello, Some(ClientFrame::Hello(hello)) if hello.client.name == "acp"));
        engine.out.push(ServerFrame::Welcome(Welcome {
            version: 1,
            server: Party {
                name: "sessiond".into(),
                version: "1".into(),
            },
            incarnation: "i".into(),
            limits: Limits::default(),
            persistence: PersistenceState::On,
        }));
        Self {
            lines: Some(lines),
            out,
            engine,
            face,
            asked: HashMap::new(),
            version,
            cursor: 0,
            // Version 2 tells the commands in its answers.
            was_prompted: version > 1,
        }
    }

    /// A face whose client said what it can do.
    pub(crate) async fn initialized(capabilities: Value) -> Self {
        let mut stage = Self::new().await;
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        stage.request(0, "initialize", params).await;
        stage.told().await;
        stage
    }

    /// A face with one session.
    pub(crate) async fn with_session(capabilities: Value) -> Self {
        let mut stage = Self::initialized(capabilities).await;
        stage
            .request(1, "session/new", json!({"cwd": "/w", "mcpServers": []}))
            .await;
        let new = stage.submitted().await;
        stage.accept(&new, Accepted::Session(Box::new(view())));
        stage.told().await;
        stage.told().await;
        stage
    }

    /// A face with one session in which a turn runs for the request with id `2`.
    pub(crate) async fn with_turn(capabilities: Value) -> Self {
        let mut stage = Self::with_session(capabilities).await;
        stage.prompt(2, turn(1)).await;
        stage
    }

    /// Prompts, and has the engine give the turn this name.
    pub(crate) async fn prompt(&mut self, id: u64, turn: TurnId) {
        let prompt = json!([{"type": "text", "text": "hi"}]);
        self.request(
            id,
            "session/prompt",
            json!({"sessionId": S, "prompt": prompt}),
        )
        .await;
        let start = self.submitted().await;
        self.accept(&start, Accepted::Turn { turn });
        // acp.md 5.3: the commands are told again, once.
        if !std::mem::replace(&mut self.was_prompted, true) && self.version == 1 {
            assert_eq!(self.update().await, commands_shown());
        }
    }

    /// The client writes a line.
    pub(crate) async fn line(&self, line: impl Into<String>) {
        let lines = self.lines.as_ref().unwrap();
        timeout(DEADLINE, lines.send(Line::Text(line.into())))
            .await
            .unwrap()
            .unwrap();
    }

    /// The client asks.
    pub(crate) async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id = id.into();
        self.asked.insert(id.to_string(), method.to_owned());
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.line(frame.to_string()).await;
    }

    /// The client tells.
    pub(crate) async fn notify(&self, method: &str, params: Value) {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.line(frame.to_string()).await;
    }

    /// The client answers a request of the face.
    pub(crate) async fn answer(&self, request: &Value, result: Value) {
        let frame = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        self.line(frame.to_string()).await;
    }

    /// The next frame that the client gets, read as its schema says.
    pub(crate) async fn told(&mut self) -> Value {
        let frame = timeout(DEADLINE, self.out.recv())
            .await
            .expect("a frame in time")
            .unwrap();
        assert!(
            frame.text().len() < 1 << 20,
            "WIRE-4: frames stay under 1 MiB"
        );
        let frame: Value = serde_json::from_str(&frame.text()).unwrap();
        self.check(&frame);
        frame
    }

    /// The update in the next frame, which must be one.
    pub(crate) async fn update(&mut self) -> Value {
        let mut frame = self.told().await;
        assert_eq!(frame["method"], "session/update", "{frame}");
        assert_eq!(frame["params"]["sessionId"], S, "{frame}");
        frame["params"]["update"].take()
    }

    /// The error in the next frame, which must answer this request.
    pub(crate) async fn error(&mut self, id: impl Into<Value>) -> (i64, Value) {
        let frame = self.told().await;
        assert_eq!(frame["id"], id.into(), "{frame}");
        (
            frame["error"]["code"].as_i64().expect("an error"),
            frame["error"]["data"].clone(),
        )
    }

    /// The result in the next frame, which must answer this request.
    pub(crate) async fn result(&mut self, id: impl Into<Value>) -> Value {
        let mut frame = self.told().await;
        assert_eq!(frame["id"], id.into(), "{frame}");
        assert!(frame.get("error").is_none(), "{frame}");
        frame["result"].take()
    }

    /// Makes sure that nothing waits to be told: what the client asks now is what is told next. It
    /// stands behind what the engine said before, since the face asks the engine for it.
    pub(crate) async fn quiet(&mut self) {
        self.request("quiet", "session/list", json!({})).await;
        let list = self.submitted().await;
        self.accept(
            &list,
            Accepted::Sessions {
                sessions: vec![],
                next: None,
            },
        );
        assert_eq!(self.result("quiet").await, json!({"sessions": []}));
    }

    /// The next frame that the engine gets.
    pub(crate) async fn sent(&mut self) -> ClientFrame {
        timeout(DEADLINE, self.engine.recv())
            .await
            .expect("a frame in time")
            .unwrap()
    }

    /// The submission in the next frame, which must be one.
    pub(crate) async fn submitted(&mut self) -> Submission {
        match self.sent().await {
            ClientFrame::Submission(submission) => submission,
            other => panic!("{other:?}"),
        }
    }

    /// The operation in the next frame, which must be a submission.
    pub(crate) async fn op(&mut self) -> Op {
        self.submitted().await.op
    }

    /// The answer in the next frame, which must be one.
    pub(crate) async fn answered(&mut self) -> Answer {
        match self.sent().await {
            ClientFrame::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// The engine says.
    pub(crate) fn say(&self, frame: ServerFrame) {
        self.engine.out.push(frame);
    }

    /// The engine accepts.
    pub(crate) fn accept(&self, submission: &Submission, accepted: Accepted) {
        let result = Verdict::Accepted(accepted);
        self.say(ServerFrame::Receipt(Receipt {
            id: submission.id.clone(),
            result,
        }));
    }

    /// The engine refuses.
    pub(crate) fn refuse(&self, submission: &Submission, error: WireError) {
        let result = Verdict::Error(error);
        self.say(ServerFrame::Receipt(Receipt {
            id: submission.id.clone(),
            result,
        }));
    }

    /// Something ephemeral happens in the first turn.
    pub(crate) fn passing(&self, item: Option<ItemId>, event: Event) {
        self.say(ServerFrame::Event(EventFrame {
            item,
            ..frame(event)
        }));
    }

    /// Something durable happens in the first turn.
    pub(crate) fn happen(&mut self, item: Option<ItemId>, event: Event) {
        self.happen_in(Some(turn(1)), item, event);
    }

    /// Something durable happens.
    pub(crate) fn happen_in(&mut self, turn: Option<TurnId>, item: Option<ItemId>, event: Event) {
        self.cursor += 1;
        let cursor = Some(Cursor(self.cursor));
        self.say(ServerFrame::Event(EventFrame {
            cursor,
            turn,
            item,
            ..frame(event)
        }));
    }

    /// A turn ends.
    pub(crate) fn end(&mut self, turn: TurnId, outcome: TurnOutcome) {
        self.happen_in(Some(turn), None, ended(outcome, None, None));
    }

    /// The log is replayed from its beginning.
    pub(crate) fn rewind(&mut self) {
        self.cursor = 0;
    }

    fn check(&self, frame: &Value) {
        let params = &frame["params"];
        if self.version == 2 {
            return crate::v2::schema::check(frame, self.asked.get(&frame["id"].to_string()));
        }
        match frame["method"].as_str() {
            Some("session/update") => reads_as::<v1::SessionNotification>(params),
            Some("session/request_permission") => reads_as::<v1::RequestPermissionRequest>(params),
            Some("fs/read_text_file") => reads_as::<v1::ReadTextFileRequest>(params),
            Some("fs/write_text_file") => reads_as::<v1::WriteTextFileRequest>(params),
            Some("terminal/create") => reads_as::<v1::CreateTerminalRequest>(params),
            Some("terminal/output") => reads_as::<v1::TerminalOutputRequest>(params),
            Some("terminal/wait_for_exit") => reads_as::<v1::WaitForTerminalExitRequest>(params),
            Some("terminal/kill") => reads_as::<v1::KillTerminalRequest>(params),
            Some("terminal/release") => reads_as::<v1::ReleaseTerminalRequest>(params),
            Some("elicitation/create") => reads_as::<v1::CreateElicitationRequest>(params),
            Some("elicitation/complete") => {
                reads_as::<v1::CompleteElicitationNotification>(params);
            }
            // Nobody has a schema of these.
            Some(own) if own.starts_with('_') => {}
            Some("$/cancel_request") => reads_as::<v1::CancelRequestNotification>(params),
            Some(other) => panic!("the client knows no {other}"),
            None => self.check_answer(frame),
        }
    }

    fn check_answer(&self, frame: &Value) {
        assert!(
            frame.get("result").is_some() != frame.get("error").is_some(),
            "{frame}"
        );
        let asked = self.asked.get(&frame["id"].to_string()).map(String::as_str);
        let Some(result) = frame.get("result") else {
            return;
        };
        match asked {
            Some("initialize") => reads_as::<v1::InitializeResponse>(result),
            Some("authenticate") => reads_as::<v1::AuthenticateResponse>(result),
            Some("session/new") => reads_as::<v1::NewSessionResponse>(result),
            Some("session/load") => reads_as::<v1::LoadSessionResponse>(result),
            Some("session/list") => reads_as::<v1::ListSessionsResponse>(result),
            Some("session/close") => reads_as::<v1::CloseSessionResponse>(result),
            Some("session/prompt") => reads_as::<v1::PromptResponse>(result),
            Some("session/set_mode") => reads_as::<v1::SetSessionModeResponse>(result),
            Some("session/resume") => reads_as::<v1::ResumeSessionResponse>(result),
            Some("session/fork") => reads_as::<v1::ForkSessionResponse>(result),
            Some("session/delete") => reads_as::<v1::DeleteSessionResponse>(result),
            Some("session/archive") => reads_as::<v1::ArchiveSessionResponse>(result),
            Some("session/unarchive") => reads_as::<v1::UnarchiveSessionResponse>(result),
            Some("session/status") => reads_as::<v1::SessionStatusResponse>(result),
            Some("session/options") => reads_as::<v1::SessionOptionsResponse>(result),
            Some("session/set_title") => reads_as::<v1::SetSessionTitleResponse>(result),
            Some("auth/status") => reads_as::<v1::AuthStatusResponse>(result),
            Some(own) if own.starts_with('_') => {}
            Some("session/set_config_option") => {
                reads_as::<v1::SetSessionConfigOptionResponse>(result);
            }
            other => panic!("{other:?} was answered with {frame}"),
        }
    }
}

fn frame(event: Event) -> EventFrame {
    EventFrame {
        turn: Some(turn(1)),
        ..EventFrame::new(session(), event)
    }
}

/// The end of a turn.
pub(crate) fn ended(outcome: TurnOutcome, stop: Option<Stop>, error: Option<WireError>) -> Event {
    let bookmark = Cursor(1);
    Event::TurnEnded(TurnEnded {
        outcome,
        stop,
        usage: None,
        bookmark,
        error,
    })
}

/// A session of an agent with two modes and one command.
pub(crate) fn view() -> SessionView {
    let mode = |id: &str, policy| Mode {
        id: id.into(),
        name: id.to_uppercase(),
        description: format!("The {id} mode"),
        policy,
    };
    SessionView {
        attestation: None,
        used: None,
        session: session(),
        cwd: "/w".into(),
        title: None,
        agent: AgentInfo {
            id: AgentId {
                name: "script".into(),
                version: None,
            },
            modes: vec![
                mode("ask", ModePolicy::Ask),
                mode("auto", ModePolicy::Allow),
            ],
            options: Vec::new(),
            commands: vec![
                Command {
                    name: "run".into(),
                    description: "Runs a command".into(),
                    hint: Some("COMMAND".into()),
                },
                Command {
                    name: "usage".into(),
                    description: "Says usage".into(),
                    hint: None,
                },
            ],
        },
        mode: Some("ask".into()),
        roots: Vec::new(),
        cursor: Cursor(1),
        turn: None,
    }
}

/// How modes are shown, with this one in force.
pub(crate) fn modes_shown(current: &str) -> Value {
    let mode = |id: &str, name: &str| {
        let description = format!("The {id} mode");
        json!({"id": id, "name": name, "description": description})
    };
    json!({"currentModeId": current, "availableModes": [mode("ask", "ASK"), mode("auto", "AUTO")]})
}

/// How config options are shown, with this mode in force.
pub(crate) fn options_shown(current: &str) -> Value {
    let value = |id: &str, name: &str| {
        let description = format!("The {id} mode");
        json!({"value": id, "name": name, "description": description})
    };
    json!([{
        "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": current,
        "options": [value("ask", "ASK"), value("auto", "AUTO")],
    }])
}

/// How commands are shown.
pub(crate) fn commands_shown() -> Value {
    json!({"sessionUpdate": "available_commands_update", "availableCommands": [
        {"name": "run", "description": "Runs a command", "input": {"hint": "COMMAND"}},
        {"name": "usage", "description": "Says usage"},
    ]})
}

impl Stage {
    /// Why the turn of a prompt stopped, which the next frame must say.
    pub(crate) async fn result_of_prompt(&mut self, id: u64) -> Value {
        let mut result = self.result(id).await;
        result["stopReason"].take()
    }
}

/// Another session of the same agent.
pub(crate) fn other_view() -> SessionView {
    SessionView {
        session: OTHER.parse().unwrap(),
        ..view()
    }
}
