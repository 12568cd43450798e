//! Records of a log as far as a row depends on them.

use std::borrow::Cow;

use serde::Deserialize;
use sessiond_log::RecordView;
use sessiond_protocol::{
    Content, Cursor, Event, EventFrame, Finish, Item, Marker, SessionId, limits,
};

/// Longest first prompt that is kept for searches, in characters.
const PROMPT_CHARS: usize = limits::FILTER_CHARS;

/// A record's data, without what no row depends on.
#[derive(Deserialize)]
struct Data {
    event: Event,
}

/// What kind of item a record is about. Most are tool calls, and large: those are not read.
#[derive(Deserialize)]
struct ItemData<'a> {
    #[serde(borrow)]
    event: ItemEvent<'a>,
}

#[derive(Deserialize)]
struct ItemEvent<'a> {
    #[serde(borrow)]
    item: ItemType<'a>,
}

#[derive(Deserialize)]
struct ItemType<'a> {
    #[serde(rename = "type", borrow)]
    name: Cow<'a, str>,
}

/// What kind of marker a record is. Checkpoints are large, and hold what the records before say.
#[derive(Deserialize)]
struct MarkerData<'a> {
    #[serde(borrow)]
    event: MarkerEvent<'a>,
}

#[derive(Deserialize)]
struct MarkerEvent<'a> {
    #[serde(rename = "marker", borrow)]
    name: Cow<'a, str>,
}

/// The event of a record, if a row depends on it, without what no row holds.
pub(crate) fn relevant(session: SessionId, record: &RecordView<'_>) -> Option<EventFrame> {
    let whole = || -> Option<Event> {
        let data: Data = serde_json::from_str(record.data).ok()?;
        slim(&data.event)
    };
    let event = match record.kind {
        "session.opened" | "session.changed" | "turn.started" => whole()?,
        "item.ended" => {
            let data: ItemData<'_> = serde_json::from_str(record.data).ok()?;
            match &*data.event.item.name {
                "agent_message" => agent_message(),
                "user_message" => whole()?,
                _ => return None,
            }
        }
        "marker" => {
            let data: MarkerData<'_> = serde_json::from_str(record.data).ok()?;
            match &*data.event.name {
                "fork" => whole()?,
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(EventFrame {
        session,
        cursor: Some(Cursor(record.seq)),
        turn: None,
        item: None,
        cause: None,
        at: Some(record.at.to_owned()),
        event,
    })
}

/// An event as far as a row depends on it.
pub(crate) fn slim(event: &Event) -> Option<Event> {
    match event {
        Event::SessionOpened(_)
        | Event::SessionChanged(_)
        | Event::TurnStarted { .. }
        | Event::Marker(Marker::Fork { .. }) => Some(event.clone()),
        Event::ItemEnded {
            item: Item::UserMessage { content },
        } => Some(user_message(content)),
        Event::ItemEnded {
            item: Item::AgentMessage { .. },
        } => Some(agent_message()),
        _ => None,
    }
}

/// The text of a prompt, where the event is one.
pub(crate) fn prompt(event: &Event) -> Option<&str> {
    match event {
        Event::ItemEnded {
            item: Item::UserMessage { content },
        } => content.iter().find_map(Content::as_text),
        _ => None,
    }
}

fn user_message(content: &[Content]) -> Event {
    let text = content.iter().find_map(Content::as_text);
    let text = text.map(|text| text.chars().take(PROMPT_CHARS).collect::<String>());
    let content = text.into_iter().map(Content::text).collect();
    Event::ItemEnded {
        item: Item::UserMessage { content },
    }
}

fn agent_message() -> Event {
    let (text, finish) = (String::new(), Finish::Whole);
    Event::ItemEnded {
        item: Item::AgentMessage { text, finish },
    }
}
