//! The one ordered outbound queue of a connection (WIRE-6).
//!
//! Pushing never blocks and never drops: order is decided by the push alone. What bounds the queue
//! is that whoever produces in bulk (agents, replay, the reader of a client's requests) waits for
//! [`OutQueue::ready`] first, and that adjacent deltas merge while a slow reader lets them wait.
//!
//! A [patient](OutQueue::patient) queue merges nothing for a reader that keeps up, however fast the
//! producer: that one waits for the reader, as long as the reader reads at all.

mod state;

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use state::{Kind, State};

/// Frames waiting at which the queue counts as full: some milliseconds of work for a reader that
/// keeps up, and small beside what the frames themselves weigh.
pub const HIGH_WATER_FRAMES: usize = 1024;

/// Weight waiting at which the queue counts as full, in bytes: a few of the largest frames we send
/// (under 1 MiB each, WIRE-4).
pub const HIGH_WATER_BYTES: usize = 4 * 1024 * 1024;

/// Frames waiting from which on adjacent deltas merge. Below it each delta stays a frame of its
/// own, so that a reader that keeps up sees the text as it was streamed.
pub const COALESCE_FROM: usize = 16;

/// Frames waiting at which the producers of a patient queue wait: a pipe full of small frames, so that
/// the reader finds work while the producer works.
pub const PATIENT_FRAMES: usize = 256;

/// The bound of a patient queue: frames waiting from which on adjacent deltas merge. So far above
/// [`PATIENT_FRAMES`] that what is under way when producers begin to wait does not reach it.
pub const PATIENT_COALESCE_FROM: usize = 2 * PATIENT_FRAMES;

/// How long the producers of a patient queue wait for a reader that takes nothing. Longer than one
/// that reads is ever kept from its processor on a busy machine; no longer than text may take to be
/// stored (LOG-17), so that a turn goes on at the speed of people beside the slowest reader.
pub const PATIENCE: Duration = Duration::from_millis(100);

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
    /// An empty, open queue that merges deltas as soon as the reader is behind: for readers that
    /// have enough to do with less.
    pub fn new() -> Self {
        Self::of(Kind::Eager)
    }

    /// An empty, open queue that merges deltas only at its bound, [`PATIENT_COALESCE_FROM`]. Before,
    /// at [`PATIENT_FRAMES`], it counts as full for as long as [`PATIENCE`] lets the reader come
    /// round.
    pub fn patient() -> Self {
        Self::of(Kind::Patient)
    }

    fn of(kind: Kind) -> Self {
        let shared = Shared {
            state: Mutex::new(State::new(kind)),
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

    /// Appends a frame; where the reader is behind, the frame before may take it up instead.
    ///
    /// On a closed queue the frame is discarded: nobody is left to read it.
    pub fn push(&self, frame: T) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        state.push(frame);
        if state.batches == 0 && state.frames.len() == 1 {
            self.wake(state);
        }
    }

    /// Begins a batch: until it is dropped the consumer is not woken, so that it finds all of it at
    /// once. To be dropped without having waited for anything.
    pub fn batch(&self) -> Batch<'_, T> {
        self.lock().batches += 1;
        Batch { queue: self }
    }

    /// Wakes the consumer: the thread only if it sleeps, because that costs a call of the system.
    fn wake(&self, state: MutexGuard<'_, State<T>>) {
        let is_asleep = state.is_thread_asleep;
        drop(state);
        if is_asleep {
            self.shared.filled.notify_one();
        }
        self.shared.arrived.notify_one();
    }

    /// Whether so much waits that bulk producers should wait for [`ready`](Self::ready).
    pub fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lock().frames.is_empty()
    }

    /// Waits until the queue is below its high-water marks, or closed.
    pub async fn ready(&self) {
        loop {
            // Enabled before the check: a change between check and wait is not missed.
            let mut room = pin!(self.shared.room.notified());
            room.as_mut().enable();
            let patience_ends = {
                let state = self.lock();
                if state.closed || !state.is_full() {
                    return;
                }
                state.patience_ends().filter(|_| !state.is_at_bound())
            };
            match patience_ends {
                // Whether room came or patience ended is looked at anew.
                Some(end) => drop(tokio::time::timeout_at(end, room).await),
                None => room.await,
            }
        }
    }

    /// Whether so much waits that nobody may add to it however long it takes.
    pub fn is_at_bound(&self) -> bool {
        self.lock().is_at_bound()
    }

    /// Waits until the queue is not at its bound, or closed; [`ready`](Self::ready) for those who
    /// can do without the reader's pace.
    pub async fn below_bound(&self) {
        self.until(&self.shared.room, |state| {
            state.closed || !state.is_at_bound()
        })
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
        let was_at_bound = state.is_at_bound();
        let before = into.len();
        into.extend(state.frames.drain(..count));
        let taken = into.iter().skip(before).map(Coalesce::weight).sum();
        state.weight = state.weight.saturating_sub(taken);
        state.settled += count as u64;
        let has_room = state.note_room(was_at_bound);
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
            state.is_thread_asleep = true;
            state = self
                .shared
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.is_thread_asleep = false;
        }
        let was_at_bound = state.is_at_bound();
        std::mem::swap(&mut state.frames, into);
        state.weight = 0;
        let has_room = state.note_room(was_at_bound);
        drop(state);
        if has_room {
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

/// Frames that are pushed together, see [`OutQueue::batch`].
#[derive(Debug)]
pub struct Batch<'a, T: Coalesce> {
    queue: &'a OutQueue<T>,
}

impl<T: Coalesce> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.batches = state.batches.saturating_sub(1);
        if state.batches == 0 && !state.frames.is_empty() {
            self.queue.wake(state);
        }
    }
}

#[cfg(test)]
mod tests;
