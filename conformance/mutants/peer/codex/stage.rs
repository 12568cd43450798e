//! A turn of the app-server, as it is told.

use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};

use super::app::App;
use super::thread::{call, user};
use crate::fault::on;
use crate::model;
use crate::native::uuid;
use crate::script::{Called, End, Leave, Stage, play};

/// The turn that runs.
pub(super) struct Turn<'a> {
    pub(super) app: &'a App,
    pub(super) thread: String,
    pub(super) turn: String,
    pub(super) cwd: String,
    /// The message that is being said.
    pub(super) message: Option<String>,
    /// The item of the call.
    pub(super) item: String,
}

impl Turn<'_> {
    pub(super) fn run(mut self, text: &str) {
        if let Some(log) = self.app.log_of(&self.thread) {
            log.lock().unwrap_or_else(PoisonError::into_inner).begin();
        }
        self.status(&json!({"type": "active", "activeFlags": []}));
        if !on("turn-unbegun") {
            self.tell(
                "turn/started",
                json!({"turn": {"id": self.turn, "items": [],
                "status": "inProgress", "error": null}}),
            );
        }
        if !on("prompt-unshown") {
            let id = uuid();
            self.record(json!({"user": text, "item": id}));
            self.shown(&user(&id, text));
        }
        model::tell(&self.thread);
        let mut end = play(&mut self, text);
        if let Some(log) = self.app.log_of(&self.thread) {
            end = log.lock().unwrap_or_else(PoisonError::into_inner).end(end);
        }
        let (status, error) = match end {
            End::Failed(_) if on("failure-hidden") => ("completed", Value::Null),
            End::Failed(_) if on("failure-unsaid") => ("failed", json!({"message": "no"})),
            End::Failed(why) => ("failed", json!({"message": why})),
            End::Stopped if on("interrupt-is-success") => ("completed", Value::Null),
            End::Stopped => ("interrupted", Value::Null),
            End::Done | End::Refused => ("completed", Value::Null),
        };
        let recorded = if on("end-unrecorded") {
            "inProgress"
        } else {
            status
        };
        self.record(json!({"end": recorded, "error": error}));
        self.app.desk.change(|state| {
            if let Some(thread) = state.own.threads.get_mut(&self.thread) {
                thread.active = None;
                thread.interrupted &= on("interrupt-remembered");
            }
            let over = if status == "failed" && !on("failure-idle") {
                "systemError"
            } else {
                "idle"
            };
            if !on("status-late") {
                self.status(&json!({"type": over}));
            }
            if status == "failed" && !on("error-unsaid") {
                self.tell(
                    "error",
                    json!({"error": error, "willRetry": false, "turnId": self.turn}),
                );
            }
            let ended = json!({"turn": {"id": self.turn, "items": [], "status": status,
                "error": error}});
            let wire = &self.app.wire;
            wire.doubled(on("end-twice"), || {
                self.tell("turn/completed", ended.clone())
            });
            if on("status-late") {
                self.status(&json!({"type": over}));
            }
            if on("late-item") {
                let late = json!({"type": "agentMessage", "id": "late", "text": "late"});
                self.shown(&late);
            }
        });
    }

    /// An item that is told at once as a whole.
    pub(super) fn shown(&self, item: &Value) {
        self.item("item/started", item);
        self.item("item/completed", item);
    }

    fn item(&self, method: &str, item: &Value) {
        let stamp = if method == "item/started" {
            "startedAtMs"
        } else {
            "completedAtMs"
        };
        let mut params = json!({"turnId": self.turn, "item": item});
        params[stamp] = json!(1);
        if on("stamps-missing") {
            params[stamp] = Value::Null;
        }
        self.tell(method, params);
    }

    fn status(&self, status: &Value) {
        if !on("status-untold") {
            self.tell("thread/status/changed", json!({"status": status}));
        }
    }

    fn tell(&self, method: &str, mut params: Value) {
        params["threadId"] = json!(self.thread);
        self.app.notify(method, &params);
    }

    pub(super) fn record(&self, mut record: Value) {
        record["turn"] = json!(self.turn);
        let late = on("text-stored-late") && record.get("piece").is_some();
        let log = self.app.log_of(&self.thread);
        let Some(log) = log.filter(|_| !late && !on("nothing-stored")) else {
            return;
        };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = log.append(&record);
    }

    /// The client's decision; nothing where the turn was stopped.
    fn asked(&self, command: &str) -> Option<Value> {
        self.status(&json!({"type": "active", "activeFlags": ["waitingOnApproval"]}));
        let id = self.app.next_id();
        let name = id.to_string();
        self.app
            .desk
            .change(|state| state.asked.insert(name.clone(), None));
        let command = if on("question-bare") {
            "a command"
        } else {
            command
        };
        let mut question = json!({"id": id, "method": "item/commandExecution/requestApproval",
            "params": {"threadId": self.thread, "turnId": self.turn, "itemId": self.item,
                "startedAtMs": 1, "command": command, "cwd": self.cwd}});
        if on("asks-twice") {
            self.app.send(&question);
            question["id"] = self.app.next_id();
        }
        self.app.send(&question);
        if on("last-answer-counts") {
            std::thread::sleep(Duration::from_millis(900));
        }
        let answer = self.app.desk.wait(Duration::from_secs(600), |state| {
            let answer = state.asked.get(&name).cloned().flatten();
            let stopped = state.own.stopped(&self.thread);
            match answer {
                Some(answer) => Some(Some(answer)),
                None => stopped.then_some(None),
            }
        });
        self.app.desk.change(|state| state.asked.remove(&name));
        if !on("question-left") {
            self.tell("serverRequest/resolved", json!({"requestId": id}));
        }
        self.status(&json!({"type": "active", "activeFlags": []}));
        answer.flatten()
    }
}

