//! The rules of Codex's rollouts: `docs/conformance.md`, "Rollouts of Codex".

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Line, Looked, Transcript, id_in, is_time};
use crate::check::TranscriptRule;

/// What the program says in the user's name begins so.
const FURNITURE: [&str; 2] = ["<", "# AGENTS.md"];
/// Calls that have an output of their own.
const CALLS: [&str; 3] = ["function_call", "custom_tool_call", "local_shell_call"];
/// Their outputs.
const OUTPUTS: [&str; 2] = ["function_call_output", "custom_tool_call_output"];

/// Whether a rollout keeps a rule.
pub(super) fn keeps(file: &Transcript, rule: TranscriptRule, name: Option<&str>) -> Looked {
    match rule {
        TranscriptRule::Session => session(file, name),
        TranscriptRule::Times => times(file),
        TranscriptRule::Members => members(file),
        TranscriptRule::Calls => calls(file),
        TranscriptRule::Results => results(file),
        TranscriptRule::Head => head(file),
        TranscriptRule::Turns => turns(file),
        TranscriptRule::Mirrored => mirrored(file),
        TranscriptRule::Ordinals => ordinals(file),
        TranscriptRule::Base => base(file),
        TranscriptRule::Compacted => compacted(file),
        _ => Ok(0),
    }
}

/// The payloads of the lines of a type, with their lines.
pub(super) fn of<'a>(
    file: &'a Transcript,
    kind: &'a str,
) -> impl Iterator<Item = (&'a Line, &'a Value)> {
    let lines = file
        .lines
        .iter()
        .filter(move |line| line.text("type") == Some(kind));
    lines.map(|line| (line, &line.entry["payload"]))
}

fn head(file: &Transcript) -> Looked {
    let Some(first) = file.lines.first().filter(|first| first.number == 1) else {
        return Err("line 1 is no entry".to_owned());
    };
    if first.text("type") != Some("session_meta") {
        return first.flaw(format!("type is {}, not session_meta", first.entry["type"]));
    }
    for member in ["id", "timestamp", "cwd", "originator", "cli_version"] {
        if !first.entry["payload"][member].is_string() {
            return first.flaw(format!("payload.{member} is missing"));
        }
    }
    Ok(1)
}

fn session(file: &Transcript, name: Option<&str>) -> Looked {
    let (Some(id), Some(first)) = (name.and_then(id_in), file.lines.first()) else {
        return Ok(0);
    };
    if first.entry["payload"]["id"] != id {
        return first.flaw(format!(
            "payload.id is {}, the file's is {id}",
            first.entry["payload"]["id"]
        ));
    }
    Ok(1)
}

fn times(file: &Transcript) -> Looked {
    let mut before = "";
    for line in &file.lines {
        let Some(time) = line.text("timestamp").filter(|time| is_time(time)) else {
            return line.flaw(format!(
                "timestamp {} is no time in UTC",
                line.entry["timestamp"]
            ));
        };
        if time < before {
            return line.flaw(format!(
                "timestamp {time} is before that of the line before"
            ));
        }
        before = time;
    }
    Ok(file.lines.len())
}

fn members(file: &Transcript) -> Looked {
    for (line, payload) in of(file, "response_item").chain(of(file, "event_msg")) {
        let Some(kind) = payload["type"].as_str() else {
            return line.flaw("payload.type is missing");
        };
        if line.text("type") == Some("event_msg") {
            continue;
        }
        if kind == "message"
            && let Err(what) = message(payload)
        {
            return line.flaw(what);
        }
        if CALLS.contains(&kind) || OUTPUTS.contains(&kind) {
            if !payload["call_id"].is_string() {
                return line.flaw("payload.call_id is missing");
            }
            if OUTPUTS.contains(&kind) && payload.get("output").is_none() {
                return line.flaw("payload.output is missing");
            }
        }
        if kind == "function_call" {
            let arguments = payload["arguments"].as_str().unwrap_or_default();
            let parsed = serde_json::from_str::<Value>(arguments);
            if !payload["name"].is_string() || parsed.is_err() {
                return line.flaw("payload.name is missing, or payload.arguments is no JSON");
            }
        }
    }
    Ok(file.lines.len())
}

fn message(payload: &Value) -> Result<(), String> {
    let kinds: &[&str] = match payload["role"].as_str() {
        Some("assistant") => &["output_text"],
        Some("user" | "developer" | "system") => {
            &["input_text", "input_image", "input_file", "input_audio"]
        }
        _ => return Err(format!("payload.role is {}", payload["role"])),
    };
    let Some(parts) = payload["content"].as_array() else {
        return Err("payload.content is no list".to_owned());
    };
    for (at, part) in parts.iter().enumerate() {
        if !part["type"]
            .as_str()
            .is_some_and(|kind| kinds.contains(&kind))
        {
            return Err(format!("payload.content/{at}/type is {}", part["type"]));
        }
    }
    Ok(())
}

/// Items of some kinds by their calls.
fn by_call<'a>(
    file: &'a Transcript,
    kinds: &'a [&str],
) -> impl Iterator<Item = (&'a Line, &'a str)> {
    of(file, "response_item")
        .filter(|(_, payload)| {
            payload["type"]
                .as_str()
                .is_some_and(|kind| kinds.contains(&kind))
        })
        .filter_map(|(line, payload)| Some((line, payload["call_id"].as_str()?)))
}

fn calls(file: &Transcript) -> Looked {
    let answered: BTreeSet<&str> = by_call(file, &OUTPUTS).map(|(_, id)| id).collect();
    let mut looked = 0;
    for (line, id) in by_call(file, &CALLS) {
        if !answered.contains(id) {
            return line.flaw(format!("call_id {id} has no output"));
        }
        looked += 1;
    }
    Ok(looked)
}

