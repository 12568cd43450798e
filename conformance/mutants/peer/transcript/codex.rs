//! A conversation as a rollout of Codex's.

use serde_json::{Value, json};

use super::claude::time;
use super::{Item, Talk};
use crate::fault::on;

/// The lines of the file.
pub(super) fn lines(talk: &Talk) -> Vec<Value> {
    let id = if on("transcript-other-session") {
        "another"
    } else {
        &talk.session
    };
    let mut lines = Vec::new();
    if talk.after.is_none() {
        lines.push((
            "session_meta",
            json!({"id": id, "timestamp": time(0), "cwd": talk.cwd, "originator": "peer",
                "cli_version": "0.171.0", "source": "cli", "history_mode": "paginated"}),
        ));
    }
    let mut turn = None;
    for (at, item) in talk.items.iter().enumerate() {
        if matches!(item, Item::User(_)) {
            lines.extend(ended(turn.take()));
            let id = format!("turn_{at}");
            lines.push(("event_msg", json!({"type": "task_started", "turn_id": id})));
            lines.push(("turn_context", json!({"turn_id": id, "cwd": talk.cwd})));
            turn = Some(id);
        }
        item_lines(item, &mut lines);
    }
    lines.extend(ended(turn));
    spoil(&mut lines);
    let numbered = lines.into_iter().enumerate();
    let mut lines: Vec<Value> = numbered
        .map(|(at, (kind, payload))| {
            let mut line = json!({"timestamp": time(at), "type": kind, "payload": payload});
            if talk.after.is_none() {
                line["ordinal"] = json!(at);
            }
            line
        })
        .collect();
    if let Some(last) = lines.last_mut() {
        if on("transcript-time-local") {
            last["timestamp"] = json!("2026-11-30 00:00:00");
        }
        if on("transcript-ordinal-gap") {
            last["ordinal"] = json!(1_000_000);
        }
    }
    lines
}

fn ended(turn: Option<String>) -> Option<(&'static str, Value)> {
    let turn = turn?;
    let turn = if on("transcript-other-turn") {
        "another".to_owned()
    } else {
        turn
    };
    Some((
        "event_msg",
        json!({"type": "task_complete", "turn_id": turn}),
    ))
}

fn item_lines(item: &Item, lines: &mut Vec<(&'static str, Value)>) {
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    match item {
        Item::User(text) => {
            lines.push(("response_item", message("user", "input_text", text)));
            if !on("transcript-unmirrored") {
                lines.push((
                    "event_msg",
                    json!({"type": "user_message", "message": text}),
                ));
            }
        }
        Item::Said(text) => {
            lines.push(("response_item", message("assistant", "output_text", text)));
            lines.push((
                "event_msg",
                json!({"type": "agent_message", "message": text}),
            ));
        }
        Item::Call {
            id,
            name,
            input,
            output,
        } => {
            let arguments = input.to_string();
            lines.push((
                "response_item",
                json!({"type": "function_call", "name": name, "arguments": arguments, "call_id": id}),
            ));
            let output = output.as_deref().unwrap_or("aborted");
            let output = json!({"type": "function_call_output", "call_id": id, "output": output});
            if !on("transcript-result-missing") {
                lines.push(("response_item", output.clone()));
            }
            if on("transcript-results-doubled") {
                lines.push(("response_item", output));
            }
        }
        Item::Summary(text) => lines.push(("compacted", json!({"message": text}))),
    }
}

/// What a fault makes of them, before they are numbered.
fn spoil(lines: &mut Vec<(&'static str, Value)>) {
    if on("transcript-base-elsewhere") {
        lines[0].1["history_base"] = json!({"thread_id": "another", "end_ordinal_exclusive": 7});
    }
    if on("transcript-head-late") {
        lines.swap(0, 1);
    }
    if on("transcript-member-missing") {
        for (_, payload) in lines
            .iter_mut()
            .filter(|(_, payload)| payload["type"] == "message")
        {
            payload["content"][0]["type"] = json!("text");
        }
    }
    if on("transcript-result-orphan") {
        let orphan = json!({"type": "function_call_output", "call_id": "nobody's", "output": "x"});
        lines.push(("response_item", orphan));
    }
    if on("transcript-summary-empty") {
        lines.push(("compacted", json!({"message": ""})));
    }
}
