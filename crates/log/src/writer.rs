//! The handle that appends: takes batches in order, never blocks on the disk.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::{Notify, oneshot};

use crate::appender::Appender;
use crate::error::{Doing, LogError};
use crate::pool::{Pool, Work};
use crate::record::NewRecord;
use crate::sync::{Mutex, MutexGuard, mpsc};

/// Bytes that may wait in a writer's queue. When they are reached the disk has stalled: further
/// batches are refused instead of filling the memory. One batch is taken whatever its size.
pub const QUEUE_BYTES: u64 = 32 * 1024 * 1024;

/// Bytes that are written at once, so that the first of many waiters is answered soon.
const GROUP_BYTES: u64 = 4 * 1024 * 1024;

/// Length of a line without its texts.
const ENVELOPE_BYTES: u64 = 128;

/// When a [`Ticket`] resolves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When the kernel has the bytes: they survive the end of the process.
    Written,
    /// When stable storage has them: they survive the end of the power.
    Synced,
}

/// Place of a batch in the log. An empty batch has `last_seq` below `first_seq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Seq of its first record.
    pub first_seq: u64,
    /// Seq of its last record.
    pub last_seq: u64,
}

type Answer<T> = Result<T, LogError>;

/// The outcome of a batch, on any async runtime. Tickets of one writer resolve in the order of
/// their batches, but for one that is refused, which does so at once; dropping one does not undo
/// its batch.
#[derive(Debug)]
pub struct Ticket(oneshot::Receiver<Answer<Appended>>);

impl Future for Ticket {
    type Output = Answer<Appended>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.0).poll(context);
        answer.map(|answer| answer.unwrap_or(Err(LogError::Closed)))
    }
}

/// A batch on its way to the disk.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) records: Vec<NewRecord>,
    pub(crate) first_seq: u64,
    pub(crate) bytes: u64,
    place: Place,
    durability: Durability,
    done: oneshot::Sender<Answer<Appended>>,
}

/// Where a batch goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind the batch before it.
    Behind,
    /// At the beginning of a segment: its first record is a checkpoint.
    Checkpoint,
}

impl Job {
    /// Seq of the checkpoint that the batch begins with.
    pub(crate) fn checkpoint(&self) -> Option<u64> {
        (self.place == Place::Checkpoint).then_some(self.first_seq)
    }

    pub(crate) fn into_waiting(self) -> Waiting {
        let last_seq = self.first_seq + self.records.len() as u64 - 1;
        let appended = Appended {
            first_seq: self.first_seq,
            last_seq,
        };
        Waiting {
            appended,
            durability: self.durability,
            done: self.done,
        }
    }
}

/// A batch whose lines are encoded.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) appended: Appended,
    pub(crate) durability: Durability,
    done: oneshot::Sender<Answer<Appended>>,
}

impl Waiting {
    pub(crate) fn answer(self, answer: Answer<Appended>) {
        // Nobody has to wait for a ticket.
        let _ = self.done.send(answer);
    }
}

/// What a handle and the pool share.
#[derive(Debug)]
pub(crate) struct Shared {
    queue: Mutex<Queue>,
    /// Taken by one thread of the pool at a time; `None` once failed or closed.
    appender: Mutex<Option<Appender>>,
    pool: Arc<Pool>,
    room: Notify,
}

#[derive(Debug)]
struct Queue {
    jobs: VecDeque<Job>,
    closing: Vec<oneshot::Sender<Answer<()>>>,
    cutting: Vec<mpsc::Sender<Answer<u64>>>,
    bytes: u64,
    next_seq: u64,
    state: State,
    /// Whether the pool has this writer in its queue or at work.
    scheduled: bool,
}

#[derive(Debug)]
enum State {
    Open,
    /// Takes no more batches, those it has are on their way.
    Closing,
    Closed,
    /// For ever (LOG-6).
    Failed(LogError),
}

impl Shared {
    pub(crate) fn new(appender: Appender, next_seq: u64, pool: Arc<Pool>) -> Self {
        let (jobs, closing, state) = (VecDeque::new(), Vec::new(), State::Open);
        let queue = Queue {
            jobs,
            closing,
            cutting: Vec::new(),
            bytes: 0,
            next_seq,
            state,
            scheduled: false,
        };
        let (appender, room) = (Mutex::new(Some(appender)), Notify::new());
        Self {
            queue: Mutex::new(queue),
            appender,
            pool,
            room,
        }
    }