fn results(file: &Transcript) -> Looked {
    let calls: BTreeMap<&str, usize> = by_call(file, &CALLS)
        .map(|(line, id)| (id, line.number))
        .collect();
    let mut seen = BTreeSet::new();
    for (line, id) in by_call(file, &OUTPUTS) {
        if calls.get(id).is_none_or(|call| *call >= line.number) {
            return line.flaw(format!("call_id {id} has no call before its output"));
        }
        if !seen.insert(id) {
            return line.flaw(format!("call_id {id} has two outputs"));
        }
    }
    Ok(seen.len())
}

fn turns(file: &Transcript) -> Looked {
    let (mut open, mut seen) = (None, BTreeSet::new());
    for line in &file.lines {
        let payload = &line.entry["payload"];
        let turn = payload["turn_id"].as_str();
        match (line.text("type"), payload["type"].as_str()) {
            (Some("event_msg"), Some("task_started" | "turn_started")) => {
                let Some(turn) = turn else {
                    return line.flaw("payload.turn_id is missing");
                };
                if !seen.insert(turn) {
                    return line.flaw(format!("turn {turn} begins twice"));
                }
                open = Some(turn);
            }
            (Some("event_msg"), Some("task_complete" | "turn_complete" | "turn_aborted")) => {
                if open.is_none() || (turn.is_some() && turn != open) {
                    return line.flaw(format!("it ends turn {turn:?}, while {open:?} is open"));
                }
                open = None;
            }
            (Some("turn_context"), _) if turn.is_some() && open.is_some() && turn != open => {
                return line.flaw(format!(
                    "turn_context is of {turn:?}, while {open:?} is open"
                ));
            }
            _ => {}
        }
    }
    Ok(seen.len())
}

/// The text of the parts of a message.
pub(super) fn text(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// Whether a text is the program's own.
pub(super) fn furniture(text: &str) -> bool {
    FURNITURE.iter().any(|begins| text.starts_with(begins))
}

fn mirrored(file: &Transcript) -> Looked {
    let mut events: Vec<(&str, String)> = Vec::new();
    for (_, payload) in of(file, "event_msg") {
        let said = |role, text: String| (role, text.trim().to_owned());
        match payload["type"].as_str() {
            Some("user_message") => events.push(said("user", plain(&payload["message"]))),
            Some("agent_message") => events.push(said("assistant", plain(&payload["message"]))),
            Some("item_completed") => match payload["item"]["type"].as_str() {
                Some("UserMessage") => events.push(said("user", text(&payload["item"]["content"]))),
                Some("AgentMessage") => {
                    events.push(said("assistant", text(&payload["item"]["content"])))
                }
                _ => {}
            },
            _ => {}
        }
    }
    let compactions: Vec<usize> = of(file, "compacted").map(|(line, _)| line.number).collect();
    let mut looked = 0;
    for (line, payload) in of(file, "response_item") {
        let role = payload["role"].as_str().unwrap_or_default();
        if payload["type"] != "message" || !matches!(role, "user" | "assistant") {
            continue;
        }
        let said = text(&payload["content"]).trim().to_owned();
        // What a compaction asked is nobody's message.
        let summary = compactions
            .iter()
            .any(|at| (line.number..line.number + 5).contains(at));
        if furniture(&said) || said.is_empty() || summary {
            continue;
        }
        let found = events
            .iter()
            .position(|(who, text)| *who == role && *text == said);
        let Some(at) = found else {
            return line.flaw(format!("no event shows this message of the {role}"));
        };
        events.swap_remove(at);
        looked += 1;
    }
    Ok(looked)
}

fn plain(text: &Value) -> String {
    text.as_str().unwrap_or_default().to_owned()
}

fn ordinals(file: &Transcript) -> Looked {
    let first = file
        .lines
        .first()
        .and_then(|line| line.entry["ordinal"].as_u64());
    let Some(first) = first else {
        let later = file
            .lines
            .iter()
            .find(|line| line.entry.get("ordinal").is_some());
        return later.map_or(Ok(0), |line| {
            line.flaw("ordinal, though the first line has none")
        });
    };
    for (line, due) in file.lines.iter().zip(first..) {
        if line.entry["ordinal"] != due {
            return line.flaw(format!("ordinal is {}, not {due}", line.entry["ordinal"]));
        }
    }
    Ok(file.lines.len())
}

fn base(file: &Transcript) -> Looked {
    let Some(first) = file.lines.first() else {
        return Ok(0);
    };
    let base = &first.entry["payload"]["history_base"];
    if base.is_null() {
        return Ok(0);
    }
    let end = &base["end_ordinal_exclusive"];
    if !base["thread_id"].is_string() || !end.is_u64() {
        return first.flaw("payload.history_base says no thread, or no ordinal");
    }
    if *end != first.entry["ordinal"] {
        return first.flaw(format!(
            "ordinal is {}, payload.history_base ends at {end}",
            first.entry["ordinal"]
        ));
    }
    Ok(1)
}

fn compacted(file: &Transcript) -> Looked {
    let mut looked = 0;
    for (line, payload) in of(file, "compacted") {
        let summary = payload["message"].as_str().unwrap_or_default();
        let history = payload["replacement_history"].as_array();
        if summary.is_empty() && history.is_none_or(Vec::is_empty) {
            return line.flaw("payload.message and payload.replacement_history are empty");
        }
        looked += 1;
    }
    Ok(looked)
}
