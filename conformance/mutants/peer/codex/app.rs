//! The app-server: requests on stdin, answers and notifications on stdout.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::stage::Turn;
use super::thread::{Thread, user};
use super::threads::{list, named};
use crate::desk::Desk;
use crate::fault::{die_on, on};
use crate::input::{Input, Line};
use crate::log::Log;
use crate::native::uuid;
use crate::wire::Wire;

/// An error of the protocol: its code and what it says.
pub(super) type Fault = (i32, String);

/// What is on the desk.
#[derive(Default)]
pub(super) struct Own {
    pub(super) threads: HashMap<String, Thread>,
    greeted: bool,
}

impl Own {
    /// Whether the turn of a thread is to end.
    pub(super) fn stopped(&self, thread: &str) -> bool {
        self.threads
            .get(thread)
            .is_none_or(|thread| thread.interrupted)
    }
}

/// The server.
pub(super) struct App {
    pub(super) wire: Wire,
    pub(super) desk: Arc<Desk<Own>>,
    last: AtomicU64,
}

/// Serves stdin until it ends.
pub(crate) fn serve(wire: Wire) -> ExitCode {
    let app = Arc::new(App {
        wire,
        desk: Desk::new(Own::default()),
        last: AtomicU64::new(0),
    });
    let told = Arc::clone(&app);
    crate::fault::on_signal(move |_| {
        if !on("signals-ignored") {
            if !on("signal-untold") {
                told.leave();
            }
            std::process::exit(if on("signal-is-failure") { 1 } else { 0 });
        }
    });
    let mut input = Input::native();
    while let Some(line) = input.next() {
        match line {
            Line::Json(value) => app.line(&value),
            Line::Blank => die_on("blank-kills"),
            Line::Broken(_) => {
                die_on("broken-kills");
                if on("broken-answered") {
                    app.send(&json!({"id": "x", "error": {"code": -32700, "message": "no"}}));
                }
            }
        }
    }
    if on("eof-ignored") {
        loop {
            std::thread::park();
        }
    }
    app.leave();
    ExitCode::from(if on("eof-is-failure") { 9 } else { 0 })
}

impl App {
    /// Stops what runs and waits for its end.
    fn leave(&self) {
        self.desk.change(|state| {
            for thread in state.own.threads.values_mut() {
                thread.interrupted = true;
            }
        });
        self.desk.wait(Duration::from_millis(1500), |state| {
            let mut threads = state.own.threads.values();
            threads.all(|thread| thread.active.is_none()).then_some(())
        });
        if on("no-last-newline") {
            let last =
                json!({"method": "warning", "params": {"threadId": null, "message": "over"}});
            self.wire.raw(last.to_string().as_bytes());
        }
    }

    pub(super) fn send(&self, frame: &Value) {
        super::frame::write(&self.wire, frame);
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        let mut frame = json!({"method": method, "params": params, "emittedAtMs": 1});
        if on("unstamped") {
            frame["emittedAtMs"] = Value::Null;
        }
        if on("versioned") {
            frame["jsonrpc"] = json!("2.0");
        }
        // The turn's end is told while the desk is held; what is spared never changes then.
        let spared = self.desk_spares(method);
        if !spared {
            self.send(&frame);
        }
    }

    fn desk_spares(&self, method: &str) -> bool {
        let spared = method == "item/agentMessage/delta" && SPARED.load(Ordering::SeqCst) == 1;
        spared && !on("opt-out-ignored")
    }

    /// The id of the next question.
    pub(super) fn next_id(&self) -> Value {
        let id = self.last.fetch_add(1, Ordering::SeqCst);
        json!(if on("own-ids-same") { 0 } else { id })
    }

    /// The log of a loaded thread.
    pub(super) fn log_of(&self, thread: &str) -> Option<Arc<Mutex<Log>>> {
        let state = self.desk.lock();
        state
            .own
            .threads
            .get(thread)
            .map(|thread| Arc::clone(&thread.log))
    }

