//! A session of the native protocol: its log, what waits, and the thread that does its turns.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::delivery::Progress;
use super::frame::{bad, named, uuid};
use super::turn::Turn;
use crate::fault::on;
use crate::log::{Content, Log};
use crate::wire::Wire;

/// An open session.
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

/// What the client said when it attached.
pub(super) struct Terms {
    /// Whether it answers questions.
    pub(super) answers: bool,
    /// Whether a turn is finished when it goes.
    pub(super) finishes: bool,
    /// Whether it acknowledges what it is sent.
    pub(super) acknowledges: bool,
}

impl Terms {
    pub(super) fn of(op: &Value) -> Self {
        let kinds = op["answers"].as_array();
        let finishes = op["on_disconnect"] == "finish" && !on("sqeq-end-cancels");
        Self {
            answers: kinds.is_none_or(|kinds| kinds.contains(&json!("permission"))),
            finishes: finishes || on("sqeq-end-finishes"),
            acknowledges: false,
        }
    }
}

/// What the worker and the connection share.
pub(super) struct Shared {
    pub(super) id: String,
    pub(super) cwd: String,
    pub(super) terms: Terms,
    pub(super) wire: Wire,
    state: Mutex<State>,
    changed: Condvar,
}

/// What changes.
pub(super) struct State {
    pub(super) log: Log,
    title: Option<String>,
    pub(super) attached: bool,
    over: bool,
    pub(super) waiting: VecDeque<Job>,
    pub(super) active: Option<String>,
    pub(super) cancelled: bool,
    pub(super) asked: Option<Asked>,
    /// Turns by idempotency key, with the input.
    keys: BTreeMap<String, (String, String)>,
    /// Events of before this process.
    pub(super) past: Vec<Value>,
    pub(super) damaged: usize,
    /// Of a client that acknowledges.
    pub(super) progress: Option<Progress>,
    /// Whether the disk refused a record of the turn that runs.
    pub(super) refused: bool,
}

/// A turn that was submitted.
pub(super) struct Job {
    pub(super) turn: String,
    pub(super) input: Value,
    pub(super) cause: String,
    pub(super) keyed: Option<Value>,
}

/// An open question.
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) digest: String,
    pub(super) outcome: Option<Value>,
}

/// Whether an event is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

/// Where an event belongs.
pub(super) struct Place<'a> {
    pub(super) turn: &'a str,
    pub(super) item: Option<&'a str>,
    pub(super) cause: &'a str,
}

impl Session {
    pub(super) fn start(id: &str, cwd: &str, log: Log, wire: Wire, terms: Terms) -> Self {
        let content = Content {
            cwd: cwd.to_owned(),
            ..Content::default()
        };
        Self::again(id, log, content, wire, terms)
    }

