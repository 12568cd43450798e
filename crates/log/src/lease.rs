//! The right to write one log: a lock held for life, and the fence before each batch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::appender::{Appender, Base};
use crate::error::{Doing, LogError, found};
use crate::fs::{Lock, LockMode, Replace, replace};
use crate::header::FORMAT;
use crate::layout::{Home, OPEN};
use crate::owner::{Holder, HolderState, Owner};
use crate::reader::{Carry, Reader};
use crate::scan::{Scan, Seen, Since};
use crate::store::Store;
use crate::subject::Subject;
use crate::writer::{Shared, Writer};

/// How long a claim waits for a holder to say that it is closing: a client that restarts right
/// after it closed the first one's stdin finds that one not yet awake.
const WAKE_WAIT: Duration = Duration::from_millis(250);

/// How long a claim waits for a holder that says it is closing.
const CLOSING_WAIT: Duration = Duration::from_secs(3);

/// Between two looks at a held lock.
const POLL: Duration = Duration::from_millis(10);

/// The lease of one log (LOG-7). It outlives its writers: after one failed, [`Lease::writer`]
/// gives the next. Dropping it frees the lock as soon as its writer has finished too; shut that
/// down first.
#[derive(Debug)]
pub struct Lease {
    held: Arc<Held>,
}

/// What a lease and its writer share; the lock goes with the last of them.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) store: Store,
    pub(crate) subject: Subject,
    pub(crate) home: Home,
    lock: Box<dyn Lock>,
    owner: Owner,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    writer: Weak<Shared>,
    /// How many writers there have been.
    writers: u64,
    /// The end of the log as scanned, while no writer has come after it.
    base: Option<Base>,
    carry: Option<Carry>,
}

impl State {
    fn has_writer(&self) -> bool {
        self.writer
            .upgrade()
            .is_some_and(|writer| !writer.is_finished())
    }
}

impl Lease {
    pub(crate) fn take(store: Store, subject: Subject, owner: Owner) -> Result<Self, LogError> {
        let home = Home::of(&subject);
        let lock = wait_for_lock(&store, &subject, &home)?;
        Self::with_lock(store, (subject, home), owner, lock)
    }

    /// The lease that `lock`, which is on the lock file of the log in `home`, stands for.
    pub(crate) fn with_lock(
        store: Store,
        (subject, home): (Subject, Home),
        owner: Owner,
        lock: Box<dyn Lock>,
    ) -> Result<Self, LogError> {
        // Empty when nobody writes, it is easily left out of a copy of the store.
        store
            .fs()
            .make_dir(OPEN.as_ref())
            .doing("create", OPEN.as_ref())?;
        let state = Mutex::default();
        let held = Held {
            store,
            subject,
            home,
            lock,
            owner,
            state,
        };
        let lease = Self {
            held: Arc::new(held),
        };
        lease.set_state(HolderState::Open)?;
        Ok(lease)
    }

