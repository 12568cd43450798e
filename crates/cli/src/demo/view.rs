//! What an editor shows of a session, put together from `session/update` notifications.

use std::time::{Duration, Instant};

use serde_json::Value;

/// One thing shown, in the order it first came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// Said by the user or the agent.
    Message {
        /// The message's id; marks that sessiond adds at a load have none.
        id: Option<String>,
        /// Whether the user said it.
        by: Speaker,
        /// The text so far.
        text: String,
        /// Whether it is marked as interrupted.
        interrupted: bool,
    },
    /// A tool call.
    Tool {
        /// Its id.
        id: String,
        /// Its title.
        title: String,
        /// Where it stands.
        status: String,
        /// What it shows, text only.
        text: String,
    },
}

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Agent,
}

/// All that is shown, and when how much text had come.
#[derive(Debug, Default)]
pub(super) struct View {
    /// In the order it first came.
    pub(super) shown: Vec<Shown>,
    /// Lines that were no JSON object: must stay 0.
    pub(super) polluted: usize,
    /// When each chunk of the newest message of the agent came, and its length then, in bytes.
    grown: Vec<(Instant, usize)>,
}

impl View {
    /// Takes in a line of the server; gives the message.
    pub(super) fn take_in(&mut self, line: &str) -> Value {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        if !message.is_object() {
            self.polluted += 1;
        }
        if let Some(update) = message.pointer("/params/update") {
            self.update(update);
        }
        message
    }

    fn update(&mut self, update: &Value) {
        let text = |pointer: &str| update.pointer(pointer).and_then(Value::as_str);
        match text("/sessionUpdate").unwrap_or_default() {
            "user_message_chunk" => self.chunk(Speaker::User, update),
            "agent_message_chunk" => self.chunk(Speaker::Agent, update),
            "tool_call" => self.shown.push(Shown::Tool {
                id: text("/toolCallId").unwrap_or_default().to_owned(),
                title: text("/title").unwrap_or_default().to_owned(),
                status: text("/status").unwrap_or("pending").to_owned(),
                text: tool_text(update),
            }),
            "tool_call_update" => self.tool_changed(update),
            _ => {}
        }
    }

    fn chunk(&mut self, by: Speaker, update: &Value) {
        let id = update
            .get("messageId")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let more = update
            .pointer("/content/text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let finish = update
            .pointer("/_meta/sessiond/finish")
            .and_then(Value::as_str);
        let cut = finish == Some("interrupted");
        match self.shown.last_mut() {
            Some(Shown::Message {
                id: last,
                text,
                interrupted,
                ..
            }) if id.is_some() && *last == id => {
                text.push_str(more);
                *interrupted |= cut;
            }
            _ => {
                self.grown.clear();
                let text = more.to_owned();
                self.shown.push(Shown::Message {
                    id,
                    by,
                    text,
                    interrupted: cut,
                });
            }
        }
        self.grown.push((Instant::now(), self.last_message().len()));
    }

    fn tool_changed(&mut self, update: &Value) {
        let changed = update
            .get("toolCallId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let tools = self.shown.iter_mut().rev();
        for shown in tools {
            let Shown::Tool {
                id, status, text, ..
            } = shown
            else {
                continue;
            };
            if id != changed {
                continue;
            }
            if let Some(new) = update.get("status").and_then(Value::as_str) {
                new.clone_into(status);
            }
            if update.get("content").is_some() {
                *text = tool_text(update);
            }
            return;
        }
    }

    /// The text of the newest message; empty where something else came last.
    pub(super) fn last_message(&self) -> &str {
        match self.shown.last() {
            Some(Shown::Message { text, .. }) => text,
            _ => "",
        }
    }

    /// The newest tool call's status; empty where there is none.
    pub(super) fn last_status(&self) -> &str {
        let tool = |shown: &'_ Shown| matches!(shown, Shown::Tool { .. });
        match self.shown.iter().rev().find(|shown| tool(shown)) {
            Some(Shown::Tool { status, .. }) => status,
            _ => "",
        }
    }

    /// How much of the newest message had come at least `age` before `now`, in bytes.
    pub(super) fn older_than(&self, now: Instant, age: Duration) -> usize {
        let old = |came: &Instant| now.saturating_duration_since(*came) >= age;
        self.grown
            .iter()
            .rev()
            .find(|(came, _)| old(came))
            .map_or(0, |(_, length)| *length)
    }
}

fn tool_text(update: &Value) -> String {
    let blocks = update.get("content").and_then(Value::as_array);
    let text = |block: &Value| {
        block
            .pointer("/content/text")
            .and_then(Value::as_str)
            .map(|text| text.trim().to_owned())
    };
    blocks
        .into_iter()
        .flatten()
        .filter_map(text)
        .collect::<Vec<_>>()
        .join("\n")
}
