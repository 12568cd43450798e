//! Short ways to write items, events, and how chunks are shown.

use serde_json::{Value, json};
use sessiond_protocol::{Content, Event, Finish, Item, ItemId, Stream, ToolCall};

pub(crate) fn chunk(kind: &str, id: ItemId, text: &str) -> Value {
    json!({
        "sessionUpdate": format!("{kind}_chunk"), "messageId": id.to_string(),
        "content": {"type": "text", "text": text},
    })
}

pub(crate) fn message(text: &str) -> Item {
    Item::AgentMessage {
        text: text.into(),
        finish: Finish::Whole,
    }
}

pub(crate) fn thinking(text: &str) -> Item {
    Item::Thought {
        text: text.into(),
        finish: Finish::Whole,
    }
}

pub(crate) fn user(text: &str) -> Item {
    Item::UserMessage {
        content: vec![Content::text(text)],
    }
}

pub(crate) fn tool(call: &ToolCall) -> Item {
    Item::ToolCall(Box::new(call.clone()))
}

pub(crate) fn started(item: Item) -> Event {
    Event::ItemStarted { item }
}

pub(crate) fn changed(call: &ToolCall) -> Event {
    Event::ItemChanged {
        call: Box::new(call.clone()),
    }
}

pub(crate) fn ended_item(item: Item) -> Event {
    Event::ItemEnded { item }
}

pub(crate) fn delta(offset: u64, text: &str) -> Event {
    Event::ItemDelta {
        stream: Stream::Text,
        offset,
        text: text.into(),
    }
}
