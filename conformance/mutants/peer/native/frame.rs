//! Frames: errors, ids, and what is wrong with a submission.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::fault::on;

/// A new id of the shape that ids have.
pub(crate) fn uuid() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = now.map_or(0, |now| now.as_millis()) & 0xffff_ffff_ffff;
    format!(
        "{:08x}-{:04x}-7{:03x}-8000-{:06x}{:06x}",
        ms >> 16,
        ms & 0xffff,
        count & 0xfff,
        std::process::id() & 0xff_ffff,
        count & 0xff_ffff
    )
}

/// An error.
pub(super) fn bad(code: &str, message: &str) -> Value {
    json!({"code": code, "message": message})
}

/// An error at a place of the frame.
pub(super) fn pointed(code: &str, message: &str, pointer: &str) -> Value {
    json!({"code": code, "message": message, "pointer": pointer})
}

/// An error about a session.
pub(super) fn named(code: &str, message: &str, session: &str) -> Value {
    json!({"code": code, "message": message, "session": session})
}

/// An event without what makes it a frame of its own.
pub(super) fn bare(event: &Value) -> Value {
    let mut event = event.clone();
    if let Some(members) = event.as_object_mut() {
        members.remove("v");
        members.remove("type");
    }
    event
}

/// The operations that there are.
const OPERATIONS: [&str; 14] = [
    "session.new",
    "session.resume",
    "session.list",
    "session.read",
    "session.rename",
    "session.append",
    "session.import",
    "session.rewind",
    "session.fork",
    "session.compact",
    "session.detach",
    "session.close",
    "turn.start",
    "turn.interrupt",
];

/// What is wrong with a submission.
pub(super) fn checked(value: &Value) -> Result<(), Value> {
    let wrong = |pointer: &str| Err(pointed("invalid", "missing, or the wrong type", pointer));
    let op = &value["op"];
    if !op.is_object() {
        return wrong("");
    }
    if value
        .get("session")
        .is_some_and(|session| !session.is_string())
    {
        return wrong("/session");
    }
    let kind = op["type"].as_str().unwrap_or_default();
    if !OPERATIONS.contains(&kind) {
        return Err(pointed("unknown", "no such type", "/op/type"));
    }
    match kind {
        "session.new" if on("sqeq-any-cwd") => Ok(()),
        "session.new" if op.get("cwd").is_none() => wrong("/op"),
        "session.new" if !op["cwd"].is_string() => wrong("/op/cwd"),
        "session.new" if op.get("id").is_some_and(|id| !is_uuid(id)) && !on("sqeq-any-id") => {
            wrong("/op/id")
        }
        "turn.start" => turn(op),
        _ => Ok(()),
    }
}

fn turn(op: &Value) -> Result<(), Value> {
    let wrong = |pointer: &str| Err(pointed("invalid", "missing, or the wrong type", pointer));
    if op.get("input").is_none() {
        return wrong("/op");
    }
    let Some(input) = op["input"].as_array() else {
        return wrong("/op/input");
    };
    for (at, block) in input.iter().enumerate() {
        if block["type"] == "text" && !block["text"].is_string() {
            return wrong(&format!("/op/input/{at}/text"));
        }
    }
    if op["idempotency_key"] == "" {
        return wrong("/op/idempotency_key");
    }
    match op["if_busy"].as_str() {
        None | Some("reject" | "queue") => Ok(()),
        Some(_) => wrong("/op/if_busy"),
    }
}

fn is_uuid(id: &Value) -> bool {
    let Some(id) = id.as_str() else { return false };
    let parts: Vec<usize> = id.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12]
}