    /// A session that was stored.
    pub(super) fn again(id: &str, log: Log, content: Content, wire: Wire, terms: Terms) -> Self {
        let mut state = State {
            log,
            title: None,
            attached: true,
            over: false,
            waiting: VecDeque::new(),
            active: None,
            cancelled: false,
            asked: None,
            keys: BTreeMap::new(),
            past: content.updates,
            damaged: content.lost,
            progress: None,
            refused: false,
        };
        if terms.acknowledges {
            state.progress = Some(Progress::at(state.log.next().saturating_sub(1)));
        }
        if on("sqeq-damage-empties") && state.damaged > 0 {
            state.past.clear();
        }
        for frame in &state.past {
            let event = &frame["event"];
            if let (Some(title), false) = (event["title"].as_str(), on("sqeq-rename-forgotten")) {
                state.title = Some(title.to_owned());
            }
            if let (Some(key), Some(input)) = (
                event["keyed"]["key"].as_str(),
                event["keyed"]["content"].as_str(),
            ) && !on("sqeq-keys-forgotten")
            {
                let turn = frame["turn"].as_str().unwrap_or_default();
                state
                    .keys
                    .insert(key.to_owned(), (input.to_owned(), turn.to_owned()));
            }
        }
        let shared = Arc::new(Shared {
            id: id.to_owned(),
            cwd: content.cwd,
            terms,
            wire,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        shared.close_open();
        let own = Arc::clone(&shared);
        let worker = std::thread::spawn(move || own.work());
        Self {
            shared,
            worker: Some(worker),
        }
    }

    /// The header.
    pub(super) fn opened(&self) {
        let shared = &self.shared;
        let event = json!({"type": "session.opened", "start": "new", "id": shared.id, "format": 1,
            "program": "peer", "source": "sqeq", "cwd": shared.cwd, "agent": {"name": "peer"},
            "workspace": {}});
        shared.tell(&mut shared.lock(), None, event, Kept::Yes);
    }

    /// What a client is told of the session.
    pub(super) fn view(&self) -> Value {
        let state = self.shared.lock();
        json!({"session": self.shared.id, "cwd": self.shared.cwd, "title": state.title,
            "agent": {"id": {"name": "peer"}, "modes": [], "commands": []},
            "cursor": state.log.next().saturating_sub(1)})
    }

    /// The newest cursor.
    pub(super) fn newest(&self) -> u64 {
        self.shared.lock().log.next().saturating_sub(1)
    }

    /// Begins a turn, or has it wait.
    pub(super) fn begin(&self, cause: &str, op: &Value) -> Result<Value, Value> {
        let mut state = self.shared.lock();
        let input = op["input"].clone();
        let content = input.to_string();
        let key = op["idempotency_key"].as_str();
        if let Some(key) = key.filter(|_| !on("sqeq-keys-ignored"))
            && let Some((before, turn)) = state.keys.get(key)
        {
            if *before == content || on("sqeq-key-only") {
                return Ok(json!({"turn": turn}));
            }
            let mut error = named(
                "key_reused",
                "this key came with other input",
                &self.shared.id,
            );
            error["turn"] = json!(turn);
            return Err(error);
        }
        let busy = state
            .active
            .clone()
            .or(state.waiting.back().map(|job| job.turn.clone()));
        let waits = op["if_busy"] == "queue" || on("sqeq-busy-queues");
        if let (Some(active), false) = (&busy, waits) {
            if on("sqeq-busy-cancels") {
                state.cancelled = true;
            }
            if on("sqeq-busy-wedges") {
                state.over = true;
            }
            let mut error = named("turn_active", "a turn is active", &self.shared.id);
            if !on("sqeq-active-unnamed") {
                error["turn"] = json!(active);
            }
            return Err(error);
        }
        if busy.is_some() && on("sqeq-queue-refused") {
            return Err(bad("unsupported", "nothing waits here"));
        }
        let turn = uuid();
        let mut keyed = None;
        if let Some(key) = key {
            keyed = Some(json!({"key": key, "content": content}));
            state.keys.insert(key.to_owned(), (content, turn.clone()));
        }
        if busy.is_some() {
            if on("sqeq-queue-replaces") {
                state.cancelled = true;
            }
            let event = json!({"type": "turn.queued", "input": input});
            let place = Place {
                turn: &turn,
                item: None,
                cause,
            };
            if !on("sqeq-queue-untold") {
                self.shared.tell(&mut state, Some(&place), event, Kept::Yes);
            }
            if on("sqeq-queue-forgets") {
                return Ok(json!({"turn": turn}));
            }
        }
        let job = Job {
            turn: turn.clone(),
            input,
            cause: cause.to_owned(),
            keyed,
        };
        state.waiting.push_back(job);
        drop(state);
        self.shared.changed.notify_all();
        Ok(json!({"turn": turn}))
    }

    /// Interrupts the active turn, or only this one.
    pub(super) fn interrupt(&self, turn: Option<&str>) -> Result<Value, Value> {
        let mut state = self.shared.lock();
        if on("sqeq-interrupt-refused") {
            return Err(bad("unsupported", "never"));
        }
        let is_it = turn.is_none() || on("sqeq-interrupt-any") || state.active.as_deref() == turn;
        if state.active.is_none() && on("sqeq-idle-interrupt-refused") {
            return Err(bad("turn_not_active", "nothing runs"));
        }
        if (state.active.is_some() && is_it) || on("sqeq-interrupt-remembered") {
            state.cancelled = true;
        }
        drop(state);
        self.shared.changed.notify_all();
        Ok(json!({}))
    }

    /// Takes back a turn that waits.
    pub(super) fn withdraw(&self, turn: &str) {
        let mut state = self.shared.lock();
        let at = state.waiting.iter().position(|job| job.turn == turn);
        if let Some(job) = at.and_then(|at| state.waiting.remove(at)) {
            let place = Place {
                turn,
                item: None,
                cause: &job.cause,
            };
            let event = json!({"type": "turn.ended", "outcome": "cancelled",
                "bookmark": state.log.next()});
            self.shared.tell(&mut state, Some(&place), event, Kept::Yes);
        }
    }

    pub(super) fn rename(&self, title: &str) -> Result<Value, Value> {
        if on("sqeq-rename-refused") {
            return Err(bad("unsupported", "never"));
        }
        let mut state = self.shared.lock();
        let event = json!({"type": "session.changed", "title": title, "titled_by": "user"});
        if !on("sqeq-rename-untold") {
            self.shared.tell(&mut state, None, event, Kept::Yes);
        }
        state.title = Some(title.to_owned());
        Ok(json!({}))
    }

    /// Takes an answer if it fits the open question.
    pub(super) fn answer(&self, answer: &Value) -> bool {
        let mut state = self.shared.lock();
        let taken = match &mut state.asked {
            Some(asked) => {
                let fits = answer["request"] == asked.id.as_str()
                    && answer["digest"] == asked.digest.as_str()
                    && asked.outcome.is_none()
                    && ["allow_once", "reject_once"]
                        .iter()
                        .any(|option| answer["outcome"]["option"] == *option)
                    && answer["outcome"]["type"] == "selected";
                if fits {
                    asked.outcome = Some(answer["outcome"].clone());
                } else if on("sqeq-any-answer-is-yes") {
                    let yes = json!({"type": "selected", "option": "allow_once"});
                    asked.outcome = Some(yes);
                }
                fits
            }
            None => false,
        };
        drop(state);
        self.shared.changed.notify_all();
        taken
    }

    /// The open question is no longer asked.
    pub(super) fn dismiss(&self) {
        if let Some(asked) = &mut self.shared.lock().asked {
            asked.outcome = Some(json!({"type": "cancelled"}));
        }
        self.shared.changed.notify_all();
    }

    /// The client goes: what runs is cancelled, or finished.
    pub(super) fn leave(mut self) {
        let mut state = self.shared.lock();
        if !self.shared.terms.finishes {
            state.cancelled = state.active.is_some();
            state.waiting.clear();
        }
        state.over = true;
        drop(state);
        self.shared.changed.notify_all();
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
        self.shared.lock().attached = false;
    }
}

impl Shared {
    /// A poisoned lock only means that a thread ended early.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, this long at most.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        most: Duration,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Does the turns, one after the other.
    fn work(&self) {
        loop {
            let mut state = self.lock();
            let job = loop {
                if let Some(job) = state.waiting.pop_front() {
                    break job;
                }
                if state.over {
                    return;
                }
                state = self.wait(state, Duration::from_secs(1));
            };
            state.active = Some(job.turn.clone());
            if !on("sqeq-full-disk-remembered") {
                state.refused = false;
            }
            if !on("sqeq-interrupt-remembered") {
                state.cancelled = false;
            }
            drop(state);
            let alone = if on("sqeq-one-turn-at-a-time") {
                static ONE: Mutex<()> = Mutex::new(());
                Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
            } else {
                None
            };
            Turn::new(self, job).run();
            drop(alone);
        }
    }

    /// Records an event, and sends it.
    pub(super) fn tell(
        &self,
        state: &mut State,
        place: Option<&Place<'_>>,
        event: Value,
        kept: Kept,
    ) -> u64 {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let item = event["item"]["type"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let mut frame = json!({"v": 1, "type": "event", "session": self.id, "event": event});
        if let Some(place) = place {
            if !place.turn.is_empty() {
                frame["turn"] = json!(place.turn);
            }
            if let Some(item) = place.item {
                frame["item"] = json!(item);
            }
            if !on("sqeq-no-cause") {
                frame["cause"] = json!(place.cause);
            }
        }
        let mut cursor = 0;
        if kept == Kept::Yes {
            cursor = state.log.next();
            frame["cursor"] = json!(cursor);
            let left_out = (on("sqeq-log-without-text") && item == "agent_message")
                || (on("sqeq-log-without-calls") && item == "tool_call")
                || (on("sqeq-log-without-turns") && kind == "turn.started");
            if left_out {
                state.log.skip();
            } else {
                let refused = state.log.append(&frame).is_err();
                if kind == "turn.ended" {
                    state.log.sync();
                }
                state.refused |= refused;
                // What was not written has no place in the log.
                let members = frame.as_object_mut().filter(|_| refused);
                members.map(|members| members.remove("cursor"));
            }
        }
        if state.attached {
            if on("sqeq-cursor-twice") && cursor > 0 {
                self.wire.together(|| {
                    self.wire.send(frame.clone());
                    self.deliver(state, &frame);
                });
            } else {
                self.deliver(state, &frame);
            }
        }
        cursor
    }

    /// The cursor of what is recorded next.
    pub(super) fn next(state: &State) -> u64 {
        state.log.next()
    }

    /// Sends a frame that is no event.
    pub(super) fn send(&self, frame: Value) {
        self.wire.send(frame);
    }
}
