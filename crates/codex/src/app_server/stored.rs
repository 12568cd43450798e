//! A face over an engine that has the log of one session.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, Cursor, OnDisconnect, Op, Receipt, ServerFrame, Submission, Verdict,
};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::RpcFrame;
use sessiond_wire::stdio::Encode as _;
use uuid::Uuid;

use super::face::Face;
use super::serve::Options;
use crate::settings::Settings;

/// Events of a log page that the engine gives.
const READ: u64 = 50;

pub(super) fn id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number))
}

/// A face over an engine that has one log: turns of four events each, the first event a header.
pub(super) struct Client {
    pub(super) face: Face,
    queue: OutQueue<RpcFrame>,
    pub(super) log: Vec<Value>,
    /// How many events were read.
    pub(super) read: usize,
    /// What the agent says beside the number of the turn.
    pub(super) more: String,
}

/// A face of the script agent that was told nothing yet, and the way to its client.
pub(super) fn face() -> (Face, OutQueue<RpcFrame>) {
    let queue = OutQueue::new();
    let options = Options {
        agent: "script".to_owned(),
        home: "/h".to_owned(),
        cwd: "/w".to_owned(),
        on_disconnect: OnDisconnect::Cancel,
        accept: Vec::new(),
        settings: Settings::default(),
        picture: None,
    };
    (Face::new(queue.clone(), options), queue)
}

impl Client {
    pub(super) fn new(turns: u64) -> Self {
        let (mut face, queue) = face();
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "clientInfo": client, "capabilities": {} });
        face.line(&json!({ "id": 0, "method": "initialize", "params": params }).to_string());
        let mut client = Self {
            face,
            queue,
            log: Vec::new(),
            read: 0,
            more: String::new(),
        };
        client.append(0, 0, json!({
            "type": "session.opened", "start": "new", "id": id(1), "format": 1, "program": "p",
            "source": "codex-app-server", "cwd": "/w", "agent": { "name": "script", "version": null },
            "model": null, "instructions": null, "mode": "ask", "principal": null,
            "workspace": { "root": null, "repository": null, "worktree": null, "branch": null },
            "parent": null,
        }));
        for turn in 1..=turns {
            client.turn(turn);
        }
        client
    }

    pub(super) fn turn(&mut self, number: u64) {
        let turn = number * 10;
        let config = json!({ "agent": "script", "version": null, "model": null, "mode": null,
            "cwd": "/w", "policy": 0 });
        let content = json!([{ "type": "text", "text": format!("say {number}") }]);
        let user = json!({ "type": "user_message", "content": content });
        let agent =
            json!({ "type": "agent_message", "text": format!("said {number}{}", self.more) });
        self.append(
            turn,
            0,
            json!({ "type": "turn.started", "base": 1, "config": config }),
        );
        self.append(turn, turn, json!({ "type": "item.ended", "item": user }));
        self.append(
            turn,
            turn + 1,
            json!({ "type": "item.ended", "item": agent }),
        );
        let ended =
            json!({ "type": "turn.ended", "outcome": "completed", "stop": null, "bookmark": 0 });
        self.append(turn, 0, ended);
    }

    pub(super) fn append(&mut self, turn: u64, item: u64, event: Value) {
        let mut frame = json!({
            "session": id(1), "cursor": self.log.len() + 1, "at": "2026-01-01T00:00:00Z",
            "event": event,
        });
        for (name, number) in [("turn", turn), ("item", item)] {
            if number > 0 {
                frame[name] = json!(id(number));
            }
        }
        self.log.push(frame);
    }

    /// Asks for a page: its result.
    pub(super) async fn page(&mut self, method: &str, more: &Value) -> Value {
        let mut params = json!({ "threadId": id(1) });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.face
            .line(&json!({ "id": 1, "method": method, "params": params }).to_string());
        self.serve();
        let mut frames = Vec::new();
        self.queue.recv_many(&mut frames, 10_000).await;
        let answer: Value = serde_json::from_str(&frames.last().unwrap().text()).unwrap();
        answer["result"].clone()
    }

    /// Another face over the same log.
    pub(super) fn forget(&mut self) {
        let log = std::mem::take(&mut self.log);
        *self = Self::new(0);
        self.log = log;
    }

    /// Does what the engine does, until nothing is asked of it any more.
    pub(super) fn serve(&mut self) {
        while self.serve_some() {}
    }

    /// Answers what has been asked of the engine; whether anything was.
    pub(super) fn serve_some(&mut self) -> bool {
        let outbox = self.face.take_outbox();
        let asked = !outbox.is_empty();
        for frame in outbox {
            let ClientFrame::Submission(Submission { id, op, .. }) = frame else {
                panic!("{frame:?}");
            };
            let Op::SessionRead {
                after,
                before,
                limit,
                extent: _,
            } = op
            else {
                panic!("{op:?}");
            };
            let most = limit.map_or(READ, u64::from).min(READ);
            let most = usize::try_from(most).unwrap();
            let length = self.log.len();
            let within = |cursor: Cursor| usize::try_from(cursor.0).unwrap().min(length + 1);
            let (from, to, next) = match before {
                None => {
                    let from = within(after).min(length);
                    let to = (from + most).min(length);
                    (from, to, (to < length).then_some(to))
                }
                Some(before) => {
                    let to = within(before) - 1;
                    let from = to.saturating_sub(most).max(within(after));
                    (from, to, (from > within(after)).then_some(from + 1))
                }
            };
            self.read += to - from;
            let next = next.map(|next| Cursor(next as u64));
            let events = self.log[from..to].to_vec();
            let result = Verdict::Accepted(Accepted::Events { events, next });
            self.receipt(Receipt { id, result });
        }
        asked
    }

    pub(super) fn receipt(&mut self, receipt: Receipt) {
        self.face.frame(ServerFrame::Receipt(receipt));
    }

    /// What the client is sent, as it is written.
    pub(super) async fn written(&mut self) -> String {
        let mut frames = Vec::new();
        if !self.queue.is_empty() {
            self.queue.recv_many(&mut frames, 10_000).await;
        }
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| frame.encode(&mut bytes));
        String::from_utf8(bytes).unwrap()
    }
}
