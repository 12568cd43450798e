//! A stage: the face in the middle, the test plays the client and the engine.

use std::time::Duration;

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, Hello, Limits, Party, PersistenceState, Receipt, ServerFrame,
    Submission, SubmissionId, Verdict, Welcome,
};
use sessiond_sqeq::{FaceError, Served, serve};
use sessiond_wire::{Line, OutQueue, ServerEnd, pair};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long anything may take that should happen at once. Liveness only.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

pub(crate) const SESSION: &str = "0199ab01-1234-7abc-8def-0123456789ab";

/// The face with both of its ends in the test's hands.
pub(crate) struct Stage {
    pub(crate) lines: Option<mpsc::Sender<Line>>,
    pub(crate) out: OutQueue<ServerFrame>,
    pub(crate) engine: ServerEnd,
    pub(crate) face: JoinHandle<Result<Served, FaceError>>,
}

impl Stage {
    /// A face that was told nothing yet.
    pub(crate) fn new() -> Self {
        let (lines, receiver) = mpsc::channel(4);
        let (waist, engine) = pair();
        let out = OutQueue::new();
        let face = tokio::spawn(serve(receiver, out.clone(), waist));
        let lines = Some(lines);
        Self {
            lines,
            out,
            engine,
            face,
        }
    }

    /// A face whose client and engine have greeted each other.
    pub(crate) async fn greeted() -> Self {
        let mut stage = Self::new();
        stage.say(&hello()).await;
        let hello = stage.sent().await;
        assert!(matches!(hello, ClientFrame::Hello(Hello { .. })));
        stage.engine.out.push(ServerFrame::Welcome(Welcome {
            version: 1,
            server: Party {
                name: "sessiond".into(),
                version: "1".into(),
            },
            incarnation: "i".into(),
            limits: Limits::default(),
            persistence: PersistenceState::On,
        }));
        assert!(matches!(stage.told().await, ServerFrame::Welcome(_)));
        stage
    }

    /// The client writes a line.
    pub(crate) async fn line(&self, line: Line) {
        let lines = self.lines.as_ref().unwrap();
        timeout(DEADLINE, lines.send(line)).await.unwrap().unwrap();
    }

    /// The client writes a frame.
    pub(crate) async fn say(&self, frame: &Value) {
        self.line(Line::Text(frame.to_string())).await;
    }

    /// The client submits.
    pub(crate) async fn submit(&self, id: &str, op: &Value) {
        self.say(&submission(id, op)).await;
    }

    /// The next frame that the client gets.
    pub(crate) async fn told(&self) -> ServerFrame {
        let frame = timeout(DEADLINE, self.out.recv()).await;
        frame.expect("a frame in time").expect("the queue is open")
    }

    /// The next frame that the engine gets.
    pub(crate) async fn sent(&mut self) -> ClientFrame {
        let frame = timeout(DEADLINE, self.engine.recv()).await;
        frame.expect("a frame in time").expect("the face is there")
    }

    /// The submission in the next frame, which must be one.
    pub(crate) async fn submitted(&mut self) -> Submission {
        match self.sent().await {
            ClientFrame::Submission(submission) => submission,
            other => panic!("{other:?}"),
        }
    }

    /// The engine accepts a submission.
    pub(crate) fn accept(&self, id: &SubmissionId) {
        let result = Verdict::Accepted(Accepted::Done {});
        let id = id.clone();
        self.engine
            .out
            .push(ServerFrame::Receipt(Receipt { id, result }));
    }

    /// How the face ended.
    pub(crate) async fn ended(self) -> Result<Served, FaceError> {
        timeout(DEADLINE, self.face).await.unwrap().unwrap()
    }
}

pub(crate) fn hello() -> Value {
    json!({"v": 1, "type": "hello", "versions": [1], "client": {"name": "t", "version": "1"}})
}

pub(crate) fn submission(id: &str, op: &Value) -> Value {
    json!({"v": 1, "type": "submission", "id": id, "session": SESSION, "op": op})
}

/// An operation of no consequence.
pub(crate) fn list() -> Value {
    json!({"type": "session.list"})
}
