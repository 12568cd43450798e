//! What is done to a conversation as a whole: added to, gone back in, forked, summed up.

use serde_json::{Value, json};

use super::Server;
use super::frame::{bad, named, pointed, uuid};
use super::session::{Kept, Place, Session, Shared, State, Terms};
use crate::fault::on;
use crate::log::Log;

/// Why an item cannot be added; nothing when it can.
fn flaw(item: &Value) -> Option<&'static str> {
    match item["type"].as_str() {
        Some("user_message") if item["content"].is_array() => None,
        Some("user_message") => Some("/content"),
        Some("agent_message" | "thought") if item["text"].is_string() => None,
        Some("agent_message" | "thought") => Some("/text"),
        Some("tool_call") if item["status"].is_string() => None,
        _ => Some("/type"),
    }
}

/// The items of an operation, or the place of the first that cannot be taken.
fn items(list: &Value, pointer: &str) -> Result<Vec<Value>, Value> {
    let list = list.as_array().cloned().unwrap_or_default();
    if list.is_empty() {
        return Err(pointed("invalid", "from 1 to 1000 items", pointer));
    }
    for (at, item) in list.iter().enumerate() {
        if let Some(place) = flaw(item)
            && !on("sqeq-append-half")
        {
            let pointer = format!("{pointer}/{at}{place}");
            return Err(pointed("invalid", "not a whole item", &pointer));
        }
    }
    Ok(list)
}

impl Session {
    /// Adds items without a turn.
    pub(super) fn append(&self, cause: &str, op: &Value) -> Result<Value, Value> {
        if on("sqeq-append-refused") {
            return Err(bad("unsupported", "not here"));
        }
        let items = items(&op["items"], "/op/items")?;
        let mut state = self.shared.idle()?;
        let flawed = items.iter().position(|item| flaw(item).is_some());
        for item in items.iter().take(flawed.unwrap_or(usize::MAX)) {
            self.shared.add(&mut state, cause, item);
        }
        match flawed {
            Some(at) => {
                let pointer = format!("/op/items/{at}");
                Err(pointed("invalid", "not a whole item", &pointer))
            }
            None => Ok(json!({})),
        }
    }

    /// Goes back to a bookmark.
    pub(super) fn rewind(&self, cause: &str, op: &Value) -> Result<Value, Value> {
        let to = op["to"].as_u64().unwrap_or(0);
        if on("sqeq-rewind-refused") {
            return Err(bad("unsupported", "not here"));
        }
        let mut state = self.shared.idle()?;
        let events = self.shared.recorded();
        let bookmark = events.iter().any(|frame| {
            let kind = frame["event"]["type"].as_str().unwrap_or_default();
            let whole = frame.get("turn").is_none() && kind == "item.ended";
            frame["cursor"] == to && (whole || kind == "turn.ended" || kind == "session.opened")
        });
        if !bookmark && !on("sqeq-rewind-anywhere") {
            return Err(bad("invalid", "no bookmark"));
        }
        let marker = json!({"type": "marker", "marker": "rewind", "to": to,
            "kept": [{"from": 1, "to": to}], "ran": 0});
        if !on("sqeq-rewind-untold") {
            let place = Place {
                turn: "",
                item: None,
                cause,
            };
            self.shared
                .tell(&mut state, Some(&place), marker, Kept::Yes);
        }
        Ok(json!({}))
    }

    /// Sums the conversation up, in a turn of its own.
    pub(super) fn compact(&self, cause: &str) -> Result<Value, Value> {
        if on("sqeq-compact-unsupported") {
            return Err(bad("unsupported", "not here"));
        }
        let mut state = self.shared.idle()?;
        let events = self.shared.recorded();
        let is = |frame: &&Value| frame["event"]["item"]["type"] == "compaction";
        let summed = events.iter().rposition(|frame| is(&frame));
        let since = events.iter().skip(summed.map_or(0, |at| at + 1));
        let said = since
            .filter(|frame| frame["event"]["item"].is_object())
            .count();
        if said == 0 && !on("sqeq-compact-again") {
            return Err(bad("invalid", "nothing was said since"));
        }
        let turn = uuid();
        let newest = Shared::next(&state).saturating_sub(1);
        let mut item = json!({"type": "compaction", "summary": "what was said",
            "covers": {"from": 1, "to": newest},
            "window": events.iter().filter(is).count() + 1,
            "digest": "00000000000000000000000000000000"});
        if on("sqeq-compact-bare") {
            item["covers"]["to"] = json!(1);
        }
        let shown = uuid();
        let place = |item| Place {
            turn: &turn,
            item,
            cause,
        };
        let started = json!({"type": "turn.started", "base": 1,
            "config": {"agent": "peer", "cwd": self.shared.cwd, "policy": 0}});
        let mut tell = |item, event| {
            self.shared
                .tell(&mut state, Some(&place(item)), event, Kept::Yes)
        };
        tell(None, started);
        let at = tell(
            Some(shown.as_str()),
            json!({"type": "item.ended", "item": item}),
        );
        let outcome = if on("sqeq-compact-fails") {
            "failed"
        } else {
            "completed"
        };
        tell(
            None,
            json!({"type": "turn.ended", "outcome": outcome, "bookmark": at + 1}),
        );
        Ok(json!({"turn": turn}))
    }
}

