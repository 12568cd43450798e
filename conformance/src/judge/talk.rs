//! The conversation in a window, in a normal form: however it is cut into updates, and whether the
//! client or a replay says what the user said.

use serde_json::{Value, json};

use super::window::Window;
use crate::check::{Likeness, Speaker};
use crate::recording::{Recording, What};

/// What was said and done, in order.
#[derive(Debug, Default)]
pub(super) struct Talk {
    items: Vec<Item>,
    /// Every update as it came.
    updates: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
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
    pub(super) fn of(recording: &Recording, window: Window, session: &Value) -> Self {
        let mut talk = Self::default();
        for (index, entry) in recording.entries.iter().enumerate() {
            if !window.holds(index) {
                continue;
            }
            match &entry.what {
                What::Sent(bytes) => {
                    if let Ok(frame) = serde_json::from_slice::<Value>(bytes) {
                        talk.prompt(&frame, session);
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

    /// A tool call that does not end.
    pub(super) fn open_tool(&self) -> Option<String> {
        self.items.iter().find_map(|item| match item {
            Item::Tool { fields, .. }
                if fields["status"] != "completed" && fields["status"] != "failed" =>
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
            Some("tool_call" | "tool_call_update") => return self.tool(update),
            _ => return,
        };
        let Some(more) = update["content"]["text"].as_str() else {
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

    fn tool(&mut self, update: &Value) {
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
