//! One store for all that the peer speaks: what another of its faces recorded, as this one would have.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::fault::on;

/// What is spoken; it decides how records look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// The Agent Client Protocol: its updates.
    Acp,
    /// The native protocol: its events.
    Native,
    /// The app-server: texts and calls with their turns and items.
    App,
    /// The others: texts and calls.
    Plain,
}

static FACE: OnceLock<Face> = OnceLock::new();

/// Says once what is spoken.
pub(crate) fn speak(face: Face) {
    let _ = FACE.set(face);
}

/// What a record tells.
#[derive(Debug, Clone, PartialEq)]
enum Told {
    User(String),
    /// A piece of what the agent says.
    Piece(String),
    /// All that it said.
    Said(String),
    Call(String),
    /// How the call before it ended.
    Called(String),
    /// Nothing of the conversation.
    Other,
}

/// Whether this face recorded it.
fn own(face: Face, record: &Value) -> bool {
    match face {
        Face::Acp => record["sessionUpdate"].is_string(),
        Face::Native => record["event"].is_object(),
        Face::App if record["event"].is_object() => false,
        Face::App => record["turn"].is_string() || record["forked"].is_string(),
        Face::Plain => true,
    }
}

fn told(record: &Value) -> Told {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let plain = text(&record["user"]).map(Told::User);
    let plain = plain.or_else(|| text(&record["piece"]).map(Told::Piece));
    let plain = plain.or_else(|| text(&record["said"]).map(Told::Said));
    let plain = plain.or_else(|| text(&record["tool"]).map(Told::Call));
    let plain = plain.or_else(|| text(&record["called"]).map(Told::Called));
    if let Some(told) = plain {
        return told;
    }
    let content = &record["content"]["text"];
    let status = || text(&record["status"]).unwrap_or_default();
    match record["sessionUpdate"].as_str() {
        Some("user_message_chunk") => return Told::User(text(content).unwrap_or_default()),
        Some("agent_message_chunk") => return Told::Piece(text(content).unwrap_or_default()),
        Some("tool_call") => return Told::Call(text(&record["title"]).unwrap_or_default()),
        Some("tool_call_update") if record["status"].is_string() => return Told::Called(status()),
        _ => {}
    }
    let event = &record["event"];
    let item = &event["item"];
    let said = || text(&item["text"]).unwrap_or_default();
    match (event["type"].as_str(), item["type"].as_str()) {
        (Some("item.ended"), Some("user_message")) => {
            let blocks = item["content"].as_array().into_iter().flatten();
            Told::User(blocks.filter_map(|block| block["text"].as_str()).collect())
        }
        (Some("item.ended"), Some("agent_message")) => Told::Said(said()),
        (Some("item.partial"), _) => Told::Piece(text(&event["text"]).unwrap_or_default()),
        (Some("item.started"), Some("tool_call")) => {
            Told::Call(text(&item["title"]).unwrap_or_default())
        }
        (Some("item.ended"), Some("tool_call")) => {
            Told::Called(text(&item["status"]).unwrap_or_default())
        }
        _ => Told::Other,
    }
}

/// Whether another face recorded any of this.
pub(crate) fn foreign(records: &[Value]) -> bool {
    let face = FACE.get().copied().unwrap_or(Face::Acp);
    let others = |record: &Value| !own(face, record) && told(record) != Told::Other;
    match face {
        Face::Plain => {
            let faces = [Face::Acp, Face::Native, Face::App];
            let others = |record| faces.iter().any(|face| own(*face, record));
            records.iter().any(others)
        }
        _ => records.iter().any(others),
    }
}

/// The commands that were run.
pub(crate) fn commands(records: &[Value]) -> Vec<String> {
    let calls = records.iter().filter_map(|record| match told(record) {
        Told::Call(command) => Some(command),
        _ => None,
    });
    calls.collect()
}

/// A word for what is spoken.
pub(crate) fn word() -> String {
    format!("{:?}", FACE.get())
}

