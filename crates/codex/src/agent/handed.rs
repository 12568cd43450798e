//! A conversation that is put into a new thread as Codex's own items (`thread/inject_items`), so that
//! its model sees who said what, which call had which result.

use serde_json::{Value, json};
use sessiond_engine::handover::{Handover, MESSAGE_BYTES, RESULT_BYTES};
use sessiond_protocol::{
    Content, HistoryItem, Item, Lack, Marker, SessionId, ToolCall, ToolStatus,
};

use crate::call::shown;

/// The longest conversation that is put into a thread, in bytes of text: about 64,000 tokens, a
/// quarter of the context of the models that Codex offers.
const TOTAL_BYTES: usize = 256 << 10;

/// What a new thread is given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Handed {
    /// In Codex's words, oldest first.
    pub(super) items: Vec<Value>,
    /// What the log says of it.
    pub(super) marker: Marker,
    /// The same as a text, for a Codex that takes no items.
    pub(super) text: Handover,
}

impl Handed {
    /// The conversation in `history`, which a thread lacks for this reason; none where there is
    /// nothing to tell. The newest of it, where it is too long.
    pub(super) fn of(session: SessionId, history: &[HistoryItem], because: Lack) -> Option<Self> {
        let text = Handover::of(session, history, because)?;
        let told: Vec<Vec<Value>> = history
            .iter()
            .map(tell)
            .filter(|told| !told.is_empty())
            .collect();
        let mut room = TOTAL_BYTES;
        let fits = |told: &&Vec<Value>| {
            let length = told.iter().map(|item| item.to_string().len()).sum();
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        };
        let kept = told.iter().rev().take_while(fits).count();
        let left_out = told.len() - kept;
        let mut items = Vec::new();
        if left_out > 0 {
            let note = format!("{left_out} older messages of this conversation are left out.");
            items.push(message("developer", "input_text", &note));
        }
        items.extend(told.into_iter().skip(left_out).flatten());
        let marker = Marker::HandedOver {
            from: history.first()?.id,
            to: history.last()?.id,
            told: kept as u64,
            left_out: left_out as u64,
            because,
        };
        Some(Self {
            items,
            marker,
            text,
        })
    }
}

fn tell(HistoryItem { id, item, .. }: &HistoryItem) -> Vec<Value> {
    match item {
        Item::UserMessage { content } => {
            let words: Vec<String> = content.iter().map(Content::in_words).collect();
            vec![message("user", "input_text", &words.join("\n"))]
        }
        Item::AgentMessage { text, .. } => vec![message("assistant", "output_text", text)],
        Item::ToolCall(call) => {
            let id = format!("call_{id}");
            let arguments = match &call.input {
                Value::Null => json!({ "title": call.title }),
                input => input.clone(),
            };
            let arguments = cut(&arguments.to_string()).to_owned();
            // Not JSON any more where it was cut.
            let arguments = match serde_json::from_str::<Value>(&arguments) {
                Ok(_) => arguments,
                Err(_) => json!({ "beginning": arguments }).to_string(),
            };
            vec![
                json!({ "type": "function_call", "name": name(call), "arguments": arguments,
                    "call_id": id }),
                json!({ "type": "function_call_output", "call_id": id, "output": result(call) }),
            ]
        }
        // A summary is nobody's message, and never becomes one (CTX-2).
        Item::Compaction(compaction) => {
            let summary = format!("Summary of what was said before:\n{}", compaction.summary);
            vec![message("developer", "input_text", &summary)]
        }
        Item::Thought { .. } | Item::Plan { .. } => Vec::new(),
    }
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    let kept = text
        .get(..text.floor_char_boundary(MESSAGE_BYTES))
        .unwrap_or(text);
    let mut text = kept.to_owned() + missing(text.len() - kept.len()).as_str();
    if text.is_empty() {
        // The API takes no empty part.
        text.push(' ');
    }
    json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] })
}

/// The name of a call as the API takes one.
fn name(call: &ToolCall) -> String {
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
        _ => '_',
    };
    let name: String = call.name.chars().take(64).map(plain).collect();
    match name.is_empty() {
        true => "tool".to_owned(),
        false => name,
    }
}

/// What came of a call; one without a result may have run (RESUME-6).
fn result(call: &ToolCall) -> String {
    let shown = shown(call);
    let kept = cut(&shown);
    let mut result = match call.status {
        ToolStatus::Completed => String::new(),
        ToolStatus::Failed => "It failed.\n".to_owned(),
        ToolStatus::Cancelled => "It was stopped.\n".to_owned(),
        ToolStatus::Unknown | ToolStatus::Pending | ToolStatus::Running => {
            "Its outcome is unknown: it may have run. Do not run it again unasked.\n".to_owned()
        }
    };
    result.push_str(kept);
    result.push_str(&missing(shown.len() - kept.len()));
    result
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(RESULT_BYTES))
        .unwrap_or(text)
}

fn missing(bytes: usize) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!("\n({bytes} more bytes are left out)"),
    }
}

#[cfg(test)]
mod tests;
