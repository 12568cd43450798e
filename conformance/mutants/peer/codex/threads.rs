//! What is asked about threads.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::app::{App, Fault};
use super::thread::{Thread, shown, turns, user};
use crate::claude::folder;
use crate::fault::on;
use crate::log::{Content, Log, Refusal, all};
use crate::native::uuid;

impl App {
    /// Loads a thread; the answer about it.
    fn load(&self, id: &str, log: Log, cwd: &str, params: &Value) -> Value {
        let policy = params["approvalPolicy"].as_str().unwrap_or("on-request");
        let full = params["sandbox"] == "danger-full-access";
        let thread = Thread {
            cwd: cwd.to_owned(),
            policy: policy.to_owned(),
            full,
            active: None,
            interrupted: false,
            granted: Vec::new(),
            log: Arc::new(Mutex::new(log)),
        };
        self.desk
            .change(|state| state.own.threads.insert(id.to_owned(), thread));
        answer(id, cwd, policy, full, None)
    }

    /// Begins one; it is told behind the answer.
    pub(super) fn begin(&self, id: &Value, params: &Value) -> Result<Option<Value>, Fault> {
        let thread = if on("one-thread") {
            "only".to_owned()
        } else {
            uuid()
        };
        let cwd = params["cwd"].as_str().unwrap_or("/");
        let log = match Log::create(&folder(), &thread, cwd) {
            Ok(log) => log,
            Err(_) => return Err((-32603, "cannot be made".to_owned())),
        };
        let answered = self.load(&thread, log, cwd, params);
        let told = json!({"thread": answered["thread"]});
        if on("started-first") {
            self.notify("thread/started", &told);
        }
        self.answer(&json!({"id": id, "result": answered}));
        if !on("started-first") {
            self.notify("thread/started", &told);
        }
        Ok(None)
    }

    /// Loads one that is there.
    pub(super) fn resume(&self, params: &Value) -> Result<Value, Fault> {
        let id = named(params)?;
        let loaded = self.desk.lock().own.threads.get(&id).map(|thread| {
            let active = thread.active.clone();
            (
                thread.cwd.clone(),
                thread.policy.clone(),
                thread.full,
                active,
            )
        });
        if let Some((cwd, policy, full, active)) = loaded {
            if on("resume-stops") {
                self.desk.change(|state| {
                    if let Some(thread) = state.own.threads.get_mut(&id) {
                        thread.interrupted = true;
                    }
                });
            }
            if on("resume-once") {
                return Err((-32600, "it is loaded".to_owned()));
            }
            return Ok(answer(&id, &cwd, &policy, full, active.as_deref()));
        }
        let missing = format!("no rollout found for thread id {id}");
        match Log::open(&folder(), &id) {
            Ok((log, content)) => {
                let answered = self.load(&id, log, &content.cwd, params);
                if content.lost > 0 && !on("damage-untold") {
                    let message = format!("the thread is damaged: {} records", content.lost);
                    self.notify("warning", &json!({"threadId": id, "message": message}));
                }
                if on("resume-tells") {
                    let item = user("old", "old");
                    self.notify(
                        "item/completed",
                        &json!({"threadId": id, "turnId": "old",
                        "item": item, "completedAtMs": 1}),
                    );
                }
                Ok(answered)
            }
            Err(Refusal::Held) if on("busy-is-missing") => Err((-32600, missing)),
            Err(Refusal::Held) => {
                Err((-32600, format!("thread {id} already has an active writer")))
            }
            Err(Refusal::Broken) => Err((-32603, "failed to read thread".to_owned())),
            Err(Refusal::Missing) if on("substitute") || on("any-id-made") => {
                let log = Log::create(&folder(), &id, "/");
                let log = log.map_err(|_| (-32603, "cannot be made".to_owned()))?;
                Ok(self.load(&id, log, "/", params))
            }
            Err(Refusal::Missing) => Err((-32600, missing)),
        }
    }

    /// Shows one without loading it.
    pub(super) fn read(&self, params: &Value) -> Result<Value, Fault> {
        let id = named(params)?;
        let Some(content) = Log::peek(&folder(), &id) else {
            return Err((-32600, format!("thread not loaded: {id}")));
        };
        let active = self.active(&id);
        let mut thread = shown(&id, &content.cwd, &content, active.as_deref());
        if params["includeTurns"] == true || on("turns-always") {
            thread["turns"] = json!(turns(&content, active.as_deref()));
        }
        Ok(json!({"thread": thread}))
    }

    /// The turn that runs in a thread.
    pub(super) fn active(&self, id: &str) -> Option<String> {
        let state = self.desk.lock();
        state
            .own
            .threads
            .get(id)
            .and_then(|thread| thread.active.clone())
    }

    /// Makes a copy.
    pub(super) fn fork(&self, params: &Value) -> Result<Value, Fault> {
        let first = named(params)?;
        let Some(content) = Log::peek(&folder(), &first) else {
            return Err((-32600, format!("no rollout found for thread id {first}")));
        };
        if on("fork-is-resume") {
            return self.resume(params);
        }
        let id = uuid();
        let made = Log::create(&folder(), &id, &content.cwd);
        let mut log = made.map_err(|_| (-32603, "cannot be made".to_owned()))?;
        let _ = log.append(&json!({"forked": first}));
        for record in &content.updates {
            if !on("fork-forgets") {
                let _ = log.append(record);
            }
        }
        Ok(self.load(&id, log, &content.cwd, params))
    }
}

/// The thread that params name.
pub(super) fn named(params: &Value) -> Result<String, Fault> {
    let id = params["threadId"].as_str().unwrap_or_default();
    if id.len() != 36 && id != "only" {
        if on("any-id-made") {
            return Ok(uuid());
        }
        return Err((-32600, format!("invalid session id: {id}")));
    }
    Ok(id.to_owned())
}

/// What is said of a thread that is loaded.
fn answer(id: &str, cwd: &str, policy: &str, full: bool, active: Option<&str>) -> Value {
    let content: Content = Log::peek(&folder(), id).unwrap_or_default();
    let mut thread = shown(id, cwd, &content, active);
    if !on("resume-forgets") {
        thread["turns"] = json!(turns(&content, active));
    }
    let kind = if full { "dangerFullAccess" } else { "readOnly" };
    let mut answer = json!({"thread": thread, "model": "peer", "modelProvider": "peer", "cwd": cwd,
        "approvalPolicy": policy, "approvalsReviewer": "user", "sandbox": {"type": kind}});
    if on("sandbox-unsaid") {
        answer["sandbox"] = Value::Null;
    }
    answer
}

/// Those that are stored.
pub(super) fn list(params: &Value) -> Value {
    let ids = all(&folder());
    let found = ids.iter().filter_map(|id| {
        let content = Log::peek(&folder(), id)?;
        let wanted = params["cwd"].as_str();
        let here = wanted.is_none_or(|cwd| cwd == content.cwd) || on("folder-ignored");
        (here && !on("list-empty")).then(|| shown(id, &content.cwd, &content, None))
    });
    let data: Vec<Value> = found.collect();
    json!({"data": data, "nextCursor": null})
}
