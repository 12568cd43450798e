//! Properties of the lines of Claude's and Codex's faces.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Held, Judge, broken, short};
use crate::recording::{ProcessIndex, What};

/// Characters of a line at which the Python SDK of Claude gives up.
const LONGEST: usize = 1_048_576;

/// Frames of Claude's that are of a turn.
const OF_TURN: [&str; 3] = ["assistant", "stream_event", "user"];

/// Items of Codex that are told once, when they are whole.
const AT_ONCE: [&str; 3] = ["agent_message", "reasoning", "error"];

impl Judge<'_> {
    /// No line is one that a reader of the SDK takes for a flood.
    pub(super) fn short_lines(&self) -> Held {
        self.each_line(|bytes| String::from_utf8_lossy(bytes).chars().count() <= LONGEST)
    }

    /// U+2028 and U+2029 end a line for some readers.
    pub(super) fn no_separators(&self) -> Held {
        self.each_line(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            !text.contains(['\u{2028}', '\u{2029}'])
        })
    }

    /// Each control request has one answer, and nothing has one that was not asked.
    pub(super) fn controls(&self) -> Held {
        let mut asked: BTreeSet<(ProcessIndex, String)> = BTreeSet::new();
        for (process, frame) in self.said_frames() {
            if let Some(id) = frame["request_id"].as_str() {
                asked.insert((process, id.to_owned()));
            }
        }
        let mut seen = BTreeSet::new();
        for (_, process, frame) in self.played.recording.frames() {
            if frame["type"] != "control_response" {
                continue;
            }
            let id = frame["response"]["request_id"].as_str().unwrap_or_default();
            let key = (process, id.to_owned());
            if !asked.contains(&key) {
                return Err(broken(format!("nobody asked: {}", short(frame))));
            }
            if !seen.insert(key) {
                return Err(broken(format!("answered again: {}", short(frame))));
            }
        }
        Ok(())
    }

    /// What is of a turn stands between its `system/init` and its `result`.
    pub(super) fn in_turn(&self) -> Held {
        let mut open: BTreeSet<ProcessIndex> = BTreeSet::new();
        for (_, process, frame) in self.played.recording.frames() {
            let kind = frame["type"].as_str().unwrap_or_default();
            if kind == "system" && frame["subtype"] == "init" {
                open.insert(process);
            }
            let replay = frame["isReplay"] == true;
            if OF_TURN.contains(&kind) && !replay && !open.contains(&process) {
                return Err(broken(format!("no turn runs: {}", short(frame))));
            }
            if kind == "result" {
                open.remove(&process);
            }
        }
        Ok(())
    }

    /// The lines of `exec`: the thread first and once, the turn's end last and once, items in between.
    pub(super) fn exec_order(&self) -> Held {
        let mut lives: BTreeMap<ProcessIndex, Vec<&Value>> = BTreeMap::new();
        for (_, process, frame) in self.played.recording.frames() {
            lives.entry(process).or_default().push(frame);
        }
        for lines in lives.values() {
            let mut items = BTreeSet::new();
            let mut turn = false;
            for (at, line) in lines.iter().enumerate() {
                let kind = line["type"].as_str().unwrap_or_default();
                let bad = match kind {
                    "thread.started" => at != 0,
                    _ if at == 0 => true,
                    "turn.started" => std::mem::replace(&mut turn, true),
                    "turn.completed" | "turn.failed" => at + 1 != lines.len(),
                    "error" => false,
                    _ => {
                        let (id, of) = (line["item"]["id"].to_string(), &line["item"]["type"]);
                        let early = !turn && *of != "error";
                        let whole = AT_ONCE.iter().any(|kind| of == kind);
                        let known = items.contains(&(false, id.clone()));
                        let begun = whole || kind == "item.started" || known;
                        let new = items.insert((kind == "item.completed", id));
                        early || !begun || (!new && kind != "item.updated")
                    }
                };
                if bad {
                    return Err(broken(format!("out of order: {}", short(line))));
                }
            }
        }
        Ok(())
    }

    /// The notifications of an app-server: a turn begins, then its items, each begun before it goes on,
    /// then it ends once; one runs at a time in a thread.
    pub(super) fn app_order(&self) -> Held {
        let mut active: BTreeMap<(ProcessIndex, String), String> = BTreeMap::new();
        let mut over: BTreeSet<(ProcessIndex, String)> = BTreeSet::new();
        let mut items: BTreeSet<(ProcessIndex, String)> = BTreeSet::new();
        for (_, process, frame) in self.played.recording.frames() {
            let params = &frame["params"];
            let thread = (process, params["threadId"].to_string());
            let method = frame["method"].as_str().unwrap_or_default();
            let named = params.get("turnId").or_else(|| params["turn"].get("id"));
            let turn = named.map(ToString::to_string).unwrap_or_default();
            let item = params.get("itemId").or_else(|| params["item"].get("id"));
            let item = (process, item.map(ToString::to_string).unwrap_or_default());
            let runs = active.get(&thread) == Some(&turn);
            let good = match method {
                "turn/started" => {
                    let new = !over.contains(&(process, turn.clone()));
                    new && active.insert(thread, turn).is_none()
                }
                "turn/completed" => {
                    active.remove(&thread);
                    over.insert((process, turn)) && runs
                }
                "item/started" => runs && items.insert(item),
                "item/completed" => runs && items.contains(&item),
                _ if method.starts_with("item/") => runs && items.contains(&item),
                _ => true,
            };
            if !good {
                return Err(broken(format!("out of order: {}", short(frame))));
            }
        }
        Ok(())
    }

    /// Every item that was begun is over when its turn is.
    pub(super) fn items_closed(&self) -> Held {
        let mut open: BTreeSet<(ProcessIndex, String, String)> = BTreeSet::new();
        for (_, process, frame) in self.played.recording.frames() {
            let params = if frame["params"].is_object() {
                &frame["params"]
            } else {
                frame
            };
            let kind = frame["method"].as_str().or_else(|| frame["type"].as_str());
            let kind = kind.unwrap_or_default().replace('/', ".");
            let turn = params["turn"].get("id").or_else(|| params.get("turnId"));
            let turn = turn.map(ToString::to_string).unwrap_or_default();
            let item = (process, turn.clone(), params["item"]["id"].to_string());
            match kind.as_str() {
                "item.started" => {
                    open.insert(item);
                }
                "item.completed" => {
                    open.remove(&item);
                }
                "turn.completed" | "turn.failed" => {
                    let left = open
                        .iter()
                        .find(|(of, in_turn, _)| *of == process && *in_turn == turn);
                    if let Some((_, _, id)) = left {
                        return Err(broken(format!("{id} is open at {}", short(frame))));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What stands on stderr of a process, from its start.
    pub(super) fn stderr(&self, process: &str) -> String {
        let all = self.played.names.get(process).cloned().unwrap_or_default();
        let entries = self.played.recording.entries.iter();
        entries
            .filter(|entry| all.contains(&entry.process))
            .filter_map(|entry| match &entry.what {
                What::Stderr(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
            .collect()
    }

    /// What the processes were sent, as JSON.
    fn said_frames(&self) -> Vec<(ProcessIndex, Value)> {
        let entries = self.played.recording.entries.iter();
        entries
            .filter_map(|entry| match &entry.what {
                What::Sent(bytes) => {
                    let frame = serde_json::from_slice(bytes).unwrap_or(Value::Null);
                    Some((entry.process, frame))
                }
                _ => None,
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "sdk_tests.rs"]
mod tests;