    /// Whether this writer will never touch the disk again.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.queue().state, State::Closed | State::Failed(_))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn appender(&self) -> MutexGuard<'_, Option<Appender>> {
        self.appender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn schedule(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>) {
        if queue.scheduled {
            return;
        }
        queue.scheduled = true;
        drop(queue);
        let work: Arc<dyn Work> = Arc::<Self>::clone(self);
        if let Err(error) = self
            .pool
            .submit(work)
            .doing("start a thread for", "the log".as_ref())
        {
            let appender = self.appender().take();
            self.poison(appender, VecDeque::new(), &error);
        }
    }

    /// The next batches to write together.
    fn take_group(&self) -> VecDeque<Job> {
        let mut queue = self.queue();
        let mut group = VecDeque::new();
        let mut bytes = 0;
        while let Some(job) = queue
            .jobs
            .pop_front_if(|j| bytes == 0 || bytes + j.bytes <= GROUP_BYTES)
        {
            bytes += job.bytes;
            group.push_back(job);
        }
        queue.bytes -= bytes;
        group
    }

    /// Ends this writer with a failure. The next writer can be made before anybody hears of it.
    fn poison(&self, appender: Option<Appender>, group: VecDeque<Job>, error: &LogError) {
        let waiting = appender.map(|a| a.fail()).unwrap_or_default();
        let mut queue = self.queue();
        queue.state = State::Failed(error.clone());
        queue.scheduled = false;
        queue.bytes = 0;
        let jobs = std::mem::take(&mut queue.jobs);
        let closing = std::mem::take(&mut queue.closing);
        let cutting = std::mem::take(&mut queue.cutting);
        drop(queue);
        let rest = group.into_iter().chain(jobs).map(Job::into_waiting);
        for waiting in waiting.into_iter().chain(rest) {
            waiting.answer(Err(error.clone()));
        }
        for done in closing {
            let _ = done.send(Err(error.clone()));
        }
        for done in cutting {
            let _ = done.send(Err(error.clone()));
        }
        self.room.notify_waiters();
    }

    /// Ends the segment after what is being written right now, and waits for that; answers the last
    /// seq that is durable. `None` when this writer has ended.
    pub(crate) fn cut(self: &Arc<Self>) -> Result<Option<u64>, LogError> {
        let done = {
            let mut queue = self.queue();
            match &queue.state {
                State::Failed(_) | State::Closed => return Ok(None),
                State::Open | State::Closing => {}
            }
            let (sender, done) = mpsc::channel();
            queue.cutting.push(sender);
            self.schedule(queue);
            done
        };
        // The pool drops no sender without an answer; a writer that closes meanwhile has ended.
        done.recv().map_or(Ok(None), |answer| answer.map(Some))
    }

    /// Ends the segment when that is asked.
    fn end_segment(&self, appender: Option<&mut Appender>) -> Result<(), LogError> {
        let queue = self.queue();
        let Some(appender) = appender.filter(|_| !queue.cutting.is_empty()) else {
            return Ok(());
        };
        drop(queue);
        let durable = appender.cut()?;
        for done in std::mem::take(&mut self.queue().cutting) {
            let _ = done.send(Ok(durable));
        }
        Ok(())
    }

    /// Closes the file when that is asked and nothing is left to write.
    fn close(&self, slot: &mut Option<Appender>) -> Result<(), LogError> {
        let mut queue = self.queue();
        if !queue.jobs.is_empty() || !matches!(queue.state, State::Closing) {
            return Ok(());
        }
        drop(queue);
        if let Some(appender) = slot.as_mut() {
            appender.close()?;
        }
        // Gives back its share of the lease.
        *slot = None;
        queue = self.queue();
        queue.state = State::Closed;
        queue.cutting.clear();
        for done in std::mem::take(&mut queue.closing) {
            let _ = done.send(Ok(()));
        }
        Ok(())
    }
}

impl Work for Shared {
    fn run(self: Arc<Self>) {
        let mut slot = self.appender();
        let mut group = self.take_group();
        let outcome = match slot.as_mut() {
            Some(appender) => appender.append(&mut group),
            None => Err(LogError::Closed),
        };
        let outcome = outcome.and_then(|()| self.end_segment(slot.as_mut()));
        if let Err(error) = outcome.and_then(|()| self.close(&mut slot)) {
            return self.poison(slot.take(), group, &error);
        }
        drop(slot);
        self.room.notify_waiters();
        let mut queue = self.queue();
        queue.scheduled = false;
        let asked = !queue.cutting.is_empty() || matches!(queue.state, State::Closing);
        let more = !queue.jobs.is_empty() || asked;
        if more {
            self.schedule(queue);
        }
    }
}