    /// The log this is the lease of.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.held.subject
    }

    /// Reads the log under the lock. After a failed writer: what was acknowledged, not what the
    /// failed writes may have left behind.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn scan(&self) -> Result<Scan, LogError> {
        let mut records = Vec::new();
        let mut scan = self.visit(Since::Start, &mut |seen| {
            if let Seen::Record(record) = seen {
                records.push(record.to_record());
            }
        })?;
        scan.records = records;
        Ok(scan)
    }

    /// [`Lease::scan`] for logs of any length: shows each record and each broken place to `visit`,
    /// with one segment at a time in memory; the answer has no records. A visit since a checkpoint
    /// tells only of damage behind it.
    ///
    /// # Errors
    /// [`LogError::Io`]; `visit` may have been shown something by then.
    pub fn visit(&self, since: Since, visit: &mut dyn FnMut(Seen<'_>)) -> Result<Scan, LogError> {
        // Without the lock: a visitor may wait for somebody who reads slowly, and a writer must not.
        let (carry, writers) = {
            let state = self.held.state();
            (state.carry.clone(), state.writers)
        };
        let scan = self
            .held
            .store
            .with_reader_at(self.subject(), &self.held.home, |r| {
                r.visit(carry.as_ref(), since, visit)
            })?;
        let mut state = self.held.state();
        // What a writer has yet to append is not in this scan.
        let is_the_end = state.writers == writers && !state.has_writer();
        state.base = is_the_end.then(|| Base::of(&scan, carry));
        Ok(scan)
    }

    /// A writer that goes on where the log ends; reads the log first unless [`Lease::scan`] just
    /// did. It changes nothing before its first append, which begins a new segment under the next
    /// epoch.
    ///
    /// # Errors
    /// [`LogError::WriterExists`] while an earlier writer of this lease has neither failed nor
    /// been shut down; [`LogError::TooNew`] when a newer program wrote to this log (LOG-11);
    /// [`LogError::Io`].
    pub fn writer(&self) -> Result<Writer, LogError> {
        let mut state = self.held.state();
        if state.has_writer() {
            return Err(LogError::WriterExists);
        }
        let base = match state.base.take() {
            Some(base) => base,
            None => {
                let carry = state.carry.clone();
                let since = Since::Checkpoint;
                let scan = |r: Reader<'_>| r.visit(carry.as_ref(), since, &mut |_| ());
                let (store, home) = (&self.held.store, &self.held.home);
                let scan = store.with_reader_at(self.subject(), home, scan)?;
                Base::of(&scan, carry)
            }
        };
        if let Some(found) = base.newer {
            return Err(LogError::TooNew {
                found,
                known: FORMAT,
            });
        }
        let pool = Arc::clone(self.held.store.pool());
        let next_seq = base.next_seq;
        let appender = Appender::new(Arc::clone(&self.held), base);
        let shared = Arc::new(Shared::new(appender, next_seq, pool));
        state.writer = Arc::downgrade(&shared);
        state.writers += 1;
        Ok(Writer::new(shared))
    }

    /// What the next writer starts from, when none is at work. Forgets the last scan: what is
    /// done now changes the log.
    pub(crate) fn idle(&mut self) -> Result<Option<Carry>, LogError> {
        let mut state = self.held.state();
        if state.has_writer() {
            return Err(LogError::WriterExists);
        }
        state.base = None;
        Ok(state.carry.clone())
    }

    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Says in the owner record what the holder is about to do. The record is replaced, not
    /// synced: it informs, the lock decides.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn set_state(&self, state: HolderState) -> Result<(), LogError> {
        let holder = Holder {
            owner: self.held.owner.clone(),
            state,
        };
        let path = self.held.home.owner();
        let text = serde_json::to_vec(&holder).map_err(std::io::Error::other);
        let text = text.doing("write", path)?;
        replace(self.held.store.fs(), path, &text, Replace::Atomic).doing("write", path)
    }
}

impl Held {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer that is at work, if any, and what a failed one left behind.
    pub(crate) fn progress(&self) -> (Option<Arc<Shared>>, Option<Carry>) {
        let state = self.state();
        let writer = state.writer.upgrade().filter(|w| !w.is_finished());
        (writer, state.carry.clone())
    }

    /// The fence: whether the lock file still is the one that is locked.
    pub(crate) fn check(&self) -> Result<(), LogError> {
        let path = self.home.lock();
        match found(self.store.fs().stat(&path)).doing("look up", &path)? {
            Some(stat) if stat.id == self.lock.id() => Ok(()),
            _ => Err(LogError::Fenced(self.subject.clone())),
        }
    }

    /// Keeps for the next writer what a failed one had acknowledged.
    pub(crate) fn hand_over(&self, carry: Carry) {
        self.state().carry = Some(carry);
    }

    /// All acknowledged lines are durable in a segment of the current writer.
    pub(crate) fn carried(&self) {
        self.state().carry = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A fenced holder leaves the record alone: it is its successor's.
        if self.check().is_ok()
            && let Err(error) = self.store.fs().remove(self.home.owner())
        {
            tracing::debug!(%error, subject = %self.subject, "owner record not removed");
        }
    }
}

fn wait_for_lock(store: &Store, subject: &Subject, home: &Home) -> Result<Box<dyn Lock>, LogError> {
    let path = home.lock();
    let start = Instant::now();
    loop {
        match store.fs().lock(&path, LockMode::Exclusive) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) => {}
            // It was archived or removed while this waited.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(LogError::NotFound(subject.clone()));
            }
            Err(error) => return Err(error).doing("lock", &path),
        }
        let holder = store.recorded_holder(home)?;
        // No record: the holder is just coming or just going.
        let closing = holder
            .as_ref()
            .is_none_or(|h| h.state == HolderState::Closing);
        let patience = if closing { CLOSING_WAIT } else { WAKE_WAIT };
        if start.elapsed() >= patience {
            let (subject, holder) = (subject.clone(), holder.map(Box::new));
            return Err(LogError::Busy { subject, holder });
        }
        std::thread::sleep(POLL);
    }
}
