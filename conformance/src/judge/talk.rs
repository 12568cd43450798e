//! The conversation in a window, in a normal form: however it is cut into updates, and whether the
//! client or a replay says what the user said.

use serde_json::{Value, json};

use super::window::Window;
use crate::check::{Likeness, Speaker};
use crate::recording::{Recording, What};
use crate::tongue::Tongue;

/// What was said and done, in order.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) items: Vec<Item>,
    /// Every update as it came.
    pub(super) updates: Vec<Value>,
}

/// A thing said, or a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Said {
        by: Speaker,
        id: Value,
        text: String,
    },
    Tool {
        id: Value,
        fields: Value,
    },
}

/// The fields of a tool that a client shows.
const SHOWN: [&str; 6] = [
    "title",
    "kind",
    "status",
    "content",
    "locations",
    "rawInput",
];

impl Talk {
    pub(super) fn of(
        recording: &Recording,
        window: Window,
        session: &Value,
        spoken: impl Fn(usize) -> Tongue,
    ) -> Self {
        let mut talk = Self::default();
        for (index, entry) in recording.entries.iter().enumerate() {
            if !window.holds(index) {
                continue;
            }
            let tongue = spoken(entry.process);
            match &entry.what {
                // The others repeat what the user said.
                What::Sent(bytes) if tongue == Tongue::AcpV1 => {
                    if let Ok(frame) = serde_json::from_slice::<Value>(bytes) {
                        talk.prompt(&frame, session);
                    }
                }
                What::Line(line) if tongue == Tongue::Sqeq => {
                    if let Some(frame) = &line.json {
                        talk.event(frame, session);
                    }
                }
                What::Line(line) if tongue != Tongue::AcpV1 && tongue != Tongue::AcpV2 => {
                    let Some(frame) = &line.json else { continue };
                    match tongue {
                        Tongue::Claude => talk.stream_json(frame),
                        Tongue::Exec => talk.exec_line(frame),
                        _ => talk.app_frame(frame, session),
                    }
                }
                What::Line(line) => {
                    let update = line.json.as_ref().filter(|frame| {
                        frame["method"] == "session/update"
                            && frame["params"]["sessionId"] == *session
                    });
                    if let Some(frame) = update {
                        talk.update(&frame["params"]["update"]);
                    }
                }
                _ => {}
            }
        }
        talk
    }

