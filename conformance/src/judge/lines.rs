//! Properties of every line of a target.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Finding, Held, Judge, broken, short};
use crate::check::LineRule;
use crate::driver::{Asked, Awaited};
use crate::recording::{Ending, ProcessIndex, What};
use crate::tongue::Tongue;

/// What an agent may call in a client, and the capability that it needs for it.
const METHODS: [(&str, Option<&str>); 12] = [
    ("session/update", None),
    ("session/request_permission", None),
    ("fs/read_text_file", Some("/fs/readTextFile")),
    ("fs/write_text_file", Some("/fs/writeTextFile")),
    ("terminal/create", Some("/terminal")),
    ("terminal/output", Some("/terminal")),
    ("terminal/wait_for_exit", Some("/terminal")),
    ("terminal/kill", Some("/terminal")),
    ("terminal/release", Some("/terminal")),
    ("elicitation/create", Some("/elicitation")),
    ("elicitation/complete", Some("/elicitation")),
    ("mcp/message", None),
];

impl Judge<'_> {
    pub(super) fn lines(&self, rule: LineRule) -> Held {
        // Silence keeps every rule and shows nothing.
        if self.played.recording.lines().next().is_none() {
            return Err(Finding::Skipped("the target said nothing".to_owned()));
        }
        match rule {
            LineRule::Utf8 => self.each_line(|bytes| std::str::from_utf8(bytes).is_ok()),
            LineRule::Json => {
                let blank = |bytes: &[u8]| bytes.trim_ascii().is_empty();
                self.each_line(|bytes| {
                    blank(bytes) || serde_json::from_slice::<Value>(bytes).is_ok()
                })
            }
            LineRule::NotEmpty => self.each_line(|bytes| !bytes.trim_ascii().is_empty()),
            LineRule::Ended => self.ended(),
            LineRule::Messages => self.each_frame(is_message),
            LineRule::Responses => self.each_frame(is_sound_response),
            LineRule::AnsweredOnce => self.answered_once(),
            LineRule::OwnIds => self.own_ids(),
            LineRule::KnownMethods => self.each_frame(|frame| {
                frame["method"].as_str().is_none_or(|method| {
                    method.starts_with(['_', '$'])
                        || METHODS.iter().any(|(known, _)| *known == method)
                })
            }),
            LineRule::Offered => self.offered(),
            LineRule::Schema => self.schema(),
            LineRule::KnownMembers => self.known_members(),
            LineRule::KnownSessions => self.known_sessions(),
            LineRule::NotBeforeNew => self.not_before_new(),
            LineRule::Frames => self.each_frame(|frame| {
                frame["v"] == 1 && frame["type"].as_str().is_some_and(|kind| !kind.is_empty())
            }),
            LineRule::Receipts => self.receipts(),
            LineRule::CursorsGrow => self.cursors_grow(),
            LineRule::Turns => self.turns(),
            LineRule::Deltas => self.deltas(),
            LineRule::Questions => self.questions(),
            LineRule::Last => self.last(),
            LineRule::Short => self.short_lines(),
            LineRule::NoSeparators => self.no_separators(),
            LineRule::Controls => self.controls(),
            LineRule::InTurn => self.in_turn(),
            LineRule::ExecOrder => self.exec_order(),
            LineRule::AppOrder => self.app_order(),
            LineRule::ItemsClosed => self.items_closed(),
        }
    }

    pub(super) fn each_line(&self, good: impl Fn(&[u8]) -> bool) -> Held {
        let bad = self
            .played
            .recording
            .lines()
            .find(|(_, _, line)| !good(&line.bytes));
        match bad {
            None => Ok(()),
            Some((_, _, line)) => {
                let text = String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(200)]);
                Err(broken(format!("the line {text:?}")))
            }
        }
    }

    pub(super) fn each_frame(&self, good: impl Fn(&Value) -> bool) -> Held {
        let mut frames = self.played.recording.frames();
        match frames.find(|(_, _, frame)| !good(frame)) {
            None => Ok(()),
            Some((_, _, frame)) => Err(broken(short(frame))),
        }
    }

    /// A line that a kill cut off is the killer's doing.
    fn ended(&self) -> Held {
        let killed = |process: ProcessIndex| {
            let exit = self.played.recording.exit(process);
            exit.is_none_or(|(_, code)| code == -9)
        };
        let open = self.played.recording.lines().find(|(_, process, line)| {
            line.ending == Ending::None && !line.bytes.is_empty() && !killed(*process)
        });
        match open {
            None => Ok(()),
            Some((_, _, line)) => Err(broken(format!(
                "the stream ends with {:?}",
                String::from_utf8_lossy(&line.bytes)
            ))),
        }
    }

    /// The requests that were sent, by process and id, with method and how often.
    fn sent(&self) -> Sent {
        let mut sent = Sent::default();
        for entry in &self.played.recording.entries {
            let What::Sent(bytes) = &entry.what else {
                continue;
            };
            match serde_json::from_slice::<Value>(bytes) {
                Ok(frame) if frame.is_object() => {
                    let answers = frame.get("result").is_some() || frame.get("error").is_some();
                    if let (Some(id), false) = (frame.get("id"), answers) {
                        let method = frame["method"].as_str().unwrap_or_default();
                        sent.add(entry.process, id, method);
                    }
                }
                // What is no message of JSON-RPC may be read as one, or as several.
                _ => sent.unclear = true,
            }
        }
        let responses = |asked: &&Asked| asked.awaited == Awaited::Response;
        for asked in self.played.labels.values().filter(responses) {
            sent.requests
                .entry((asked.process, asked.id.to_string()))
                .or_default();
        }
        sent
    }

    fn answered_once(&self) -> Held {
        let sent = self.sent();
        let mut answers: BTreeMap<(ProcessIndex, String), usize> = BTreeMap::new();
        for (_, process, frame) in self.played.recording.frames() {
            let id = match frame.get("id") {
                Some(id) if frame.get("method").is_none() && !id.is_null() => id.to_string(),
                _ => continue,
            };
            let count = answers.entry((process, id.clone())).or_default();
            *count += 1;
            match sent.requests.get(&(process, id)) {
                None if sent.unclear => {}
                None => return Err(broken(format!("nobody asked: {}", short(frame)))),
                Some(methods) if *count > methods.len().max(1) => {
                    return Err(broken(format!("answered again: {}", short(frame))));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn own_ids(&self) -> Held {
        let mut open: Vec<(ProcessIndex, &Value)> = Vec::new();
        for entry in &self.played.recording.entries {
            match &entry.what {
                What::Line(line) => {
                    let Some(frame) = &line.json else { continue };
                    if let (Some(id), true) = (frame.get("id"), frame.get("method").is_some()) {
                        if open.contains(&(entry.process, id)) {
                            return Err(broken(format!("{id} is open: {}", short(frame))));
                        }
                        open.push((entry.process, id));
                    }
                }
                What::Sent(bytes) => {
                    let answer = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
                    if answer.get("method").is_none() {
                        open.retain(|(process, id)| {
                            *process != entry.process || answer.get("id") != Some(id)
                        });
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn offered(&self) -> Held {
        let mut offers: BTreeMap<ProcessIndex, Value> = BTreeMap::new();
        for entry in &self.played.recording.entries {
            if let What::Sent(bytes) = &entry.what {
                let frame = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
                if frame["method"] == "initialize" {
                    let offer = frame["params"]["clientCapabilities"].clone();
                    offers.insert(entry.process, offer);
                }
            }
            let Some(frame) = entry.frame() else { continue };
            let needed = METHODS
                .iter()
                .find(|(method, _)| frame["method"] == *method)
                .and_then(|(_, needed)| *needed);
            let Some(pointer) = needed else { continue };
            let offer = offers.get(&entry.process).and_then(|o| o.pointer(pointer));
            if matches!(offer, None | Some(Value::Null | Value::Bool(false))) {
                return Err(broken(short(frame)));
            }
        }
        Ok(())
    }

    fn schema(&self) -> Held {
        if self.schemas.tongue.tagged() {
            return self.each_fault(|frame| self.schemas.frame(frame));
        }
        let version = self.version();
        let sent = self.sent();
        for (_, process, frame) in self.played.recording.frames() {
            // Answered in another version, whose shapes are others.
            if frame["result"]["protocolVersion"]
                .as_u64()
                .is_some_and(|answered| answered != version)
            {
                continue;
            }
            let found = match frame.get("method").and_then(Value::as_str) {
                Some(method) => self.schemas.call(method, &frame["params"]),
                None => {
                    let key = (process, frame["id"].to_string());
                    let method = sent.requests.get(&key).and_then(|methods| methods.first());
                    match (method, frame.get("result")) {
                        (Some(method), Some(result)) => self.schemas.result(method, result),
                        _ => None,
                    }
                }
            };
            if let Some(why) = found {
                return Err(broken(format!("{why}: {}", short(frame))));
            }
        }
        Ok(())
    }

    /// The version of the protocol that the cases speak here.
    fn version(&self) -> u64 {
        if self.schemas.tongue == Tongue::AcpV2 {
            2
        } else {
            1
        }
    }

    fn each_fault(&self, fault: impl Fn(&Value) -> Option<String>) -> Held {
        for (_, _, frame) in self.played.recording.frames() {
            if let Some(why) = fault(frame) {
                return Err(broken(format!("{why}: {}", short(frame))));
            }
        }
        Ok(())
    }

    fn known_members(&self) -> Held {
        let version = self.version();
        let sent = self.sent();
        for (_, process, frame) in self.played.recording.frames() {
            // Answered in another version, whose shapes are others.
            if frame["result"]["protocolVersion"]
                .as_u64()
                .is_some_and(|answered| answered != version)
            {
                continue;
            }
            let extra = match frame.get("method").and_then(Value::as_str) {
                Some(method) => self.schemas.extra_in_call(method, &frame["params"]),
                None => {
                    let key = (process, frame["id"].to_string());
                    let method = sent.requests.get(&key).and_then(|methods| methods.first());
                    method.and_then(|method| self.schemas.extra_in_result(method, &frame["result"]))
                }
            };
            if let Some(member) = extra {
                return Err(broken(format!("`{member}` in {}", short(frame))));
            }
        }
        Ok(())
    }

    /// Sessions that a connection knows, with the entry that made them known.
    fn sessions(&self) -> Vec<(ProcessIndex, Value, usize)> {
        let sent = self.sent();
        let mut known = Vec::new();
        for (index, entry) in self.played.recording.entries.iter().enumerate() {
            if let What::Sent(bytes) = &entry.what {
                let frame = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
                let opens = ["session/load", "session/resume"];
                if opens.iter().any(|method| frame["method"] == *method) {
                    let session = frame["params"]["sessionId"].clone();
                    known.push((entry.process, session, index));
                }
            }
            let Some(frame) = entry.frame() else { continue };
            let key = (entry.process, frame["id"].to_string());
            let methods = sent.requests.get(&key);
            let makes =
                |method: &String| ["session/new", "session/fork"].contains(&method.as_str());
            if methods.is_some_and(|methods| methods.iter().any(makes)) {
                let session = frame["result"]["sessionId"].clone();
                known.push((entry.process, session, index));
            }
        }
        known
    }

    fn known_sessions(&self) -> Held {
        let known = self.sessions();
        self.each_update(|_, process, session| {
            known
                .iter()
                .any(|(of, known, _)| *of == process && known == session)
        })
    }

    fn not_before_new(&self) -> Held {
        let known = self.sessions();
        self.each_update(|index, process, session| {
            let mut since = known
                .iter()
                .filter(|(of, known, _)| *of == process && known == session)
                .map(|(_, _, since)| *since);
            // A session that is never known is another rule's.
            since.next().is_none_or(|since| since < index)
        })
    }

    fn each_update(&self, good: impl Fn(usize, ProcessIndex, &Value) -> bool) -> Held {
        for (index, process, frame) in self.played.recording.frames() {
            let update = frame["method"] == "session/update";
            if update && !good(index, process, &frame["params"]["sessionId"]) {
                return Err(broken(short(frame)));
            }
        }
        Ok(())
    }
}

/// The requests of a recording.
#[derive(Default)]
struct Sent {
    requests: BTreeMap<(ProcessIndex, String), Vec<String>>,
    /// Something was sent that a target may read as requests we do not know.
    unclear: bool,
}

impl Sent {
    fn add(&mut self, process: ProcessIndex, id: &Value, method: &str) {
        let methods = self.requests.entry((process, id.to_string())).or_default();
        methods.push(method.to_owned());
    }
}

/// A request, a notification or a response.
fn is_message(frame: &Value) -> bool {
    let id = frame.get("id");
    let sound_id = id.is_none_or(|id| id.is_string() || id.is_number() || id.is_null());
    let answers = frame.get("result").is_some() || frame.get("error").is_some();
    let calls = frame.get("method").is_some_and(Value::is_string);
    frame["jsonrpc"] == json!("2.0") && sound_id && (calls != answers) && (calls || id.is_some())
}

fn is_sound_response(frame: &Value) -> bool {
    let (result, error) = (frame.get("result"), frame.get("error"));
    match (result, error) {
        (_, None) => true,
        (None, Some(error)) => {
            let code = &error["code"];
            (code.is_i64() || code.is_u64()) && error["message"].is_string()
        }
        (Some(_), Some(_)) => false,
    }
}
