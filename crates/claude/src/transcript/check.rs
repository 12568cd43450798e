//! Whether a transcript keeps the rules that its readers rely on. It shares nothing with what writes
//! and what reads transcripts here, so that it catches the mistakes of both.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::Value;

/// A rule that a transcript breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// What was seen of the lines before.
#[derive(Default)]
struct Seen {
    /// Entries of the chain, with their lines.
    entries: HashMap<String, usize>,
    /// The entry of each call, and whether it has its result.
    calls: HashMap<String, (String, bool)>,
    messages: HashMap<String, String>,
    leaf: Option<(usize, String)>,
    roots: HashSet<usize>,
    flaws: Vec<Flaw>,
    line: usize,
}

/// Looks at all of a transcript that is nobody's in the middle of writing.
#[must_use]
pub fn check(transcript: &[u8]) -> Vec<Flaw> {
    let mut seen = Seen::default();
    if !transcript.is_empty() && !transcript.ends_with(b"\n") {
        seen.line = transcript.split(|b| *b == b'\n').count();
        seen.flaw("it does not end with a line break");
    }
    let lines = transcript.split(|b| *b == b'\n').zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
        seen.line = number;
        match serde_json::from_slice::<Value>(line) {
            Ok(entry) if entry.is_object() => seen.entry(&entry),
            _ => seen.flaw("it is no JSON object"),
        }
    }
    seen.end()
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}

impl Seen {
    fn flaw(&mut self, what: &'static str) {
        let line = self.line;
        self.flaws.push(Flaw { line, what });
    }

    fn entry(&mut self, entry: &Value) {
        let Some(kind) = text(entry, "type") else {
            return self.flaw("it has no type");
        };
        if kind == "last-prompt" {
            let leaf = text(entry, "leafUuid").map(str::to_owned);
            self.leaf = leaf.map(|leaf| (self.line, leaf));
            return;
        }
        if !matches!(
            kind,
            "user" | "assistant" | "system" | "attachment" | "progress"
        ) {
            return;
        }
        let Some(uuid) = text(entry, "uuid") else {
            return self.flaw("an entry of the chain has no uuid");
        };
        if uuid::Uuid::try_parse(uuid).is_err() {
            self.flaw("its uuid is none");
        }
        self.parent(entry);
        if self.entries.insert(uuid.to_owned(), self.line).is_some() {
            self.flaw("its uuid was there before");
        }
        for member in ["timestamp", "sessionId", "cwd", "version"] {
            if text(entry, member).is_none() {
                self.flaw("timestamp, sessionId, cwd or version is missing");
            }
        }
        match kind {
            "user" => self.user(entry),
            "assistant" => self.assistant(entry, uuid),
            _ => {}
        }
    }

    fn parent(&mut self, entry: &Value) {
        let is_boundary = text(entry, "subtype") == Some("compact_boundary");
        let logical = text(entry, "logicalParentUuid");
        match entry.get("parentUuid") {
            None => self.flaw("it says of no parent, not even that there is none"),
            Some(Value::Null) if is_boundary => {
                if logical.is_some_and(|logical| !self.entries.contains_key(logical)) {
                    self.flaw("what was before the compaction is not there");
                }
            }
            Some(Value::Null) => {
                self.roots.insert(self.line);
            }
            Some(parent) => {
                let parent = parent.as_str().unwrap_or_default();
                if !self.entries.contains_key(parent) {
                    self.flaw("its parent was not written before it");
                }
            }
        }
    }

    fn user(&mut self, entry: &Value) {
        let message = entry.get("message").cloned().unwrap_or_default();
        if text(&message, "role") != Some("user") {
            self.flaw("its message is not a user's");
        }
        let blocks = message.get("content").and_then(Value::as_array);
        let blocks = blocks.map(Vec::as_slice).unwrap_or_default();
        for block in blocks
            .iter()
            .filter(|b| text(b, "type") == Some("tool_result"))
        {
            let id = text(block, "tool_use_id").unwrap_or_default();
            let Some((call, is_answered)) = self.calls.get_mut(id) else {
                self.flaw("it has a result whose call was not written before it");
                continue;
            };
            let call = call.clone();
            if std::mem::replace(is_answered, true) {
                self.flaw("it has a second result of a call");
            }
            let source = text(entry, "sourceToolAssistantUUID");
            if text(entry, "parentUuid") != Some(&*call) || source != Some(&*call) {
                self.flaw("it has a result and does not follow the entry of its call");
            }
        }
        let answers = !blocks.is_empty();
        if !answers && self.calls.values().any(|(_, is_answered)| !is_answered) {
            self.flaw("it is said before a call has its result");
        }
    }

    fn assistant(&mut self, entry: &Value, uuid: &str) {
        let message = entry.get("message").cloned().unwrap_or_default();
        if text(&message, "role") != Some("assistant") {
            self.flaw("its message is not an assistant's");
        }
        for member in ["id", "model"] {
            if text(&message, member).is_none() {
                self.flaw("its message has no id or no model");
            }
        }
        if message.get("usage").is_none_or(|usage| !usage.is_object()) {
            self.flaw("its message has no usage");
        }
        let id = text(&message, "id").unwrap_or_default();
        let parent = text(entry, "parentUuid").unwrap_or_default();
        let before = self.messages.insert(id.to_owned(), uuid.to_owned());
        if before.is_some_and(|before| before != parent) {
            self.flaw("a block of a message does not follow the block before it");
        }
        let blocks = message.get("content").and_then(Value::as_array);
        let blocks = blocks.map(Vec::as_slice).unwrap_or_default();
        if blocks.len() != 1 {
            self.flaw("it holds no block, or more than one");
        }
        for block in blocks
            .iter()
            .filter(|b| text(b, "type") == Some("tool_use"))
        {
            let id = text(block, "id").unwrap_or_default().to_owned();
            if block.get("input").is_none_or(|input| !input.is_object()) {
                self.flaw("the arguments of a call are no object");
            }
            if self.calls.insert(id, (uuid.to_owned(), false)).is_some() {
                self.flaw("the id of a call was there before");
            }
        }
    }

    fn end(mut self) -> Vec<Flaw> {
        if self.calls.values().any(|(_, is_answered)| !is_answered) {
            self.flaw("a call has no result");
        }
        if self.roots.len() > 1 {
            self.flaw("it has more than one beginning");
        }
        if let Some((line, leaf)) = self.leaf.take()
            && !self.entries.contains_key(&leaf)
        {
            self.line = line;
            self.flaw("the leaf that it names is not there");
        }
        self.flaws
    }
}

#[cfg(test)]
mod tests;