    /// All text of one speaker.
    pub(super) fn text(&self, speaker: Speaker) -> String {
        self.items
            .iter()
            .filter_map(|item| match item {
                Item::Said { by, text, .. } if *by == speaker => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// All calls, as they are shown.
    pub(super) fn calls(&self) -> String {
        self.items
            .iter()
            .filter_map(|item| match item {
                Item::Tool { fields, .. } => Some(fields.to_string()),
                Item::Said { .. } => None,
            })
            .collect()
    }

    /// A message of the agent in this talk that another does not hold.
    pub(super) fn uncovered(&self, other: &Self) -> Option<String> {
        let whole = other.text(Speaker::Agent);
        self.items.iter().find_map(|item| match item {
            Item::Said {
                by: Speaker::Agent,
                text,
                ..
            } if !whole.contains(text.as_str()) => Some(text.clone()),
            _ => None,
        })
    }

    /// A message of the agent that a text does not hold.
    pub(super) fn not_in(&self, printed: &str) -> Option<String> {
        self.items.iter().find_map(|item| match item {
            Item::Said {
                by: Speaker::Agent,
                text,
                ..
            } if !printed.contains(text.as_str()) => Some(text.clone()),
            _ => None,
        })
    }

    /// A tool call that does not end.
    pub(super) fn open_tool(&self) -> Option<String> {
        self.items.iter().find_map(|item| match item {
            Item::Tool { fields, .. }
                if !["completed", "failed", "cancelled", "unknown"]
                    .iter()
                    .any(|over| fields["status"] == *over) =>
            {
                Some(super::short(fields))
            }
            _ => None,
        })
    }

    /// The first difference between two talks.
    pub(super) fn difference(&self, other: &Self, by: Likeness) -> Option<String> {
        if by == Likeness::Frames {
            let (one, two) = (&self.updates, &other.updates);
            let at = (0..one.len().max(two.len())).find(|at| one.get(*at) != two.get(*at))?;
            let show = |update: Option<&Value>| update.map_or("nothing".to_owned(), super::short);
            return Some(format!("{} / {}", show(one.get(at)), show(two.get(at))));
        }
        let (one, two) = (self.normal(by), other.normal(by));
        let at = (0..one.len().max(two.len())).find(|at| one.get(*at) != two.get(*at))?;
        let show = |item: Option<&Value>| item.map_or("nothing".to_owned(), super::short);
        Some(format!(
            "item {at}: {} / {}",
            show(one.get(at)),
            show(two.get(at))
        ))
    }

    fn normal(&self, by: Likeness) -> Vec<Value> {
        let ids = by == Likeness::Ids;
        let mut normal: Vec<Value> = Vec::new();
        for item in &self.items {
            match item {
                // What the client sent has no id to compare.
                Item::Said { by, .. } if ids && *by == Speaker::User => {}
                Item::Said { id, .. } if ids => normal.push(json!({"message": id})),
                Item::Tool { id, .. } if ids => normal.push(json!({"tool": id})),
                Item::Said { by, text, .. } => {
                    let by = format!("{by:?}");
                    match normal.last_mut() {
                        Some(last) if last["by"] == by => {
                            let before = last["text"].as_str().unwrap_or_default();
                            last["text"] = json!(format!("{before}{text}"));
                        }
                        _ => normal.push(json!({"by": by, "text": text})),
                    }
                }
                Item::Tool { fields, .. } => normal.push(fields.clone()),
            }
        }
        normal
    }

    fn prompt(&mut self, frame: &Value, session: &Value) {
        if frame["method"] != "session/prompt" || frame["params"]["sessionId"] != *session {
            return;
        }
        let blocks = frame["params"]["prompt"].as_array();
        let text = blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .collect();
        self.items.push(Item::Said {
            by: Speaker::User,
            id: Value::Null,
            text,
        });
    }

    fn update(&mut self, update: &Value) {
        self.updates.push(update.clone());
        let by = match update["sessionUpdate"].as_str() {
            Some("user_message_chunk") => Speaker::User,
            Some("agent_message_chunk") => Speaker::Agent,
            Some("agent_thought_chunk") => Speaker::Thought,
            Some("user_message") => return self.whole(Speaker::User, update),
            Some("agent_message") => return self.whole(Speaker::Agent, update),
            Some("agent_thought") => return self.whole(Speaker::Thought, update),
            Some("tool_call_content_chunk") => return self.content(update),
            Some("tool_call" | "tool_call_update") => return self.tool(update),
            _ => return,
        };
        let more = update["content"]["text"].as_str();
        // Nobody sees a chunk without a letter: it carries what a turn cost, say.
        let Some(more) = more.filter(|more| !more.is_empty()) else {
            return;
        };
        match self.items.last_mut() {
            Some(Item::Said { by: last, id, text })
                if *last == by && *id == update["messageId"] =>
            {
                text.push_str(more);
            }
            _ => self.items.push(Item::Said {
                by,
                id: update["messageId"].clone(),
                text: more.to_owned(),
            }),
        }
    }

    /// A message that replaces what was said of it.
    fn whole(&mut self, by: Speaker, update: &Value) {
        let blocks = update["content"].as_array();
        let text: String = blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .collect();
        self.said(by, &update["messageId"], |said| *said = text);
    }

    /// Changes the text of a message, which may be new.
    pub(super) fn said(
        &mut self,
        speaker: Speaker,
        message: &Value,
        change: impl FnOnce(&mut String),
    ) {
        let known = self.items.iter_mut().find_map(|item| match item {
            Item::Said { id, text, .. } if id == message => Some(text),
            _ => None,
        });
        if let Some(text) = known {
            return change(text);
        }
        let mut text = String::new();
        change(&mut text);
        self.items.push(Item::Said {
            by: speaker,
            id: message.clone(),
            text,
        });
    }

    /// More content of a call.
    fn content(&mut self, update: &Value) {
        let mut items = self.items.iter_mut();
        let known = items.find_map(|item| match item {
            Item::Tool { id, fields } if *id == update["toolCallId"] => Some(fields),
            _ => None,
        });
        if let Some(fields) = known {
            let mut content = fields["content"].as_array().cloned().unwrap_or_default();
            content.push(update["content"].clone());
            fields["content"] = content.into();
        }
    }

    /// An event of the native protocol.
    fn event(&mut self, frame: &Value, session: &Value) {
        if frame["type"] != "event" || frame["session"] != *session {
            return;
        }
        self.updates.push(frame.clone());
        let (event, id) = (&frame["event"], &frame["item"]);
        let item = match event["type"].as_str() {
            Some("item.started" | "item.ended") => &event["item"],
            Some("item.changed") => &event["call"],
            Some("item.partial" | "item.delta") if event["stream"] != "output" => {
                let by = speaker(&event["kind"]).unwrap_or(Speaker::Agent);
                let offset = event["offset"].as_u64().unwrap_or(0);
                let more = event["text"].as_str().unwrap_or_default();
                return self.said(by, id, |text| {
                    let at = usize::try_from(offset).unwrap_or(0);
                    if text.is_char_boundary(at) {
                        text.truncate(at);
                    }
                    text.push_str(more);
                });
            }
            _ => return,
        };
        if item["type"] == "tool_call" {
            let mut fields = item.clone();
            fields["toolCallId"] = id.clone();
            fields["rawInput"] = item["input"].clone();
            return self.tool(&fields);
        }
        let Some(by) = speaker(&item["type"]) else {
            return;
        };
        let blocks = item["content"].as_array().into_iter().flatten();
        let blocks: String = blocks.filter_map(|block| block["text"].as_str()).collect();
        let whole = item["text"].as_str().map_or(blocks, str::to_owned);
        self.said(by, id, |text| *text = whole);
    }

    pub(super) fn tool(&mut self, update: &Value) {
        let known = self.items.iter_mut().find_map(|item| match item {
            Item::Tool { id, fields } if *id == update["toolCallId"] => Some(fields),
            _ => None,
        });
        let changed = SHOWN
            .iter()
            .filter_map(|field| Some((*field, update.get(field).filter(|v| !v.is_null())?)));
        match known {
            Some(fields) => {
                for (field, value) in changed {
                    fields[field] = value.clone();
                }
            }
            None => {
                let mut fields = json!({});
                for (field, value) in changed {
                    fields[field] = value.clone();
                }
                self.items.push(Item::Tool {
                    id: update["toolCallId"].clone(),
                    fields,
                });
            }
        }
    }
}

/// Who says items of a kind.
fn speaker(kind: &Value) -> Option<Speaker> {
    match kind.as_str() {
        Some("user_message") => Some(Speaker::User),
        Some("agent_message") => Some(Speaker::Agent),
        Some("thought") => Some(Speaker::Thought),
        _ => None,
    }
}
