//! The one ordered outbound queue of a connection (WIRE-6).
//!
//! Pushing never blocks and never drops: order is decided by the push alone. What bounds the queue
//! is that whoever produces in bulk (agents, replay, the reader of a client's requests) waits for
//! [`OutQueue::ready`] first, and that adjacent deltas merge while a slow reader lets them wait.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Frames waiting at which the queue counts as full: some milliseconds of work for a reader that
/// keeps up, and small beside what the frames themselves weigh.
pub const HIGH_WATER_FRAMES: usize = 1024;

/// Weight waiting at which the queue counts as full, in bytes: a few of the largest frames we send
/// (under 1 MiB each, WIRE-4).
pub const HIGH_WATER_BYTES: usize = 4 * 1024 * 1024;

/// Frames waiting from which on adjacent deltas merge. Below it each delta stays a frame of its
/// own, so that a reader that keeps up sees the text as it was streamed.
pub const COALESCE_FROM: usize = 16;

/// What a frame is assumed to weigh unless it knows better, in bytes.
pub const NOMINAL_WEIGHT: usize = 512;

/// A frame that may take up its successor in the queue.
pub trait Coalesce: Sized {
    /// Takes `next` into `self`, as if the reader had been sent both.
    ///
    /// # Errors
    /// Gives `next` back when the two do not join.
    fn absorb(&mut self, next: Self) -> Result<(), Self>;

    /// Roughly how many bytes the frame holds.
    fn weight(&self) -> usize {
        NOMINAL_WEIGHT
    }
}

/// A handle to the queue; clones push to and take from the same one.
///
/// Many producers, one consumer: either a task ([`recv`](Self::recv),
/// [`recv_many`](Self::recv_many)) or a thread ([`take_all`](Self::take_all)).
#[derive(Debug)]
pub struct OutQueue<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    /// Wakes the consuming thread.
    filled: Condvar,
    /// Wakes the consuming task.
    arrived: Notify,
    /// Wakes producers that wait for room.
    room: Notify,
    /// Wakes those that wait for frames to be written.
    progress: Notify,
    /// Wakes those that wait for the end.
    ended: Notify,
}

#[derive(Debug)]
struct State<T> {
    frames: VecDeque<T>,
    weight: usize,
    /// Frames ever queued; a merged one is no frame of its own.
    queued: u64,
    /// Frames the consumer has dealt with, written or discarded.
    settled: u64,
    closed: bool,
}

impl<T> State<T> {
    fn is_full(&self) -> bool {
        self.frames.len() >= HIGH_WATER_FRAMES || self.weight >= HIGH_WATER_BYTES
    }
}

impl<T> Clone for OutQueue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Coalesce> Default for OutQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Coalesce> OutQueue<T> {
    /// An empty, open queue.
    pub fn new() -> Self {
        let state = State {
            frames: VecDeque::new(),
            weight: 0,
            queued: 0,
            settled: 0,
            closed: false,
        };
        let shared = Shared {
            state: Mutex::new(state),
            filled: Condvar::new(),
            arrived: Notify::new(),
            room: Notify::new(),
            progress: Notify::new(),
            ended: Notify::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Appends a frame; the frame before may take it up instead once [`COALESCE_FROM`] wait.
    ///
    /// On a closed queue the frame is discarded: nobody is left to read it.
    pub fn push(&self, frame: T) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        let Some(frame) = merge(&mut state, frame) else {
            return;
        };
        state.weight += frame.weight();
        state.queued += 1;
        state.frames.push_back(frame);
        let first = state.frames.len() == 1;
        drop(state);
        if first {
            self.shared.filled.notify_one();
            self.shared.arrived.notify_one();
        }
    }

    /// Whether so much waits that bulk producers should wait for [`ready`](Self::ready).
    pub fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// Waits until the queue is below its high-water marks, or closed.
    pub async fn ready(&self) {
        self.until(&self.shared.room, |state| state.closed || !state.is_full())
            .await;
    }

    /// Ends the queue: what waits may still be taken, later frames are discarded.
    pub fn close(&self) {
        self.lock().closed = true;
        self.wake_all();
    }

    /// Ends the queue and discards what waits, because nobody can read it any more.
    pub fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.weight = 0;
        state.settled = state.queued;
        let discarded = std::mem::take(&mut state.frames);
        drop(state);
        drop(discarded);
        self.wake_all();
    }

