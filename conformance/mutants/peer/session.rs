//! A session: its log, and the thread that does its turns one after the other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::fault::on;
use crate::log::Log;
use crate::turn::Turn;
use crate::wire::Wire;

/// An open session.
pub(crate) struct Session {
    shared: Arc<Shared>,
    jobs: Option<Sender<Job>>,
    worker: Option<JoinHandle<()>>,
}

/// What the worker and the connection share.
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) wire: Wire,
    pub(crate) client: Value,
    log: Mutex<Log>,
    /// Grows with each cancel; a turn that was asked for before is cancelled.
    epoch: AtomicU64,
    /// The ids of requests that were cancelled one by one.
    single: Mutex<Vec<Value>>,
    /// Prompts that were taken and not answered.
    waiting: AtomicU64,
    /// Whether a second prompt has spoilt everything.
    pub(crate) wedged: AtomicU64,
    pile: Mutex<String>,
    /// Whether the disk refused a record of the turn that runs.
    refused: AtomicBool,
    /// Messages by idempotency key.
    keys: Mutex<BTreeMap<String, String>>,
    /// The call that runs, and whether it is to be stopped.
    call: Mutex<Option<(String, Stop)>>,
}

/// Whether a call is to be stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    No,
    Yes,
}

/// A prompt.
pub(crate) struct Job {
    pub(crate) id: Value,
    pub(crate) text: String,
    pub(crate) epoch: u64,
    /// Idempotency key.
    pub(crate) key: Option<String>,
}

impl Session {
    pub(crate) fn start(id: &str, cwd: &str, log: Log, wire: Wire, client: Value) -> Self {
        let shared = Arc::new(Shared {
            id: id.to_owned(),
            cwd: cwd.to_owned(),
            wire,
            client,
            log: Mutex::new(log),
            epoch: AtomicU64::new(0),
            single: Mutex::default(),
            waiting: AtomicU64::new(0),
            wedged: AtomicU64::new(0),
            pile: Mutex::default(),
            refused: AtomicBool::new(false),
            keys: Mutex::default(),
            call: Mutex::default(),
        });
        let (jobs, queue) = channel::<Job>();
        let own = Arc::clone(&shared);
        let worker = std::thread::spawn(move || {
            for job in queue {
                let turn = if on("one-turn-at-a-time") {
                    static ONE: Mutex<()> = Mutex::new(());
                    Some(lock(&ONE))
                } else {
                    None
                };
                Turn::new(&own, job).run();
                drop(turn);
            }
        });
        Self {
            shared,
            jobs: Some(jobs),
            worker: Some(worker),
        }
    }

    /// Queues a prompt.
    pub(crate) fn prompt(&self, id: Value, text: String, key: Option<String>) {
        let epoch = self.shared.epoch.load(Ordering::SeqCst);
        let wedged = &self.shared.wedged;
        if self.busy() {
            if on("busy-drops-second") {
                return;
            }
            if on("v2-queue-answered-at-once") {
                self.shared.wire.result(&id, &json!({"messageId": "early"}));
            }
            if on("busy-drops-first") || on("busy-wedges") {
                wedged.fetch_add(1, Ordering::SeqCst);
            }
        } else if on("busy-wedges") && wedged.load(Ordering::SeqCst) > 0 {
            return;
        }
        self.shared.waiting.fetch_add(1, Ordering::SeqCst);
        if let Some(jobs) = &self.jobs {
            let job = Job {
                id,
                text,
                epoch,
                key,
            };
            let _ = jobs.send(job);
        }
    }

    /// The message that came under a key before.
    pub(crate) fn known(&self, key: &str) -> Option<String> {
        if on("v2-keys-ignored") {
            return None;
        }
        lock(&self.shared.keys).get(key).cloned()
    }

    /// Remembers which message came under a key.
    pub(crate) fn remember(&self, key: &str, message: &str) {
        self.shared.remember(key, message);
    }

