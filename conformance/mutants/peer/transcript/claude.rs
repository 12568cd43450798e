//! A conversation as a transcript of Claude's.

use serde_json::{Value, json};

use super::{Item, Talk};
use crate::fault::on;

/// Entries, each hung on the one before.
struct Chain<'a> {
    talk: &'a Talk,
    entries: Vec<Value>,
    /// Whether the next block belongs to the message that is open, and its number.
    message: usize,
}

impl Chain<'_> {
    fn uuid(&self, number: usize) -> String {
        let begins = self
            .talk
            .session
            .get(..24)
            .unwrap_or("00000000-0000-4000-8000-");
        format!("{begins}{:012x}", number + 1)
    }

    fn last(&self) -> Value {
        let own = self.entries.last().map(|entry| entry["uuid"].clone());
        own.or_else(|| self.talk.after.clone()).unwrap_or_default()
    }

    fn entry(&mut self, kind: &str, more: Value) {
        let number = self.entries.len();
        let mut entry = json!({"parentUuid": self.last(), "isSidechain": false, "type": kind,
            "uuid": self.uuid(number), "timestamp": time(number), "sessionId": self.talk.session,
            "cwd": self.talk.cwd, "version": "2.1.332", "userType": "external"});
        for (name, value) in more.as_object().into_iter().flatten() {
            entry[name] = value.clone();
        }
        self.entries.push(entry);
    }

    fn user(&mut self, content: Value) {
        self.message += 1;
        self.entry(
            "user",
            json!({"message": {"role": "user", "content": content}}),
        );
    }

    fn agent(&mut self, block: Value) {
        let id = format!("msg_{}", self.message);
        self.entry(
            "assistant",
            json!({"message": {"id": id, "type": "message", "role": "assistant", "model": "peer",
                "content": [block], "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        );
    }
}

/// The lines of the file.
pub(super) fn lines(talk: &Talk) -> Vec<Value> {
    let mut chain = Chain {
        talk,
        entries: Vec::new(),
        message: 0,
    };
    for item in &talk.items {
        match item {
            Item::User(text) => chain.user(json!(text)),
            Item::Said(text) => chain.agent(json!({"type": "text", "text": text})),
            Item::Call {
                id,
                name,
                input,
                output,
            } => {
                chain.agent(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
                let output = output.as_deref().unwrap_or("interrupted");
                let call = chain.last();
                chain.user(json!([{"type": "tool_result", "tool_use_id": id, "content": output}]));
                if let Some(result) = chain.entries.last_mut() {
                    result["sourceToolAssistantUUID"] = call;
                }
            }
            Item::Summary(text) => {
                let before = chain.last();
                chain.entry(
                    "system",
                    json!({"subtype": "compact_boundary", "parentUuid": null,
                        "logicalParentUuid": before}),
                );
                chain.user(json!(text));
                if let Some(summary) = chain.entries.last_mut() {
                    summary["isCompactSummary"] = json!(true);
                }
            }
        }
    }
    let mut entries = chain.entries;
    let leaf = entries
        .last()
        .map_or(Value::Null, |entry| entry["uuid"].clone());
    spoil(&mut entries);
    let leaf = if on("transcript-leaf-unwritten") {
        json!("gone")
    } else {
        leaf
    };
    entries.push(json!({"type": "last-prompt", "leafUuid": leaf, "sessionId": talk.session}));
    entries
}

/// A moment for each line.
pub(super) fn time(number: usize) -> String {
    let (hours, minutes) = (number / 3600 % 24, number / 60 % 60);
    format!("2026-11-30T{hours:02}:{minutes:02}:{:02}.000Z", number % 60)
}

fn holds(entry: &Value, kind: &str) -> bool {
    entry["message"]["content"][0]["type"] == kind
}

/// What a fault makes of them.
fn spoil(entries: &mut Vec<Value>) {
    let Some(mut last) = entries.last().cloned() else {
        return;
    };
    let count = entries.len();
    let end = &mut entries[count - 1];
    if on("transcript-parent-missing") {
        end["parentUuid"] = json!("gone");
    }
    if on("transcript-branched") {
        end["parentUuid"] = Value::Null;
    }
    if on("transcript-other-session") {
        end["sessionId"] = json!("another");
    }
    if on("transcript-time-local") {
        end["timestamp"] = json!("2026-11-30 00:00:00");
    }
    if on("transcript-member-missing") {
        end["version"] = Value::Null;
    }
    if on("transcript-cycle") {
        entries[0]["parentUuid"] = last["uuid"].clone();
    }
    if on("transcript-child-first") && count > 1 {
        entries.swap(0, 1);
    }
    if on("transcript-uuid-twice") {
        entries.push(last.clone());
    }
    if on("transcript-message-split") {
        for entry in entries
            .iter_mut()
            .filter(|entry| entry["type"] == "assistant")
        {
            entry["message"]["id"] = json!("msg");
        }
    }
    if on("transcript-result-missing") {
        for entry in entries
            .iter_mut()
            .filter(|entry| holds(entry, "tool_result"))
        {
            entry["message"]["content"] = json!("nothing");
        }
    }
    if on("transcript-result-orphan") {
        let after = last["uuid"].clone();
        last["type"] = json!("user");
        last["uuid"] = json!("orphan");
        last["parentUuid"] = after;
        last["message"] = json!({"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "nobody's", "content": "x"}]});
        entries.push(last);
    }
    if on("transcript-results-doubled")
        && let Some(mut result) = entries
            .iter()
            .rev()
            .find(|entry| holds(entry, "tool_result"))
            .cloned()
    {
        result["uuid"] = json!("again");
        entries.push(result);
    }
    if on("transcript-sidechain-joined") && count > 1 {
        entries[0]["isSidechain"] = json!(true);
    }
    if on("transcript-boundary-loose") {
        for entry in entries
            .iter_mut()
            .filter(|entry| entry["subtype"] == "compact_boundary")
        {
            entry["logicalParentUuid"] = json!("gone");
        }
    }
}