    fn line(self: &Arc<Self>, value: &Value) {
        if !value.is_object() {
            die_on("values-kill");
            if on("batches-run") {
                for part in value.as_array().into_iter().flatten() {
                    self.line(part);
                }
            }
            return;
        }
        let id = &value["id"];
        let Some(method) = value["method"].as_str() else {
            if !self.desk.lock().asked.contains_key(&id.to_string()) {
                die_on("stray-answers-kill");
            }
            return self.desk.answered(&id.to_string(), value);
        };
        if id.is_null() && !(on("null-ids-answered") && value.get("id").is_some()) {
            return;
        }
        if on("integers-only") && id.is_string() {
            return;
        }
        let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
        let many = id.as_str().and_then(|id| id.strip_prefix("many-"));
        if on("flood-dropped") && many.is_some_and(|number| number.len() > 3) {
            return;
        }
        let answer = self.request(id, method, &params);
        let id = match id.as_i64() {
            Some(number) if on("ids-as-text") => json!(number.to_string()),
            _ => id.clone(),
        };
        match answer {
            Ok(None) => {}
            Ok(Some(result)) => self.answer(&json!({"id": id, "result": result})),
            Err((code, message)) => {
                let message = if on("errors-unsaid") {
                    "no".to_owned()
                } else {
                    message
                };
                let code = if on("codes-usual") { -32601 } else { code };
                self.answer(&json!({"id": id, "error": {"code": code, "message": message}}));
            }
        }
    }

    pub(super) fn answer(&self, frame: &Value) {
        self.wire.doubled(on("answers-twice"), || self.send(frame));
    }

    /// The answer to a request; none where it was sent already.
    fn request(
        self: &Arc<Self>,
        id: &Value,
        method: &str,
        params: &Value,
    ) -> Result<Option<Value>, Fault> {
        let refuse = |why: &str| Err((-32600, why.to_owned()));
        let greeted = self.desk.lock().own.greeted;
        if method != "initialize" && !greeted && !on("early-answered") {
            return refuse("Not initialized");
        }
        match method {
            "initialize" if greeted && !on("greeted-again") => refuse("Already initialized"),
            "initialize" => Ok(Some(self.greet(params))),
            "thread/start" => self.begin(id, params),
            "thread/resume" => self.resume(params).map(Some),
            "thread/read" => self.read(params).map(Some),
            "thread/fork" => self.fork(params).map(Some),
            "thread/list" => Ok(Some(list(params))),
            "thread/loaded/list" => {
                let state = self.desk.lock();
                let mut ids: Vec<&String> = state.own.threads.keys().collect();
                ids.sort();
                if on("loaded-empty") && !ids.is_empty() {
                    ids.clear();
                }
                Ok(Some(json!({"data": ids, "nextCursor": null})))
            }
            "thread/unsubscribe" if on("unsubscribe-unknown") => refuse("unknown variant"),
            "thread/unsubscribe" => Ok(Some(json!({"status": "unsubscribed"}))),
            "turn/start" => self.turn(id, params),
            "turn/steer" => self.steer(params).map(Some),
            "turn/interrupt" => self.interrupt(id, params),
            "thread/search" if !on("experimental-open") => {
                refuse("thread/search requires experimentalApi capability")
            }
            "thread/search" => Ok(Some(json!({"data": []}))),
            _ => {
                die_on("unknown-kills");
                if on("unknown-unsaid") {
                    return refuse("no such method");
                }
                refuse(&format!("Invalid request: unknown variant `{method}`"))
            }
        }
    }

    fn greet(&self, params: &Value) -> Value {
        let spared = params["capabilities"]["optOutNotificationMethods"].as_array();
        let mut spared = spared.into_iter().flatten();
        let delta = spared.any(|method| method == "item/agentMessage/delta");
        SPARED.store(u64::from(delta), Ordering::SeqCst);
        self.desk.change(|state| state.own.greeted = true);
        let mut answer = json!({"userAgent": "peer/0.171.0 (linux)", "codexHome": "/",
            "platformFamily": "unix", "platformOs": "linux"});
        if on("agent-unnamed") {
            answer["userAgent"] = json!("");
        }
        if on("platform-missing") {
            answer["platformOs"] = Value::Null;
        }
        answer
    }

