//! What the faces of Claude and Codex have on their desk: what was asked of the client, what was said of
//! the turn that runs.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Shared by the reader of stdin, the turns and the signals.
pub(crate) struct Desk<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// What is on it.
pub(crate) struct State<T> {
    /// Our own questions with their answers.
    pub(crate) asked: HashMap<String, Option<Value>>,
    /// The client says nothing more.
    pub(crate) ended: bool,
    /// Of the face alone.
    pub(crate) own: T,
}

impl<T> Desk<T> {
    pub(crate) fn new(own: T) -> Arc<Self> {
        let state = State {
            asked: HashMap::new(),
            ended: false,
            own,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something and wakes whoever waits.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Waits until something is found, at most so long.
    pub(crate) fn wait<R>(
        &self,
        most: Duration,
        mut found: impl FnMut(&mut State<T>) -> Option<R>,
    ) -> Option<R> {
        let until = Instant::now() + most;
        let mut state = self.lock();
        loop {
            if let Some(result) = found(&mut state) {
                return Some(result);
            }
            let left = until.checked_duration_since(Instant::now())?;
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// An answer of the client; the first counts, and one to nothing does not.
    pub(crate) fn answered(&self, id: &str, answer: &Value) {
        self.change(|state| {
            if let Some(slot) = state.asked.get_mut(id) {
                if crate::fault::on("last-answer-counts") {
                    *slot = None;
                }
                slot.get_or_insert_with(|| answer.clone());
            }
        });
    }
}