/// Appends to one log. Cheap to clone; clones share one queue.
///
/// A failed or short write or a failed sync poisons the writer: that batch and every later one
/// returns the failure, nothing is tried again (LOG-6). Its lease gives a new writer.
#[derive(Debug, Clone)]
pub struct Writer {
    shared: Arc<Shared>,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Appends a batch, without waiting for the disk. Batches get their numbers in the order of
    /// these calls; an empty batch is a flush of those before it. A batch is one write, and is in
    /// one segment.
    ///
    /// # Errors
    /// The ticket resolves to [`LogError::InvalidRecord`] or, with [`QUEUE_BYTES`] waiting, to
    /// [`LogError::QueueFull`]: the batch has no numbers then and the writer lives; see
    /// [`Writer::ready`]. Else to what poisoned the writer, or [`LogError::Closed`].
    pub fn append(&self, batch: Vec<NewRecord>, durability: Durability) -> Ticket {
        self.append_at(batch, durability, Place::Behind)
    }

    /// Appends one record that makes those before it unneeded for whoever only wants to go on:
    /// [`Lease::visit`](crate::Lease::visit) begins there. It is synced, and begins a segment, so
    /// that the older ones can be put away (LOG-10).
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn checkpoint(&self, record: NewRecord) -> Ticket {
        self.append_at(vec![record], Durability::Synced, Place::Checkpoint)
    }

    fn append_at(&self, batch: Vec<NewRecord>, durability: Durability, place: Place) -> Ticket {
        let (done, ticket) = oneshot::channel();
        if let Err((done, error)) = self.submit(batch, (durability, place), done) {
            let _ = done.send(Err(error));
        }
        Ticket(ticket)
    }

    /// Resolves when the queue is at most half full, or the writer has ended.
    pub async fn ready(&self) {
        loop {
            let room = self.shared.room.notified();
            tokio::pin!(room);
            // Registered before the look, so that a change in between is not missed.
            room.as_mut().enable();
            let queue_bytes = self.shared.queue().bytes;
            if queue_bytes <= QUEUE_BYTES / 2 {
                return;
            }
            room.await;
        }
    }

    /// The number that the first record of the next batch gets.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.shared.queue().next_seq
    }

    /// Writes and syncs all that was appended before, and closes the file. Later batches get
    /// [`LogError::Closed`].
    ///
    /// # Errors
    /// What poisoned the writer, now or before.
    pub async fn shutdown(&self) -> Result<(), LogError> {
        let done = {
            let mut queue = self.shared.queue();
            match &queue.state {
                State::Failed(error) => return Err(error.clone()),
                State::Closed => return Ok(()),
                State::Open | State::Closing => {}
            }
            queue.state = State::Closing;
            let (sender, done) = oneshot::channel();
            queue.closing.push(sender);
            self.shared.schedule(queue);
            done
        };
        done.await.unwrap_or(Err(LogError::Closed))
    }

    fn submit(
        &self,
        batch: Vec<NewRecord>,
        (durability, place): (Durability, Place),
        done: oneshot::Sender<Answer<Appended>>,
    ) -> Result<(), (oneshot::Sender<Answer<Appended>>, LogError)> {
        let records: Vec<_> = match batch.into_iter().map(NewRecord::admit).collect() {
            Ok(records) => records,
            Err(error) => return Err((done, error)),
        };
        let bytes = records.iter().map(size).sum();
        let mut queue = self.shared.queue();
        match &queue.state {
            State::Open if queue.bytes > 0 && queue.bytes + bytes > QUEUE_BYTES => {
                return Err((done, LogError::QueueFull));
            }
            State::Open => {}
            State::Closing | State::Closed => return Err((done, LogError::Closed)),
            State::Failed(error) => return Err((done, error.clone())),
        }
        let first_seq = queue.next_seq;
        queue.next_seq += records.len() as u64;
        queue.bytes += bytes;
        queue.jobs.push_back(Job {
            records,
            first_seq,
            bytes,
            place,
            durability,
            done,
        });
        self.shared.schedule(queue);
        Ok(())
    }
}

fn size(record: &NewRecord) -> u64 {
    (record.data.len() + record.kind.len() + record.at.len()) as u64 + ENVELOPE_BYTES
}

#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod tests;
