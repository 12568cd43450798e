//! Threads as a test needs them.

use std::io;

use serde_json::{Value, json};
use sessiond_protocol::{Content, Item, Telling};
use sessiond_wire::foreign::Upto;
use uuid::Uuid;

use super::{File, Findings, Fold, Rollout, Wanted};

/// A thread of this number.
pub(super) fn thread(number: u128) -> Uuid {
    Uuid::from_u128(number << 96 | 7 << 76 | 8 << 60)
}

/// A line.
pub(super) fn line(kind: &str, payload: &Value) -> String {
    let at = "2026-11-30T12:00:00.000Z";
    json!({"timestamp": at, "type": kind, "payload": payload}).to_string() + "\n"
}

/// The head of a thread's file.
pub(super) fn head(number: u128, more: Value) -> String {
    let mut payload = json!({"id": thread(number), "cwd": "/w", "cli_version": "0.171.0"});
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    line("session_meta", &payload)
}

/// What a user, or the model, says.
pub(super) fn message(role: &str, text: &str) -> String {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    let content = json!([{"type": kind, "text": text}]);
    line(
        "response_item",
        &json!({"type": "message", "role": role, "content": content}),
    )
}

/// An item of the model's.
pub(super) fn item(payload: Value) -> String {
    line("response_item", &payload)
}

/// An event.
pub(super) fn event(payload: Value) -> String {
    line("event_msg", &payload)
}

/// The lines with ordinals from one on.
pub(super) fn numbered(lines: &[String], from: u64) -> String {
    let lines = lines.iter().zip(from..).map(|(line, ordinal)| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["ordinal"] = json!(ordinal);
        line.to_string() + "\n"
    });
    lines.collect()
}

/// A file of a thread.
pub(super) fn file(number: u128, segment: &str, text: &str) -> File<Vec<u8>> {
    let time = "2026-11-30T12-00-00";
    File {
        name: format!("rollout-{time}-{}{segment}.jsonl", thread(number)),
        source: Upto::new(text.as_bytes().to_vec(), text.len() as u64),
    }
}

/// What a file tells, with those that it goes on from, and what was found.
pub(super) fn read_with(
    of: File<Vec<u8>>,
    find: impl FnMut(&Wanted) -> io::Result<Vec<File<Vec<u8>>>>,
) -> (Vec<Telling>, Findings) {
    let rollout = Rollout::read(of, find).unwrap();
    let mut fold = Fold::new(&rollout);
    let told = fold.by_ref().map(|told| told.unwrap().what).collect();
    (told, rollout.findings().clone().and(&fold.findings()))
}

/// What a file tells that stands for itself.
pub(super) fn read(text: &str) -> (Vec<Telling>, Findings) {
    read_with(file(1, "", text), |_| Ok(Vec::new()))
}

/// In words: what the user said, what the model said in `[]`, calls by name, status and result.
pub(super) fn words(told: &[Telling]) -> Vec<String> {
    let words = told.iter().map(|told| match told {
        Telling::Item(Item::UserMessage { content }) => {
            content.iter().map(Content::in_words).collect()
        }
        Telling::Item(Item::AgentMessage { text, .. }) => format!("[{text}]"),
        Telling::Item(Item::ToolCall(call)) => {
            format!(
                "{} {:?} {}",
                call.name,
                call.status,
                crate::call::shown(call)
            )
        }
        Telling::Item(other) => format!("{:?}", other.kind()),
        Telling::Summary(text) => format!("summary {text}"),
        Telling::Notice { title, .. } => format!("notice {title}"),
    });
    words.collect()
}