    /// Whether the queue takes no more frames.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits until the queue is closed.
    pub async fn closed(&self) {
        self.until(&self.shared.ended, |state| state.closed).await;
    }

    /// Waits until every frame queued before the call is dealt with: written by the writer thread,
    /// received by the receiving task, or discarded by [`abandon`](Self::abandon).
    pub async fn flushed(&self) {
        let target = self.lock().queued;
        self.until(&self.shared.progress, |state| state.settled >= target)
            .await;
    }

    /// The next frame; `None` when the queue is closed and empty.
    pub async fn recv(&self) -> Option<T> {
        let mut frame = Vec::with_capacity(1);
        self.recv_many(&mut frame, 1).await;
        frame.pop()
    }

    /// Appends up to `limit` frames to `into`, waiting for the first; returns how many. Zero says
    /// that the queue is closed and empty.
    pub async fn recv_many(&self, into: &mut Vec<T>, limit: usize) -> usize {
        loop {
            // Made before the look: a push between look and wait is not missed.
            let arrived = self.shared.arrived.notified();
            if let Some(count) = self.take_some(into, limit) {
                return count;
            }
            arrived.await;
        }
    }

    /// Appends up to `limit` frames to `into`; `None` when there is none yet.
    fn take_some(&self, into: &mut Vec<T>, limit: usize) -> Option<usize> {
        let mut state = self.lock();
        let count = state.frames.len().min(limit);
        if count == 0 {
            return (state.closed || limit == 0).then_some(0);
        }
        let was_full = state.is_full();
        let before = into.len();
        into.extend(state.frames.drain(..count));
        let taken = into.iter().skip(before).map(Coalesce::weight).sum();
        state.weight = state.weight.saturating_sub(taken);
        state.settled += count as u64;
        let has_room = was_full && !state.is_full();
        drop(state);
        if has_room {
            self.shared.room.notify_waiters();
        }
        self.shared.progress.notify_waiters();
        Some(count)
    }

    /// Swaps everything that waits into the empty `into`, blocking the thread until there is
    /// something; `false` when the queue is closed and empty. The caller reports what it has dealt
    /// with through [`settle`](Self::settle).
    pub fn take_all(&self, into: &mut VecDeque<T>) -> bool {
        let mut state = self.lock();
        while state.frames.is_empty() {
            if state.closed {
                return false;
            }
            state = self
                .shared
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let was_full = state.is_full();
        std::mem::swap(&mut state.frames, into);
        state.weight = 0;
        drop(state);
        if was_full {
            self.shared.room.notify_waiters();
        }
        true
    }

    /// Counts `frames` taken by [`take_all`](Self::take_all) as dealt with.
    pub fn settle(&self, frames: u64) {
        let mut state = self.lock();
        state.settled = state.queued.min(state.settled + frames);
        drop(state);
        self.shared.progress.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // A frame's own code can not leave the state half-changed, so a poisoned lock is sound.
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_all(&self) {
        self.shared.filled.notify_all();
        self.shared.arrived.notify_one();
        self.shared.room.notify_waiters();
        self.shared.progress.notify_waiters();
        self.shared.ended.notify_waiters();
    }

    async fn until(&self, changed: &Notify, holds: impl Fn(&State<T>) -> bool) {
        loop {
            // Enabled before the check: a change between check and wait is not missed.
            let mut notified = pin!(changed.notified());
            notified.as_mut().enable();
            if holds(&self.lock()) {
                return;
            }
            notified.await;
        }
    }
}

/// Merges `frame` into the last one that waits; gives it back if it must stand alone.
fn merge<T: Coalesce>(state: &mut State<T>, frame: T) -> Option<T> {
    if state.frames.len() < COALESCE_FROM {
        return Some(frame);
    }
    let Some(last) = state.frames.back_mut() else {
        return Some(frame);
    };
    let before = last.weight();
    let rest = last.absorb(frame).err();
    let after = last.weight();
    state.weight = state.weight.saturating_sub(before) + after;
    rest
}

#[cfg(test)]
mod tests;
