//! The layout of a whole store: its version in the file `STORE`, and the way there from older ones.
//!
//! Layout 2 is layout 1 with `older/` in the directories of sessions. Segments have a format of
//! their own, which did not change.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{Doing, LogError, found};
use crate::fs::{Lock, LockMode, Replace, replace};
use crate::layout::STORE;
use crate::store::{SMALL_FILE, Store};

/// The layout that this program writes.
pub(crate) const LAYOUT: u64 = 2;

/// Held while a store is brought to another layout.
const STORE_LOCK: &str = "STORE.lock";

/// How long a process waits for another one that does that: it copies what may still change.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at the lock.
const POLL: Duration = Duration::from_millis(20);

/// Content of the file `STORE`.
#[derive(Debug, Serialize, Deserialize)]
struct Version {
    format: u64,
}

/// The way from one layout to the next. It may be cut off anywhere and is then done again from its
/// beginning; until its end this program reads the store as before.
pub(super) struct Step {
    /// The layout it starts from; it leads to the next number.
    pub(super) from: u64,
    /// What it does to the files.
    pub(super) apply: fn(&Store) -> Result<(), LogError>,
}

/// All steps, in order.
const STEPS: [Step; 1] = [Step {
    from: 1,
    // No file differs: the number keeps programs away that would take a compressed segment for
    // a lost one.
    apply: |_| Ok(()),
}];

impl Store {
    /// Whether this program may write here, logs or anything beside them (LOG-11).
    ///
    /// # Errors
    /// [`LogError::TooNew`] for a store of a newer layout; [`LogError::Io`].
    pub fn writable(&self) -> Result<(), LogError> {
        self.layout_below(LAYOUT).map(|_| ())
    }

    /// Brings the store to the layout of this program, after a back-up of the one it has
    /// (LOG-11); a new store gets its version. Whoever comes meanwhile waits.
    ///
    /// # Errors
    /// As [`Store::writable`]; done again, it goes on.
    pub(crate) fn migrate(&self) -> Result<(), LogError> {
        self.migrate_by(&STEPS)
    }

    pub(super) fn migrate_by(&self, steps: &[Step]) -> Result<(), LogError> {
        let target = steps.last().map_or(LAYOUT, |step| step.from + 1);
        match self.layout_below(target)? {
            Some(layout) if layout == target => return Ok(()),
            Some(_) => {}
            None => return self.set_layout(target),
        }
        let lock = self.lock_layout()?;
        // Another process may have done it meanwhile, in part or whole.
        let Some(layout) = self.layout_below(target)?.filter(|found| *found < target) else {
            return Ok(());
        };
        let place = self.back_up(layout)?;
        let place = place.display();
        tracing::warn!(from = layout, to = target, %place, "the store is brought to a newer layout");
        for step in steps.iter().filter(|step| step.from >= layout) {
            (step.apply)(self)?;
            self.set_layout(step.from + 1)?;
        }
        drop(lock);
        Ok(())
    }

    /// The layout of the store, `known` at most; none where it has no version yet.
    fn layout_below(&self, known: u64) -> Result<Option<u64>, LogError> {
        let path = Path::new(STORE);
        let Some(bytes) = found(self.fs().read(path, 0..SMALL_FILE)).doing("read", path)? else {
            return Ok(None);
        };
        let version: Version = serde_json::from_slice(&bytes)
            .map_err(io::Error::other)
            .doing("read", path)?;
        let found = version.format;
        if found > known {
            return Err(LogError::TooNew { found, known });
        }
        Ok(Some(found))
    }

    fn set_layout(&self, format: u64) -> Result<(), LogError> {
        let path = Path::new(STORE);
        let text = serde_json::to_string(&Version { format }).map_err(io::Error::other);
        let text = text.doing("write", path)? + "\n";
        replace(self.fs(), path, text.as_bytes(), Replace::Durable).doing("write", path)
    }

    fn lock_layout(&self) -> Result<Box<dyn Lock>, LogError> {
        let (path, start) = (Path::new(STORE_LOCK), Instant::now());
        loop {
            let lock = self.fs().lock(path, LockMode::Exclusive);
            if let Some(lock) = lock.doing("lock", path)? {
                return Ok(lock);
            }
            if start.elapsed() >= PATIENCE {
                let error = "another process is bringing the store to a newer layout";
                return Err(io::Error::new(io::ErrorKind::TimedOut, error)).doing("lock", path);
            }
            std::thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests;
