//! Operations on sessions: making them, finding them again, leaving them.

use std::time::Duration;

use serde_json::{Value, json};

use super::frame::{self, bad, named};
use super::session::{Session, Terms};
use super::{Greeted, Server};
use crate::fault::on;
use crate::log::{self, Log, Refusal};

impl Server {
    pub(super) fn leave(&mut self, id: &str, name: &str) {
        if on("sqeq-leave-refused") {
            return self.receipt(id, Err(bad("unsupported", "not here")));
        }
        if !on("sqeq-leave-keeps")
            && let Some(session) = self.sessions.remove(name)
        {
            session.leave();
        }
        self.receipt(id, Ok(json!({})));
        if on("sqeq-leave-talks-on") {
            self.wire
                .send(json!({"v": 1, "type": "event", "session": name,
                "event": {"type": "session.changed", "title": "x"}}));
        }
        if on("sqeq-leave-for-good") {
            self.made = Some(name.to_owned());
        }
    }

    fn terms(&self, op: &Value) -> Terms {
        Terms {
            acknowledges: self.greeted == Greeted::WithAcks,
            ..Terms::of(op)
        }
    }

    pub(super) fn new_session(&mut self, id: &str, op: &Value) {
        let cwd = op["cwd"].as_str().unwrap_or("/tmp");
        if !cwd.starts_with('/') && !on("sqeq-any-cwd") {
            return self.receipt(id, Err(bad("invalid", "cwd must be an absolute path")));
        }
        let name = match op["id"].as_str() {
            Some(name) if !on("sqeq-id-ignored") => name.to_owned(),
            _ => frame::uuid(),
        };
        let name = match &self.made {
            Some(made) if on("sqeq-same-session") => made.clone(),
            _ => name,
        };
        if self.folder.join(format!("{name}.jsonl")).exists() && !on("sqeq-same-session") {
            if on("sqeq-id-taken-again") {
                return self.receipt(
                    id,
                    Ok(json!({"session": name, "cwd": cwd, "cursor": 1,
                    "agent": {"id": {"name": "peer"}, "modes": [], "commands": []}})),
                );
            }
            return self.receipt(id, Err(named("invalid", "it exists already", &name)));
        }
        if on("sqeq-store-locked") && log::store_held(&self.folder) {
            return self.receipt(id, Err(self.busy(&name)));
        }
        let log = match Log::create(&self.folder, &name, cwd) {
            Ok(log) => log,
            Err(_) => return self.receipt(id, Err(named("storage", "cannot be made", &name))),
        };
        let _ = std::fs::write(
            self.folder.join(format!("{name}.pid")),
            std::process::id().to_string(),
        );
        if on("sqeq-receipts-late") {
            std::thread::sleep(Duration::from_millis(20));
            return;
        }
        self.made = Some(name.clone());
        let session = Session::start(&name, cwd, log, self.wire.clone(), self.terms(op));
        if on("sqeq-event-first") {
            session.opened();
        }
        let mut view = session.view();
        if on("sqeq-new-without-id") {
            view["session"] = json!("");
        }
        if on("sqeq-cwd-changed") {
            view["cwd"] = json!("/");
        }
        self.receipt(id, Ok(view));
        if !on("sqeq-event-first") && !on("sqeq-opened-unsaid") {
            session.opened();
        }
        self.sessions.insert(name, session);
    }

    pub(super) fn busy(&self, name: &str) -> Value {
        let mut busy = named("busy", "another process has this session", name);
        let pid = std::fs::read_to_string(self.folder.join(format!("{name}.pid")));
        let pid: u32 = pid.ok().and_then(|pid| pid.parse().ok()).unwrap_or(0);
        if !on("sqeq-holder-unnamed") {
            busy["holder"] = json!({"pid": pid, "host": "here"});
        }
        busy
    }

    pub(super) fn resume(&mut self, id: &str, op: &Value) {
        let name = op["session"].as_str().unwrap_or_default().to_owned();
        let gone = on("sqeq-leave-for-good") && self.made.as_ref() == Some(&name);
        let exists = self.folder.join(format!("{name}.jsonl")).exists();
        let found = if gone || (!exists && !on("sqeq-resume-makes-new")) {
            Err(Refusal::Missing)
        } else if exists {
            Log::open(&self.folder, &name)
        } else {
            Log::create(&self.folder, &name, "/tmp").map(|log| (log, log::Content::default()))
        };
        let (log, content) = match found {
            Ok(found) => found,
            Err(Refusal::Missing) => {
                return self.receipt(id, Err(named("not_found", "no such session", &name)));
            }
            Err(Refusal::Held) => return self.receipt(id, Err(self.busy(&name))),
            Err(Refusal::Broken) => {
                return self.receipt(id, Err(named("damaged", "it cannot be read", &name)));
            }
        };
        if let (Some(after), false) = (op["replay"]["after"].as_u64(), on("sqeq-beyond-accepted")) {
            let newest = log.next().saturating_sub(1);
            if after > newest {
                let mut gap = named("gap", "begin anew", &name);
                gap["gap"] = json!({"newest": newest, "after": 0});
                return self.receipt(id, Err(gap));
            }
        }
        let _ = std::fs::write(
            self.folder.join(format!("{name}.pid")),
            std::process::id().to_string(),
        );
        let session = Session::again(&name, log, content, self.wire.clone(), self.terms(op));
        session.replay(&op["replay"]);
        self.receipt(id, Ok(session.view()));
        self.sessions.insert(name, session);
    }

    pub(super) fn list(&self) -> Value {
        let mut sessions = Vec::new();
        for name in log::all(&self.folder) {
            let Some(content) = Log::peek(&self.folder, &name) else {
                continue;
            };
            sessions.push(json!({"session": name, "cwd": content.cwd, "agent": "peer",
                "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
                "turns": 0}));
        }
        if on("sqeq-list-empty") {
            sessions.clear();
        }
        json!({"sessions": sessions})
    }

    pub(super) fn read(&self, session: &Value, op: &Value) -> Result<Value, Value> {
        let name = session.as_str().unwrap_or_default();
        let content = Log::peek(&self.folder, name)
            .ok_or_else(|| named("not_found", "no such session", name))?;
        let after = op["after"].as_u64().unwrap_or(0);
        let after = if on("sqeq-read-from-start") { 0 } else { after };
        let most = op["limit"].as_u64().unwrap_or(1000);
        let most = if on("sqeq-read-whole") { 1000 } else { most };
        let events: Vec<Value> = content
            .updates
            .iter()
            .filter(|event| {
                event["cursor"]
                    .as_u64()
                    .is_some_and(|cursor| cursor > after)
            })
            .take(usize::try_from(most).unwrap_or(1000))
            .map(frame::bare)
            .filter(|_| !on("sqeq-read-empty"))
            .collect();
        Ok(json!({"events": events}))
    }
}