impl Shared {
    /// The state, unless a turn runs or waits.
    fn idle(&self) -> Result<std::sync::MutexGuard<'_, State>, Value> {
        let state = self.lock();
        if state.active.is_some() || !state.waiting.is_empty() {
            return Err(named("busy", "a turn is active or waits", &self.id));
        }
        Ok(state)
    }

    /// Every event in the log.
    pub(super) fn recorded(&self) -> Vec<Value> {
        let folder = std::env::var_os("PEER_STATE").map_or_else(std::env::temp_dir, Into::into);
        Log::peek(&folder, &self.id).map_or_else(Vec::new, |content| content.updates)
    }

    fn add(&self, state: &mut State, cause: &str, item: &Value) {
        let id = uuid();
        let place = Place {
            turn: "",
            item: Some(&id),
            cause,
        };
        let kept = if on("sqeq-append-unrecorded") {
            Kept::No
        } else {
            Kept::Yes
        };
        let attached = state.attached;
        state.attached = attached && !on("sqeq-append-untold");
        let event = json!({"type": "item.ended", "item": item});
        self.tell(state, Some(&place), event, kept);
        state.attached = attached;
    }
}

impl Server {
    /// Makes a session that begins as this one did.
    pub(super) fn fork(&self, name: &str, op: &Value) -> Result<Value, Value> {
        let Some(parent) = self.sessions.get(name) else {
            return Err(named("not_found", "no such session", name));
        };
        if on("sqeq-fork-refused") {
            return Err(bad("unsupported", "not here"));
        }
        if on("sqeq-fork-same") {
            return Ok(parent.view());
        }
        let at = op["at"].as_u64().filter(|_| !on("sqeq-fork-whole"));
        let at = at.unwrap_or_else(|| parent.newest());
        let child = uuid();
        let shared = &parent.shared;
        let log = Log::create(&self.folder, &child, &shared.cwd);
        let mut log = log.map_err(|_| named("storage", "cannot be made", &child))?;
        for mut frame in shared.recorded() {
            if frame["cursor"].as_u64().is_some_and(|cursor| cursor <= at) {
                frame["session"] = json!(child);
                log.append(&frame)
                    .map_err(|_| named("storage", "cannot be written", &child))?;
            }
        }
        drop(log);
        if on("sqeq-fork-gone") {
            let _ = std::fs::remove_file(self.folder.join(format!("{child}.jsonl")));
        }
        if on("sqeq-fork-cuts-parent") {
            let _ = parent.rewind("fork", &json!({"to": at}));
        }
        let mut view = parent.view();
        view["session"] = json!(child);
        view["cursor"] = json!(at);
        Ok(view)
    }

    /// Makes a session of items.
    pub(super) fn import(&mut self, id: &str, op: &Value) -> Result<Value, Value> {
        if on("sqeq-import-refused") {
            return Err(bad("unsupported", "not here"));
        }
        let source = &op["source"];
        let mut items = items(&source["items"], "/op/source/items")?;
        if on("sqeq-import-empties") {
            items.clear();
        }
        let cwd = source["cwd"].as_str().unwrap_or("/tmp");
        let name = uuid();
        let log = Log::create(&self.folder, &name, cwd);
        let log = log.map_err(|_| named("storage", "cannot be made", &name))?;
        let session = Session::start(&name, cwd, log, self.wire.clone(), Terms::of(op));
        {
            let mut state = session.shared.lock();
            state.attached = false;
            let start = if on("sqeq-import-as-new") {
                "new"
            } else {
                "imported"
            };
            let event = json!({"type": "session.opened", "start": start, "id": name,
                "format": 1, "program": "peer", "source": "sqeq", "cwd": cwd,
                "agent": {"name": "peer"}, "workspace": {}});
            session.shared.tell(&mut state, None, event, Kept::Yes);
            for item in &items {
                session.shared.add(&mut state, id, item);
            }
        }
        let view = session.view();
        if on("sqeq-import-attaches") {
            self.sessions.insert(name, session);
        } else {
            session.leave();
        }
        Ok(view)
    }
}

/// The past as it is in force: without what a rewind left behind.
pub(super) fn in_force(past: &[Value]) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for frame in past {
        let event = &frame["event"];
        if event["marker"] == "rewind" && !on("sqeq-rewind-ignored") {
            let to = event["to"].as_u64().unwrap_or(0);
            kept.retain(|frame| frame["cursor"].as_u64().is_some_and(|cursor| cursor <= to));
        }
        if event["item"]["type"] == "compaction" && on("sqeq-compact-hides") {
            kept.retain(|frame| frame["cursor"] == 1);
        }
        kept.push(frame.clone());
    }
    kept
}
