//! Reads the transcripts of others, and around what is broken in them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Item, Talk, answer};

/// The entries of a transcript.
pub(super) struct Lines {
    entries: Vec<Value>,
    /// Lines that hold something else.
    pub(super) broken: usize,
}

/// Every entry, also of two on one line.
pub(super) fn lines(text: &str) -> Lines {
    let mut lines = Lines {
        entries: Vec::new(),
        broken: 0,
    };
    for line in text.lines().filter(|line| !line.is_empty()) {
        for value in serde_json::Deserializer::from_str(line).into_iter::<Value>() {
            match value {
                Ok(value) if value.is_object() => lines.entries.push(value),
                _ => lines.broken += 1,
            }
        }
    }
    lines
}

impl Lines {
    /// Whose it is.
    pub(super) fn shape(&self) -> &'static str {
        let codex = self
            .entries
            .first()
            .is_some_and(|entry| entry["payload"].is_object());
        if codex { "codex" } else { "claude" }
    }

    /// The id of the last entry of a chain; of a rollout nothing.
    pub(super) fn last(&self) -> Value {
        let mut ids = self.entries.iter().rev().map(|entry| entry["uuid"].clone());
        ids.find(Value::is_string).unwrap_or_default()
    }

    /// The conversation, in the order of the file.
    pub(super) fn talk(&self) -> Talk {
        let mut talk = Talk::default();
        let mut seen = BTreeSet::new();
        for entry in &self.entries {
            if self.shape() == "codex" {
                codex(entry, &mut talk);
            } else if seen.insert(entry["uuid"].to_string()) {
                claude(entry, &mut talk);
            }
        }
        talk
    }
}

fn owned(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn claude(entry: &Value, talk: &mut Talk) {
    if talk.session.is_empty() {
        talk.session = owned(&entry["sessionId"]);
        talk.cwd = owned(&entry["cwd"]);
    }
    let user = entry["type"] == "user";
    let mut say = |text: String| {
        let item = match user {
            true => Item::User(text),
            false => Item::Said(text),
        };
        talk.items.push(item);
    };
    if let Some(text) = entry["message"]["content"].as_str() {
        say(text.to_owned());
    }
    for block in entry["message"]["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") if user => talk.items.push(Item::User(owned(&block["text"]))),
            Some("text") => talk.items.push(Item::Said(owned(&block["text"]))),
            Some("thinking") => talk.thoughts += 1,
            Some("tool_use") => talk.items.push(Item::Call {
                id: owned(&block["id"]),
                name: owned(&block["name"]),
                input: block["input"].clone(),
                output: None,
            }),
            Some("tool_result") => {
                let id = owned(&block["tool_use_id"]);
                answer(&mut talk.items, Some(&id), owned(&block["content"]));
            }
            _ => {}
        }
    }
}

fn codex(entry: &Value, talk: &mut Talk) {
    let payload = &entry["payload"];
    let text = || {
        let parts = payload["content"].as_array().into_iter().flatten();
        parts.map(|part| owned(&part["text"])).collect::<String>()
    };
    match (entry["type"].as_str(), payload["type"].as_str()) {
        (Some("session_meta"), _) => {
            talk.session = owned(&payload["id"]);
            talk.cwd = owned(&payload["cwd"]);
        }
        (Some("response_item"), Some("message")) if payload["role"] == "user" => {
            talk.items.push(Item::User(text()));
        }
        (Some("response_item"), Some("message")) => talk.items.push(Item::Said(text())),
        (Some("response_item"), Some("function_call")) => talk.items.push(Item::Call {
            id: owned(&payload["call_id"]),
            name: owned(&payload["name"]),
            input: serde_json::from_str(&owned(&payload["arguments"])).unwrap_or_default(),
            output: None,
        }),
        (Some("response_item"), Some("function_call_output")) => {
            let id = owned(&payload["call_id"]);
            answer(&mut talk.items, Some(&id), owned(&payload["output"]));
        }
        _ => {}
    }
}
