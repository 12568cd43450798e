//! A running `sessiond sqeq` and its client.

use std::process::Command;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};
use sessiond_protocol::schema;

use super::{Home, PATIENCE, Server};

/// What the server may say.
static SERVER_FRAME: LazyLock<Validator> = LazyLock::new(|| {
    let all = schema::all();
    let server = all.iter().find(|one| one.name == "server-frame.json");
    jsonschema::validator_for(&server.unwrap().schema).unwrap()
});

/// The server, and what its client has submitted so far.
pub(crate) struct Native {
    pub(crate) server: Server,
    submitted: u32,
}

impl Native {
    /// A server that has been greeted.
    pub(crate) fn start(home: &Home) -> Native {
        Native::greeted(home.command(&["sqeq"]))
    }

    /// The same by another command.
    pub(crate) fn greeted(command: Command) -> Native {
        let mut native = Native::spawn(command);
        native.say(&hello());
        native.until("welcome", |frame| frame["type"] == "welcome");
        native
    }

    /// A server that has been told nothing yet.
    pub(crate) fn spawn(command: Command) -> Native {
        let server = Server::spawn(command);
        Native {
            server,
            submitted: 0,
        }
    }

    pub(crate) fn say(&mut self, frame: &Value) {
        self.server.say(frame);
    }

    /// Submits and gives the id.
    pub(crate) fn submit(&mut self, session: Option<&str>, op: &Value) -> String {
        self.submitted += 1;
        let id = format!("s{}", self.submitted);
        self.say(&submission(&id, session, op));
        id
    }

    /// Submits, waits for the receipt and gives it.
    #[track_caller]
    pub(crate) fn receipt(&mut self, session: Option<&str>, op: &Value) -> Value {
        let id = self.submit(session, op);
        self.until("a receipt", |frame| {
            frame["type"] == "receipt" && frame["id"] == *id
        })
    }

    /// Submits and gives what was accepted.
    #[track_caller]
    pub(crate) fn accepted(&mut self, session: Option<&str>, op: &Value) -> Value {
        let mut receipt = self.receipt(session, op);
        assert!(receipt["accepted"].is_object(), "{op}: {receipt}");
        receipt["accepted"].take()
    }

    /// A new session in the project's directory, attached with these members beside.
    #[track_caller]
    pub(crate) fn new_session(&mut self, home: &Home, more: &Value) -> String {
        let mut op = json!({"type": "session.new", "cwd": home.work()});
        let members = more.as_object().unwrap().clone();
        op.as_object_mut().unwrap().extend(members);
        text(&self.accepted(None, &op)["session"])
    }

    /// Attaches to a session and gives the frames that came before the receipt.
    #[track_caller]
    pub(crate) fn resume(&mut self, session: &str, replay: &Value) -> Vec<Value> {
        let begin = self.server.frames.len();
        let op = json!({"type": "session.resume", "session": session, "replay": replay});
        self.accepted(None, &op);
        let end = self.server.frames.len() - 1;
        self.server.frames[begin..end].to_vec()
    }

    /// Starts a turn and gives its id.
    #[track_caller]
    pub(crate) fn turn(&mut self, session: &str, prompt: &str) -> String {
        let input = json!([{"type": "text", "text": prompt}]);
        let op = json!({"type": "turn.start", "input": input});
        text(&self.accepted(Some(session), &op)["turn"])
    }

    /// Waits for an event of this type and gives its frame.
    #[track_caller]
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        self.until(kind, |frame| frame["event"]["type"] == kind)
    }

    /// Waits until the agent asks and gives the frame.
    #[track_caller]
    pub(crate) fn asked(&mut self) -> Value {
        self.until("a request", |frame| frame["type"] == "request")
    }

    /// Answers a request for permission.
    pub(crate) fn select(&mut self, request: &Value, option: &str) {
        self.say(&json!({"v": 1, "type": "answer", "request": request["id"],
            "digest": request["digest"], "outcome": {"type": "selected", "option": option}}));
    }

    /// Waits for a frame that comes from now on.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, wanted: impl FnMut(&Value) -> bool) -> Value {
        self.server.until(what, wanted)
    }

    /// Waits for its end, having read all; gives the exit code and every frame that came. Each is
    /// one that the published schema allows (SQEQ-10, WIRE-10).
    #[track_caller]
    pub(crate) fn ended(&mut self) -> (Option<i32>, Vec<Value>) {
        let frames = self.server.read_to_end().to_vec();
        for frame in &frames {
            assert!(SERVER_FRAME.is_valid(frame), "no frame: {frame}");
        }
        (self.server.exit(PATIENCE).code(), frames)
    }

    /// Says goodbye and waits for a good end; gives every frame that came.
    #[track_caller]
    pub(crate) fn quit(&mut self) -> Vec<Value> {
        self.say(&json!({"v": 1, "type": "bye"}));
        let (code, frames) = self.ended();
        assert_eq!(code, Some(0), "{}", self.server.stderr());
        assert_eq!(frames.last().unwrap()["type"], "bye");
        frames
    }
}

pub(crate) fn hello() -> Value {
    json!({"v": 1, "type": "hello", "versions": [1], "client": {"name": "t", "version": "1"}})
}

pub(crate) fn submission(id: &str, session: Option<&str>, op: &Value) -> Value {
    let mut frame = json!({"v": 1, "type": "submission", "id": id, "op": op});
    if let Some(session) = session {
        frame["session"] = json!(session);
    }
    frame
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
