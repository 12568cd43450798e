//! What is shown of the past, and what a dead process left open in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::frame::uuid;
use super::history::in_force;
use super::session::{Job, Kept, Place, Session, Shared};
use crate::fault::on;

impl Session {
    /// Sends what was before.
    pub(super) fn replay(&self, what: &Value) {
        let shared = &self.shared;
        let state = shared.lock();
        let after = match what {
            Value::String(word) if word == "all" => 0,
            Value::Object(members) => members["after"].as_u64().unwrap_or(0),
            _ if on("sqeq-none-is-all") => 0,
            _ => u64::MAX,
        };
        let after = if on("sqeq-after-inclusive") {
            after.saturating_sub(1)
        } else {
            after
        };
        let mut skip = usize::from(on("sqeq-replay-skips-one") && after == 0);
        let past = if after == 0 {
            in_force(&state.past)
        } else {
            state.past.clone()
        };
        // What was never written stands with what is before it.
        let mut cursor = 0;
        for frame in &past {
            cursor = frame["cursor"].as_u64().unwrap_or(cursor);
            let user = frame["event"]["item"]["type"] == "user_message";
            if cursor <= after || (user && on("sqeq-replay-without-prompts")) {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let mut frame = frame.clone();
            if on("sqeq-replay-new-ids") && frame.get("item").is_some() && !user {
                frame["item"] = json!(uuid());
            }
            shared.wire.send(frame);
        }
        if on("sqeq-replay-differs") {
            let event = json!({"type": "session.changed", "title": std::process::id().to_string()});
            shared
                .wire
                .send(json!({"v": 1, "type": "event", "session": shared.id, "event": event}));
        }
        if state.damaged > 0 && after != u64::MAX && !on("sqeq-damage-untold") {
            let event = json!({"type": "damage", "segment": "the log", "offset": 0, "length": 1});
            shared
                .wire
                .send(json!({"v": 1, "type": "event", "session": shared.id, "event": event}));
        }
        if on("sqeq-load-asks") && after != u64::MAX {
            shared.wire.send(
                json!({"v": 1, "type": "request", "id": uuid(), "session": shared.id,
                "turn": uuid(), "kind": "permission", "digest": "d",
                "payload": {"title": "x", "tool": "x", "pattern": "x", "options": []}}),
            );
        }
    }
}

impl Shared {
    /// Closes what a dead process left open, as it is told at an attach.
    pub(super) fn close_open(&self) {
        let mut state = self.lock();
        let mut turn: Option<(String, String)> = None;
        let mut calls: BTreeMap<String, Value> = BTreeMap::new();
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        // Ends that a full disk refused, each with its place.
        let mut refused: Vec<(usize, Value)> = Vec::new();
        for (at, frame) in state.past.iter().enumerate() {
            let event = &frame["event"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            match event["type"].as_str() {
                Some("turn.started") => {
                    if let Some((turn, cause)) = turn.take() {
                        let event =
                            json!({"type": "turn.ended", "outcome": "interrupted", "bookmark": at});
                        let end = json!({"v": 1, "type": "event", "session": self.id, "event": event,
                            "turn": turn, "cause": cause});
                        refused.push((at, end));
                    }
                    turn = Some((text(&frame["turn"]), text(&frame["cause"])));
                }
                Some("turn.ended") => turn = None,
                Some("item.started") => {
                    calls.insert(text(&frame["item"]), event["item"].clone());
                }
                Some("item.partial") => {
                    let so_far = texts.entry(text(&frame["item"])).or_default();
                    so_far.push_str(event["text"].as_str().unwrap_or_default());
                }
                Some("item.ended") => {
                    calls.remove(&text(&frame["item"]));
                    texts.remove(&text(&frame["item"]));
                }
                _ => {}
            }
        }
        for (at, end) in refused.into_iter().rev() {
            state.past.insert(at, end);
        }
        let Some((turn, cause)) = turn else { return };
        let attached = std::mem::replace(&mut state.attached, false);
        let from = state.log.next();
        let mut ends: Vec<(Option<String>, Value)> = Vec::new();
        if !on("sqeq-open-calls-stay") {
            ends.extend(calls.into_iter().map(|(id, mut call)| {
                call["status"] = json!("failed");
                (Some(id), json!({"type": "item.ended", "item": call}))
            }));
        }
        ends.extend(texts.into_iter().map(|(id, text)| {
            let item = json!({"type": "agent_message", "text": text, "finish": "interrupted"});
            (Some(id), json!({"type": "item.ended", "item": item}))
        }));
        if !on("sqeq-open-turns-stay") {
            let bookmark = from + u64::try_from(ends.len()).unwrap_or(0);
            let event =
                json!({"type": "turn.ended", "outcome": "interrupted", "bookmark": bookmark});
            ends.push((None, event));
        }
        for (item, event) in ends {
            let place = Place {
                turn: &turn,
                item: item.as_deref(),
                cause: &cause,
            };
            let cursor = self.tell(&mut state, Some(&place), event.clone(), Kept::Yes);
            let mut frame = json!({"v": 1, "type": "event", "session": self.id, "turn": turn,
                "cause": cause, "cursor": cursor, "event": event});
            if let Some(item) = item {
                frame["item"] = json!(item);
            }
            state.past.push(frame);
        }
        if on("sqeq-runs-again") {
            let input = json!([{"type": "text", "text": "/stream 3 10 5"}]);
            let again = state.past.iter().rev().find_map(|frame| {
                let item = &frame["event"]["item"];
                (item["type"] == "user_message").then(|| item["content"].clone())
            });
            state.waiting.push_back(Job {
                turn: uuid(),
                input: again.unwrap_or(input),
                cause,
                keyed: None,
            });
        }
        state.attached = attached;
    }
}
