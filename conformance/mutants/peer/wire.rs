//! What goes to the client, and what it answers.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::fault::{changed, on};
use crate::second;

/// The client's end, shared by all threads.
#[derive(Clone)]
pub(crate) struct Wire {
    out: Arc<Mutex<Out>>,
    open: Arc<Mutex<Open>>,
    second: Arc<AtomicBool>,
}

/// The stream, and what shall leave in one piece.
struct Out {
    stream: File,
    held: Option<Vec<u8>>,
}

/// Our own requests.
#[derive(Default)]
struct Open {
    last: i64,
    /// The answers of those that are waited for.
    answers: HashMap<String, Option<Value>>,
}

impl Wire {
    /// Takes the stream away from descriptor 1, so that no tool finds it there.
    pub(crate) fn take_stdout() -> io::Result<Self> {
        let stdout = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
        if !on("stdout-left-open") {
            let null = File::options().write(true).open("/dev/null")?;
            rustix::stdio::dup2_stdout(&null)?;
        }
        Ok(Self {
            out: Arc::new(Mutex::new(Out {
                stream: File::from(stdout),
                held: None,
            })),
            open: Arc::default(),
            second: Arc::default(),
        })
    }

    /// From now on version 2 is spoken.
    pub(crate) fn speak_second(&self) {
        self.second.store(true, Ordering::SeqCst);
    }

    /// Whether version 2 is spoken.
    pub(crate) fn second(&self) -> bool {
        self.second.load(Ordering::SeqCst)
    }

    /// Writes bytes as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        let begun = std::time::Instant::now();
        let mut out = lock(&self.out);
        // A client that is gone is seen at the end of stdin.
        let _ = match &mut out.held {
            Some(held) => held.write_all(bytes),
            None => out.stream.write_all(bytes),
        };
        if begun.elapsed() > std::time::Duration::from_millis(300) {
            crate::fault::die_on("slow-readers-dropped");
        }
    }

    /// Writes all that is sent meanwhile in one piece: no client acts between the parts.
    pub(crate) fn together(&self, send: impl FnOnce()) {
        let mut out = lock(&self.out);
        // Another thread's piece takes this along.
        if out.held.is_some() {
            drop(out);
            return send();
        }
        out.held = Some(Vec::new());
        drop(out);
        send();
        let mut out = lock(&self.out);
        let held = out.held.take().unwrap_or_default();
        let _ = out.stream.write_all(&held);
    }

    /// Sends once, or twice in one piece.
    pub(crate) fn doubled(&self, twice: bool, send: impl Fn()) {
        if twice {
            self.together(|| {
                send();
                send();
            });
        } else {
            send();
        }
    }

    pub(crate) fn send(&self, mut frame: Value) {
        if on("no-jsonrpc") {
            frame["jsonrpc"] = json!("1.0");
        }
        let mut line = frame.to_string().into_bytes();
        line.push(b'\n');
        if on("empty-lines") {
            line.push(b'\n');
        }
        self.raw(&line);
    }

    pub(crate) fn result(&self, id: &Value, result: &Value) {
        let mut frame = json!({"jsonrpc": "2.0", "id": changed(id), "result": result});
        if on("result-and-error") && result.get("stopReason").is_some() {
            frame["error"] = json!({"code": 0, "message": ""});
        }
        let ends = result.get("stopReason").is_some() || result.get("messageId").is_some();
        self.doubled(on("answers-twice") && ends, || self.send(frame.clone()));
    }

    pub(crate) fn error(&self, id: &Value, code: i32, message: &str) {
        self.error_with(id, code, message, None);
    }

    pub(crate) fn error_with(&self, id: &Value, code: i32, message: &str, data: Option<Value>) {
        let mut error = json!({"code": code, "message": message});
        if let Some(data) = data {
            error["data"] = data;
        }
        if on("error-without-code") && code == -32601 {
            error = json!("not found");
        }
        self.send(json!({"jsonrpc": "2.0", "id": changed(id), "error": error}));
    }

    pub(crate) fn update(&self, session: &str, update: &Value) {
        let update = if self.second() {
            second::update(update)
        } else {
            update.clone()
        };
        let params = json!({"sessionId": session, "update": update});
        self.send(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    /// Sends a request; the name under which its answer is found.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> String {
        let mut open = lock(&self.open);
        open.last += 1;
        let id = if on("own-ids-reused") {
            json!(1)
        } else {
            json!(open.last)
        };
        let name = id.to_string();
        open.answers.insert(name.clone(), None);
        drop(open);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        name
    }

    /// The answer to a request, once it is there.
    pub(crate) fn take(&self, name: &str) -> Option<Value> {
        let mut open = lock(&self.open);
        match open.answers.get(name) {
            Some(Some(_)) => open.answers.remove(name).flatten(),
            _ => None,
        }
    }

    /// An answer of the client to a request that nobody waits for.
    pub(crate) fn last(&self) -> Option<Value> {
        lock(&self.open).answers.values().flatten().next().cloned()
    }

    /// No longer waits for a request.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.open).answers.remove(name);
    }

    /// Whether an answer is waited for.
    pub(crate) fn knows(&self, answer: &Value) -> bool {
        lock(&self.open)
            .answers
            .contains_key(&answer["id"].to_string())
    }

    /// An answer of the client; the first counts.
    pub(crate) fn answered(&self, answer: &Value) {
        let mut open = lock(&self.open);
        if let Some(slot) = open.answers.get_mut(&answer["id"].to_string()) {
            if on("last-answer-counts") {
                *slot = None;
            }
            slot.get_or_insert_with(|| answer.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
