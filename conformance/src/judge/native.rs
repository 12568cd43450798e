//! Properties of the lines of a server of the native protocol.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Held, Judge, broken, short};
use crate::recording::{ProcessIndex, What};

/// A thing of one process: a turn, an item, a session.
type Of<'a> = (ProcessIndex, &'a str);

impl Judge<'_> {
    /// What one process was sent, as JSON, with the index of the entry.
    fn sent_frames(&self) -> Vec<(usize, ProcessIndex, Value)> {
        let entries = self.played.recording.entries.iter().enumerate();
        entries
            .filter_map(|(index, entry)| match &entry.what {
                What::Sent(bytes) => {
                    let frame = serde_json::from_slice(bytes).unwrap_or(Value::Null);
                    Some((index, entry.process, frame))
                }
                _ => None,
            })
            .collect()
    }

    /// The events of the target: index, process, frame.
    fn events(&self) -> impl Iterator<Item = (usize, ProcessIndex, &Value)> {
        let frames = self.played.recording.frames();
        frames.filter(|(_, _, frame)| frame["type"] == "event")
    }

    pub(super) fn receipts(&self) -> Held {
        let mut submitted: BTreeSet<(ProcessIndex, String)> = BTreeSet::new();
        let mut unclear = false;
        for (_, process, frame) in self.sent_frames() {
            unclear |= !frame.is_object();
            if let Some(id) = frame["id"].as_str() {
                submitted.insert((process, id.to_owned()));
            }
        }
        let mut seen = BTreeSet::new();
        for (_, process, frame) in self.played.recording.frames() {
            if frame["type"] != "receipt" {
                continue;
            }
            let id = frame["id"].as_str().unwrap_or_default().to_owned();
            if !seen.insert((process, id.clone())) {
                return Err(broken(format!("a second receipt: {}", short(frame))));
            }
            if !unclear && !submitted.contains(&(process, id)) {
                return Err(broken(format!("nobody submitted it: {}", short(frame))));
            }
            if frame.get("accepted").is_some() == frame.get("error").is_some() {
                return Err(broken(format!("neither or both: {}", short(frame))));
            }
        }
        Ok(())
    }

    pub(super) fn cursors_grow(&self) -> Held {
        // An attach begins anew.
        let mut attaches = self.sent_frames();
        attaches.retain(|(_, _, frame)| frame["op"]["type"] == "session.resume");
        let mut newest: BTreeMap<Of<'_>, (usize, u64)> = BTreeMap::new();
        for (index, process, frame) in self.events() {
            let (Some(session), Some(cursor)) =
                (frame["session"].as_str(), frame["cursor"].as_u64())
            else {
                continue;
            };
            let since = attaches
                .iter()
                .filter(|(at, of, _)| *at < index && *of == process)
                .filter(|(_, _, resume)| resume["op"]["session"] == session)
                .count();
            let before = newest.insert((process, session), (since, cursor));
            if before.is_some_and(|(attach, before)| attach == since && before >= cursor) {
                return Err(broken(format!(
                    "not after the one before: {}",
                    short(frame)
                )));
            }
        }
        Ok(())
    }

    pub(super) fn turns(&self) -> Held {
        let mut active: BTreeMap<Of<'_>, &str> = BTreeMap::new();
        let mut ended: BTreeMap<Of<'_>, u64> = BTreeMap::new();
        for (_, process, frame) in self.events() {
            let (Some(session), Some(turn)) = (frame["session"].as_str(), frame["turn"].as_str())
            else {
                continue;
            };
            // A second attach may show the past again.
            let cursor = frame["cursor"].as_u64();
            if let Some(end) = ended.get(&(process, turn))
                && cursor.is_none_or(|cursor| cursor > *end)
            {
                return Err(broken(format!("after the turn's end: {}", short(frame))));
            }
            match frame["event"]["type"].as_str() {
                Some("turn.started") => {
                    let before = active.insert((process, session), turn);
                    if before.is_some_and(|before| before != turn) {
                        return Err(broken(format!("another turn is active: {}", short(frame))));
                    }
                }
                Some("turn.ended") => {
                    if active.get(&(process, session)) == Some(&turn) {
                        active.remove(&(process, session));
                    }
                    // A closing that is not recorded yet comes again with its cursor.
                    if let Some(cursor) = cursor {
                        ended.insert((process, turn), cursor);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn deltas(&self) -> Held {
        let mut lengths: BTreeMap<Of<'_>, u64> = BTreeMap::new();
        for (_, process, frame) in self.events() {
            let event = &frame["event"];
            let Some(item) = frame["item"].as_str() else {
                continue;
            };
            match event["type"].as_str() {
                Some("item.started") => {
                    lengths.insert((process, item), 0);
                }
                Some("item.delta") if event["stream"] == "text" => {
                    let text = event["text"].as_str().unwrap_or_default();
                    let length = lengths.entry((process, item)).or_default();
                    if event["offset"].as_u64() != Some(*length) {
                        let why = format!("not at {length}: {}", short(frame));
                        return Err(broken(why));
                    }
                    *length += u64::try_from(text.len()).unwrap_or(0);
                }
                Some("item.ended") => {
                    let text = event["item"]["text"].as_str();
                    let streamed = lengths
                        .remove(&(process, item))
                        .filter(|length| *length > 0);
                    if let (Some(text), Some(length)) = (text, streamed)
                        && u64::try_from(text.len()).unwrap_or(0) != length
                    {
                        let why = format!("{length} bytes were streamed of {}", short(frame));
                        return Err(broken(why));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn questions(&self) -> Held {
        let mut recorded: BTreeMap<Of<'_>, &Value> = BTreeMap::new();
        for (_, process, frame) in self.played.recording.frames() {
            let event = &frame["event"];
            if event["type"] == "request.opened"
                && let Some(id) = event["request"].as_str()
            {
                recorded.insert((process, id), &event["digest"]);
            }
            if frame["type"] == "request"
                && let Some(id) = frame["id"].as_str()
                && recorded.get(&(process, id)) != Some(&&frame["digest"])
            {
                return Err(broken(format!("not as it was recorded: {}", short(frame))));
            }
        }
        Ok(())
    }

    pub(super) fn last(&self) -> Held {
        let mut over: BTreeMap<ProcessIndex, &Value> = BTreeMap::new();
        for (_, process, frame) in self.played.recording.frames() {
            if let Some(last) = over.get(&process) {
                let (frame, last) = (short(frame), short(last));
                return Err(broken(format!("{frame} came after {last}")));
            }
            if frame["type"] == "bye" || frame["fatal"] == true {
                over.insert(process, frame);
            }
        }
        Ok(())
    }

    pub(super) fn cursors(&self, window: &[String; 2], after: &Value, to: Option<&Value>) -> Held {
        let variables = &self.played.variables;
        let after = variables.fill(after).as_u64();
        let to = to.map(|to| variables.fill(to).as_u64());
        let window = self.window(Some(window))?;
        let session = variables.fill(&"$session".into());
        let found: Vec<u64> = self
            .events()
            .filter(|(index, _, frame)| window.holds(*index) && frame["session"] == session)
            .filter_map(|(_, _, frame)| frame["cursor"].as_u64())
            .collect();
        let (Some(after), true) = (after, to.is_none_or(|to| to.is_some())) else {
            return Err(self.unreached("a cursor"));
        };
        let last = to.flatten().unwrap_or(after + found.len() as u64);
        let due: Vec<u64> = (after + 1..=last).collect();
        if found == due {
            return self.complete();
        }
        let odd = found.iter().zip(&due).find(|(found, due)| found != due);
        Err(self.missing(match odd {
            Some((found, due)) => format!("cursor {found} came, {due} was due"),
            None => format!(
                "{} events after cursor {after} came, {} were due",
                found.len(),
                due.len()
            ),
        }))
    }
}

#[cfg(test)]
#[path = "native_tests.rs"]
mod tests;