impl Stage for Turn<'_> {
    fn cwd(&self) -> &Path {
        Path::new(&self.cwd)
    }

    fn piece(&mut self, text: &str) {
        let new = self.message.is_none();
        let id = self.message.get_or_insert_with(uuid).clone();
        self.record(json!({"piece": text, "item": id}));
        if new && !on("message-unbegun") {
            self.item(
                "item/started",
                &json!({"type": "agentMessage", "id": id, "text": ""}),
            );
        }
        if !on("deltas-unsaid") {
            self.tell(
                "item/agentMessage/delta",
                json!({"turnId": self.turn, "itemId": id,
                "delta": text}),
            );
        }
    }

    fn said(&mut self, text: &str) {
        let Some(id) = self.message.take() else {
            return;
        };
        self.record(json!({"said": text, "item": id}));
        let text = if on("whole-emptied") { "" } else { text };
        if !on("message-unclosed") {
            self.item(
                "item/completed",
                &json!({"type": "agentMessage", "id": id, "text": text}),
            );
        }
    }

    fn thought(&mut self, text: &str) {
        self.shown(&json!({"type": "reasoning", "id": uuid(), "summary": [text], "content": []}));
    }

    fn call(&mut self, _: &str, command: &str) {
        self.item = uuid();
        self.record(json!({"tool": command, "item": self.item}));
        self.item(
            "item/started",
            &call(&self.item, command, &self.cwd, "inProgress"),
        );
    }

    fn leave(&mut self, _: &str, command: &str) -> Leave {
        if self.item.is_empty() {
            self.item = uuid();
        }
        let (policy, full, granted) = self.app.desk.change(|state| {
            let thread = state.own.threads.get(&self.thread);
            thread.map_or((String::new(), false, false), |thread| {
                let granted = thread.granted.iter().any(|known| known == command);
                (thread.policy.clone(), thread.full, granted)
            })
        });
        let yes = || Leave::Yes(command.to_owned());
        if (full && !on("full-asks")) || (granted && !on("grants-forgotten")) {
            return yes();
        }
        if policy == "never" && !on("never-asks") {
            let allowed = on("never-is-yes");
            return if allowed {
                yes()
            } else {
                Leave::No("not allowed here".to_owned())
            };
        }
        let Some(answer) = self.asked(command) else {
            return Leave::Stop;
        };
        match answer["result"]["decision"].as_str() {
            Some("accept") => yes(),
            Some("acceptForSession") => {
                self.app.desk.change(|state| {
                    if let Some(thread) = state.own.threads.get_mut(&self.thread) {
                        thread.granted.push(command.to_owned());
                    }
                });
                yes()
            }
            Some("cancel") if !on("cancel-goes-on") => Leave::Stop,
            Some("perhaps") if on("anything-is-yes") => yes(),
            None if on("empty-is-yes") => yes(),
            Some("decline") if on("no-ends-turn") => Leave::Stop,
            _ => Leave::No("not allowed".to_owned()),
        }
    }

    fn called(&mut self, _: &str, command: &str, called: &Called) {
        let status = match called.code {
            Some(0) => "completed",
            Some(_) => "failed",
            None if on("declined-is-completed") => "completed",
            None => "declined",
        };
        self.record(json!({"called": status, "item": self.item}));
        let mut item = call(&self.item, command, &self.cwd, status);
        item["exitCode"] = json!(called.code);
        item["aggregatedOutput"] = json!(if on("output-lost") {
            ""
        } else {
            &called.output
        });
        self.item("item/completed", &item);
    }

    fn other(&mut self, _: &str) -> End {
        End::Done
    }

    fn pause(&mut self, time: Duration) -> bool {
        let desk = &self.app.desk;
        let stopped = desk.wait(time, |state| state.own.stopped(&self.thread).then_some(()));
        stopped.is_some()
    }
}