    /// Stops a call, if it is the one that runs.
    pub(crate) fn stop_call(&self, id: &str) -> bool {
        match &mut *lock(&self.shared.call) {
            Some((open, stop)) if open == id => {
                *stop = Stop::Yes;
                true
            }
            _ => false,
        }
    }

    /// Whether a prompt runs or waits.
    pub(crate) fn busy(&self) -> bool {
        self.shared.waiting.load(Ordering::SeqCst) > 0
    }

    /// Cancels what runs and what waits.
    pub(crate) fn cancel(&self) {
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Cancels one request.
    pub(crate) fn cancel_one(&self, id: &Value) {
        lock(&self.shared.single).push(id.clone());
    }

    /// Cancels, and waits until every prompt is answered.
    pub(crate) fn close(mut self) {
        self.cancel();
        self.jobs = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// Whether a job is cancelled.
    pub(crate) fn cancelled(&self, job: &Job) -> bool {
        let since = if on("cancel-remembered") {
            0
        } else {
            job.epoch
        };
        self.epoch.load(Ordering::SeqCst) > since || lock(&self.single).contains(&job.id)
    }

    /// Remembers which message came under a key.
    pub(crate) fn remember(&self, key: &str, message: &str) {
        lock(&self.keys).insert(key.to_owned(), message.to_owned());
    }

    /// A call begins, or none runs any more.
    pub(crate) fn set_call(&self, id: Option<&str>) {
        *lock(&self.call) = id.map(|id| (id.to_owned(), Stop::No));
    }

    /// Whether the call that runs is to be stopped.
    pub(crate) fn call_stopped(&self) -> bool {
        matches!(&*lock(&self.call), Some((_, Stop::Yes)))
    }

    /// A prompt is about to be answered.
    pub(crate) fn done(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a second process has spoilt the session.
    pub(crate) fn stolen(&self) -> bool {
        let folder = std::env::var_os("PEER_STATE").unwrap_or_default();
        let file = format!("{}.stolen", self.id);
        on("load-steals") && std::path::Path::new(&folder).join(file).exists()
    }

    /// Whether the first of two prompts is to be forgotten.
    pub(crate) fn unwedge(&self) -> bool {
        self.wedged.swap(0, Ordering::SeqCst) > 0
    }

    /// All text so far.
    pub(crate) fn piled(&self, text: &str) -> String {
        let mut pile = lock(&self.pile);
        pile.push_str(text);
        pile.clone()
    }

    /// A turn begins: what became of the records of another is not its matter.
    pub(crate) fn begin(&self) {
        if !on("full-disk-remembered") {
            self.refused.store(false, Ordering::SeqCst);
        }
    }

    /// Whether a record of the turn was refused; what was not is durable then.
    pub(crate) fn was_refused(&self) -> bool {
        lock(&self.log).sync();
        let remembered = on("full-disk-remembered");
        self.refused.fetch_and(remembered, Ordering::SeqCst) && !on("full-disk-untold")
    }

    /// Records an update, then shows it.
    pub(crate) fn say(&self, update: &Value) {
        self.record(update);
        self.show(update);
    }

    pub(crate) fn show(&self, update: &Value) {
        let id = if on("foreign-session") {
            "somebody-else"
        } else {
            &self.id
        };
        let mut update = update.clone();
        if on("camel-case") {
            update["sessionUpdate"] = json!("agentMessageChunk");
        }
        self.wire.update(id, &update);
    }

    pub(crate) fn record(&self, update: &Value) {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let left_out = (on("log-without-text") && kind == "agent_message_chunk")
            || (on("log-without-prompts") && kind == "user_message_chunk")
            || (on("log-without-calls") && kind.starts_with("tool_call"))
            || (on("log-without-thoughts") && kind == "agent_thought_chunk");
        if !left_out {
            let written = lock(&self.log).append(update);
            if written.is_err() {
                self.refused.store(true, Ordering::SeqCst);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