    fn turn(self: &Arc<Self>, id: &Value, params: &Value) -> Result<Option<Value>, Fault> {
        let input = match params.get("input") {
            None => return Err((-32600, "Invalid request: missing field `input`".to_owned())),
            Some(Value::Array(input)) => input,
            Some(_) => {
                let why = "Invalid request: invalid type: integer, expected a sequence";
                return Err((-32600, why.to_owned()));
            }
        };
        let texts = input.iter().filter_map(|block| block["text"].as_str());
        let text: String = texts.collect();
        if text.len() > 1_000_000 {
            die_on("long-kills");
        }
        if text.contains('\u{fffd}') {
            die_on("surrogates-kill");
        }
        let thread = params["threadId"].as_str().unwrap_or_default().to_owned();
        if self.log_of(&thread).is_none() && on("turn-loads") {
            self.resume(params)?;
        }
        let turn = uuid();
        let found = self.desk.change(|state| {
            let known = state.own.threads.get_mut(&thread)?;
            let running = known.active.clone().filter(|_| !on("steer-starts"));
            if running.is_none() {
                known.active = Some(turn.clone());
                known.interrupted &= on("interrupt-remembered");
            }
            Some((running, known.cwd.clone()))
        });
        let Some((running, cwd)) = found else {
            return Err((-32600, format!("thread not found: {thread}")));
        };
        let shown = running.clone().unwrap_or_else(|| turn.clone());
        let items = if on("answer-with-items") {
            json!([user("x", "x")])
        } else {
            json!([])
        };
        let answer = json!({"id": id, "result": {"turn": {"id": shown, "items": items,
            "status": "inProgress", "error": null}}});
        let stage = |turn: String| Turn {
            app: self,
            thread: thread.clone(),
            turn,
            cwd: cwd.clone(),
            message: None,
            item: String::new(),
        };
        if let Some(running) = running {
            self.answer(&answer);
            self.add(&stage(running), &text);
            return Ok(None);
        }
        if !on("answer-late") {
            self.answer(&answer);
        }
        let app = Arc::clone(self);
        let (thread, cwd) = (thread.clone(), cwd.clone());
        let late = answer;
        std::thread::spawn(move || {
            let turn = Turn {
                app: &app,
                thread,
                turn,
                cwd,
                message: None,
                item: String::new(),
            };
            turn.run(&text);
            if on("answer-late") {
                app.answer(&late);
            }
        });
        Ok(None)
    }

    /// Shows what was steered into a turn, unless that is over.
    fn add(&self, turn: &Turn<'_>, text: &str) {
        if on("steer-unshown") {
            return;
        }
        let id = uuid();
        turn.record(json!({"user": text, "item": id}));
        self.desk.change(|state| {
            let runs = state.own.threads.get(&turn.thread);
            if runs.is_some_and(|thread| thread.active.as_deref() == Some(&turn.turn)) {
                turn.shown(&user(&id, text));
            }
        });
    }

    fn steer(self: &Arc<Self>, params: &Value) -> Result<Value, Fault> {
        let thread = named(params)?;
        let expected = params["expectedTurnId"].as_str().unwrap_or_default();
        let Some(active) = self.active(&thread) else {
            return Err((-32600, "no active turn to steer".to_owned()));
        };
        if active != expected {
            let why = format!("expected active turn id `{expected}` but found `{active}`");
            return Err((-32600, why));
        }
        let input = params["input"].as_array().cloned().unwrap_or_default();
        if input.is_empty() && !on("empty-steer-taken") {
            return Err((-32600, "input must not be empty".to_owned()));
        }
        let texts = input.iter().filter_map(|block| block["text"].as_str());
        let turn = Turn {
            app: self,
            thread,
            turn: active.clone(),
            cwd: String::new(),
            message: None,
            item: String::new(),
        };
        self.add(&turn, &texts.collect::<String>());
        Ok(json!({"turnId": active}))
    }

    fn interrupt(&self, id: &Value, params: &Value) -> Result<Option<Value>, Fault> {
        let thread = named(params)?;
        let wanted = params["turnId"].as_str().unwrap_or_default();
        match self.active(&thread) {
            None if on("late-interrupt-hangs") => return Ok(None),
            None => return Err((-32600, "no active turn to interrupt".to_owned())),
            Some(active) if active != wanted && !on("any-turn-interrupted") => {
                let why = format!("expected active turn id {wanted} but found {active}");
                return Err((-32600, why));
            }
            Some(_) => {}
        }
        if !on("interrupt-unanswered") {
            self.answer(&json!({"id": id, "result": {}}));
        }
        self.desk.change(|state| {
            if let Some(thread) = state.own.threads.get_mut(&thread) {
                thread.interrupted = !on("interrupt-ignored");
            }
        });
        Ok(None)
    }
}

/// Whether deltas are spared: looked at where the desk may be held.
static SPARED: AtomicU64 = AtomicU64::new(0);