/// The records of a session as this face would have written them; the first has the number 1.
pub(crate) fn as_own(session: &str, records: Vec<Value>) -> Vec<Value> {
    let face = FACE.get().copied().unwrap_or(Face::Acp);
    if records.iter().all(|record| own(face, record)) {
        return records;
    }
    let all: Vec<Told> = records.iter().map(told).collect();
    let mut made = Maker::of(face, session);
    let mut own_records = Vec::with_capacity(records.len());
    for (at, record) in records.into_iter().enumerate() {
        if own(face, &record) {
            made.settle();
            own_records.push(record);
            continue;
        }
        let lost = match &all[at] {
            Told::User(_) => on("cross-prompts-lost"),
            Told::Piece(_) | Told::Said(_) => on("cross-answers-lost"),
            Told::Called(_) => on("cross-ends-lost"),
            Told::Call(_) | Told::Other => false,
        };
        if !lost {
            let over = all[at + 1..].iter().find(|told| **told != Told::Other);
            let over = matches!(over, Some(Told::Called(_)));
            own_records.extend(made.record(at + 1, &all[at], over));
        }
    }
    if on("cross-order-lost") {
        own_records.reverse();
    }
    own_records
}

/// Makes records, and remembers what the next belongs to.
struct Maker<'a> {
    face: Face,
    session: &'a str,
    turn: String,
    /// The message that is being said: its item, and its text so far.
    saying: Option<(String, String)>,
    call: (String, String),
}

impl<'a> Maker<'a> {
    fn of(face: Face, session: &'a str) -> Self {
        Self {
            face,
            session,
            turn: "before".to_owned(),
            saying: None,
            call: (String::new(), String::new()),
        }
    }

    fn settle(&mut self) {
        self.saying = None;
    }

    fn record(&mut self, number: usize, told: &Told, over: bool) -> Option<Value> {
        let name = format!("r{number}");
        match told {
            Told::Other => None,
            Told::User(text) => {
                self.settle();
                self.turn = format!("t{number}");
                Some(self.user(number, &name, text))
            }
            Told::Piece(text) => {
                let (item, so_far) = self.saying.take().unwrap_or((name, String::new()));
                let whole = format!("{so_far}{text}");
                let record = self.said(number, &item, text, &whole);
                self.saying = Some((item, whole));
                Some(record)
            }
            Told::Said(text) => match self.saying.take() {
                // It was said in pieces.
                Some(_) => None,
                None => Some(self.said(number, &name, text, text)),
            },
            Told::Call(command) => {
                self.settle();
                self.call = (name, command.clone());
                let status = if over || on("cross-calls-open") {
                    "pending"
                } else {
                    "failed"
                };
                Some(self.called(number, status, true))
            }
            Told::Called(status) => Some(self.called(number, status, false)),
        }
    }

    fn user(&self, number: usize, name: &str, text: &str) -> Value {
        let block = json!({"type": "text", "text": text});
        match self.face {
            Face::Acp => json!({"sessionUpdate": "user_message_chunk", "messageId": name,
                "content": block}),
            Face::Native => self.event(
                number,
                name,
                json!({"type": "item.ended",
                "item": {"type": "user_message", "content": [block]}}),
            ),
            Face::App | Face::Plain => json!({"user": text, "turn": self.turn, "item": name}),
        }
    }

    fn said(&self, number: usize, name: &str, piece: &str, whole: &str) -> Value {
        match self.face {
            Face::Acp => json!({"sessionUpdate": "agent_message_chunk", "messageId": name,
                "content": {"type": "text", "text": piece}}),
            Face::Native => self.event(
                number,
                name,
                json!({"type": "item.ended",
                "item": {"type": "agent_message", "text": whole}}),
            ),
            Face::App | Face::Plain => json!({"piece": piece, "turn": self.turn, "item": name}),
        }
    }

    fn called(&self, number: usize, status: &str, begins: bool) -> Value {
        let (name, command) = &self.call;
        match self.face {
            Face::Acp => {
                let kind = if begins {
                    "tool_call"
                } else {
                    "tool_call_update"
                };
                json!({"sessionUpdate": kind, "toolCallId": name, "title": command,
                    "kind": "execute", "status": status})
            }
            Face::Native => {
                let kind = if begins && status == "pending" {
                    "item.started"
                } else {
                    "item.ended"
                };
                self.event(
                    number,
                    name,
                    json!({"type": kind, "item": {"type": "tool_call",
                    "title": command, "kind": "execute", "status": status, "input": {}}}),
                )
            }
            Face::App | Face::Plain if begins => {
                json!({"tool": command, "turn": self.turn, "item": name})
            }
            Face::App | Face::Plain => json!({"called": status, "turn": self.turn, "item": name}),
        }
    }

    fn event(&self, number: usize, item: &str, event: Value) -> Value {
        json!({"v": 1, "type": "event", "session": self.session, "cursor": number,
            "turn": self.turn, "item": item, "event": event})
    }
}
