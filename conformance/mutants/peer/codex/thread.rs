//! A thread of the app-server: what is in force, and what its log tells of it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::fault::on;
use crate::log::{Content, Log};

/// A loaded thread.
pub(super) struct Thread {
    pub(super) cwd: String,
    pub(super) policy: String,
    pub(super) full: bool,
    /// The turn that runs.
    pub(super) active: Option<String>,
    pub(super) interrupted: bool,
    /// Commands that were allowed for the session.
    pub(super) granted: Vec<String>,
    pub(super) log: Arc<Mutex<Log>>,
}

/// A thread as it is answered.
pub(super) fn shown(id: &str, cwd: &str, content: &Content, active: Option<&str>) -> Value {
    let first = content
        .updates
        .iter()
        .find_map(|record| record["user"].as_str());
    let preview = if on("preview-empty") {
        ""
    } else {
        first.unwrap_or_default()
    };
    let forked = content
        .updates
        .iter()
        .find_map(|record| record["forked"].as_str());
    let cwd = if on("cwd-other") { "/" } else { cwd };
    let status = if active.is_some() || on("never-idle") {
        "active"
    } else {
        "idle"
    };
    let mut thread = json!({"id": id, "sessionId": id, "forkedFromId": forked, "preview": preview,
        "ephemeral": false, "modelProvider": "peer", "createdAt": 1, "updatedAt": 1,
        "status": {"type": status}, "cwd": cwd, "cliVersion": "0.171.0", "source": "vscode",
        "turns": []});
    if on("fork-unnamed") {
        thread["forkedFromId"] = Value::Null;
    }
    if on("thread-member-missing")
        && let Some(members) = thread.as_object_mut()
    {
        members.remove("modelProvider");
    }
    thread
}

/// The turns that a log tells of.
pub(super) fn turns(content: &Content, active: Option<&str>) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    for record in &content.updates {
        let Some(id) = record["turn"].as_str() else {
            continue;
        };
        if turns.iter().all(|turn| turn["id"] != id) {
            let runs = active == Some(id) || on("dead-runs");
            let status = if runs { "inProgress" } else { "interrupted" };
            turns.push(json!({"id": id, "items": [], "status": status, "error": null}));
        }
        let Some(turn) = turns.iter_mut().find(|turn| turn["id"] == id) else {
            continue;
        };
        if let Some(status) = record["end"].as_str() {
            turn["status"] = json!(status);
            turn["error"] = record["error"].clone();
            continue;
        }
        let item = record["item"].as_str().unwrap_or_default();
        let Some(items) = turn["items"].as_array_mut() else {
            continue;
        };
        let known = items.iter_mut().find(|known| known["id"] == item);
        match known {
            None => items.extend(made(item, record)),
            Some(known) => changed(known, record),
        }
    }
    if on("item-ids-new") {
        let items = turns
            .iter_mut()
            .filter_map(|turn| turn["items"].as_array_mut());
        for item in items.flatten() {
            item["id"] = json!(crate::native::uuid());
        }
    }
    if on("turns-emptied") {
        for turn in &mut turns {
            turn["items"] = json!([]);
        }
    }
    turns
}

/// The item that a record begins.
fn made(id: &str, record: &Value) -> Option<Value> {
    if let Some(text) = record["user"].as_str() {
        let hidden = on("prompt-unread");
        return (!hidden).then(|| user(id, text));
    }
    let text = record["piece"].as_str().or_else(|| record["said"].as_str());
    if let Some(text) = text {
        return Some(json!({"type": "agentMessage", "id": id, "text": text}));
    }
    if let Some(command) = record["tool"].as_str() {
        // Nobody knows how it ended.
        let status = if on("calls-open") {
            "inProgress"
        } else {
            "failed"
        };
        return Some(call(id, command, "/", status));
    }
    None
}

fn changed(item: &mut Value, record: &Value) {
    if let Some(text) = record["said"].as_str() {
        item["text"] = json!(text);
    } else if let Some(piece) = record["piece"].as_str() {
        let before = item["text"].as_str().unwrap_or_default();
        item["text"] = json!(format!("{before}{piece}"));
    } else if let (Some(status), false) = (record["called"].as_str(), on("calls-open")) {
        item["status"] = json!(status);
    }
}

/// What the user said, as an item.
pub(super) fn user(id: &str, text: &str) -> Value {
    json!({"type": "userMessage", "id": id, "content": [{"type": "text", "text": text}]})
}

/// A call, as an item.
pub(super) fn call(id: &str, command: &str, cwd: &str, status: &str) -> Value {
    json!({"type": "commandExecution", "id": id, "command": command, "cwd": cwd,
        "commandActions": [], "status": status, "aggregatedOutput": null, "exitCode": null})
}
