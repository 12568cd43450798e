//! Version 2 of the protocol on the same stage.

pub(crate) mod schema;

mod cancel;
mod compaction;
mod config;
mod edges;
mod fold;
mod negotiation;
mod order;
mod questions;
mod replay;
mod sessions;
mod updates;

use serde_json::{Value, json};
use sessiond_acp::Versions;
use sessiond_protocol::{
    Accepted, Content, Event, EventFrame, Item, ItemId, ServerFrame, TurnConfig, TurnId,
    prompt_item,
};
use tokio::time::timeout;

use crate::harness::{DEADLINE, S, Stage, session, turn, view};

/// A face whose client speaks version 2 and can do this.
async fn initialized(capabilities: Value) -> Stage {
    let mut stage = Stage::speaking(Versions::Auto, 2).await;
    let params = json!({"protocolVersion": 2, "info": {"name": "client", "version": "1"},
        "capabilities": capabilities});
    stage.request(0, "initialize", params).await;
    assert_eq!(stage.result(0).await["protocolVersion"], 2);
    stage
}

/// A face with one session.
async fn with_session(capabilities: Value) -> Stage {
    let mut stage = initialized(capabilities).await;
    stage.request(1, "session/new", json!({"cwd": "/w"})).await;
    let new = stage.submitted().await;
    stage.accept(&new, Accepted::Session(Box::new(view())));
    stage.result(1).await;
    stage
}

/// A face with one session in which a turn runs for the request with id `2`.
async fn with_turn(capabilities: Value) -> Stage {
    let mut stage = with_session(capabilities).await;
    stage.prompt(2, turn(1)).await;
    stage.begin(turn(1));
    assert_eq!(stage.update().await, running());
    stage.update().await;
    assert_eq!(stage.result(2).await, json!({"messageId": turn(1)}));
    stage
}

fn running() -> Value {
    json!({"sessionUpdate": "state_update", "state": "running"})
}

fn blocked() -> Value {
    json!({"sessionUpdate": "state_update", "state": "requires_action"})
}

fn idle(reason: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
}

/// How a turn begins.
fn started() -> Event {
    Event::TurnStarted {
        base: sessiond_protocol::Cursor(1),
        config: TurnConfig {
            agent: "script".into(),
            version: None,
            model: None,
            mode: None,
            cwd: "/w".into(),
            permission: None,
            policy: 0,
        },
        keyed: None,
    }
}

/// What the user says.
fn said(text: &str) -> Event {
    Event::ItemEnded {
        item: Item::UserMessage {
            content: vec![Content::text(text)],
        },
    }
}

fn text_of(id: impl ToString, voice: &str, text: &str) -> Value {
    let id = id.to_string();
    json!({"sessionUpdate": voice, "messageId": id, "content": {"type": "text", "text": text}})
}

impl Stage {
    /// The next frame that the client gets, as it is.
    async fn heard(&mut self) -> Value {
        let frame = timeout(DEADLINE, self.out.recv()).await;
        let frame = frame.expect("a frame in time").unwrap();
        serde_json::from_str(&frame.text()).unwrap()
    }

    /// Something ephemeral happens.
    fn pass_in(&mut self, turn: Option<TurnId>, item: Option<ItemId>, event: Event) {
        self.say(ServerFrame::Event(EventFrame {
            turn,
            item,
            ..EventFrame::new(session(), event)
        }));
    }

    /// A turn begins with its prompt.
    fn begin(&mut self, turn: TurnId) {
        self.happen_in(Some(turn), None, started());
        self.happen_in(Some(turn), Some(prompt_item(turn)), said("hi"));
    }

    /// The client asks about its one session.
    async fn ask_about(&mut self, id: u64, method: &str, mut more: Value) {
        more["sessionId"] = S.into();
        self.request(id, method, more).await;
    }
}

fn starts(item: Item) -> Event {
    Event::ItemStarted { item }
}

fn ends(item: Item) -> Event {
    Event::ItemEnded { item }
}

/// A call's id as its frames have it.
fn shown(id: ItemId) -> Value {
    Value::String(id.to_string())
}
