//! The threads that do the disk's work for all writers of a store.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, PoisonError};

use crate::sync::{Condvar, Mutex, MutexGuard, thread};

/// Threads a store uses at most. Syncs of different sessions overlap on two; more only queue up
/// inside the disk.
const THREADS: usize = 2;

/// Something to do on a thread that may block.
pub(crate) trait Work: Send + Sync {
    /// Does a bounded share of the work; what is left is submitted again, so that sessions take
    /// turns.
    fn run(self: Arc<Self>);
}

/// A pool that starts its threads when there is work and ends them when it is dropped. Its queue
/// is bounded by the number of writers: each is in it at most once.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<dyn Work>>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        let mut state = self.state();
        loop {
            if let Some(work) = state.queue.pop_front() {
                drop(state);
                work.run();
                state = self.state();
            } else if state.closed {
                return;
            } else {
                state.idle += 1;
                state = self
                    .wake
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    pub(crate) fn new() -> Self {
        Self {
            shared: Arc::default(),
        }
    }

    /// Queues work. Fails when no thread can be started at all.
    pub(crate) fn submit(&self, work: Arc<dyn Work>) -> io::Result<()> {
        let mut state = self.shared.state();
        if state.idle <= state.queue.len() && state.threads < THREADS {
            let shared = Arc::clone(&self.shared);
            let builder = thread::Builder::new().name("sessiond-log".to_owned());
            match builder.spawn(move || shared.serve()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => return Err(error),
                Err(_) => {}
            }
        }
        state.queue.push_back(work);
        self.shared.wake.notify_one();
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.wake.notify_all();
    }
}
