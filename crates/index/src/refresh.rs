//! Brings the rows up to what lies in the store.

use std::num::NonZero;
use std::thread;

use sessiond_log::{Store, Subject};

use crate::database::{Changes, Database, Stamped};
use crate::entry::Entry;
use crate::error::IndexError;
use crate::mark::{Mark, Stamp};

/// Logs that are read before their rows are written: bounds the memory and the transaction.
const BATCH: usize = 1000;

/// More readers than this wait for the same disk.
const MOST_READERS: usize = 4;

/// How far a rebuild is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Sessions whose logs were read.
    pub done: usize,
    /// Sessions whose logs are to be read.
    pub total: usize,
}

/// Reads the logs of which no row counts any more.
pub(crate) fn refresh(
    store: &Store,
    database: &mut Database,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), IndexError> {
    // Before anything is looked at: what changes meanwhile is found by the next refresh.
    let stamp = Stamp::of(store.root());
    let is_known = stamp.is_some() && database.stamp()? == stamp;
    let (behind, gone) = if is_known {
        (open_and_behind(store, database)?, Vec::new())
    } else {
        compare(store, database)?
    };
    let total = behind.len();
    for (index, subjects) in behind.chunks(BATCH).enumerate() {
        let entries = read(store, subjects);
        let changes = Changes {
            entries,
            ..Changes::default()
        };
        database.write(&changes)?;
        let done = index * BATCH + subjects.len();
        progress(Progress { done, total });
    }
    let stamp = match stamp {
        _ if is_known => Stamped::AsBefore,
        Some(stamp) => Stamped::As(stamp),
        None => Stamped::Unknown,
    };
    let entries = Vec::new();
    database.write(&Changes {
        entries,
        gone,
        stamp,
    })?;
    Ok(())
}

/// Nothing was made, opened or closed since the last time, so only what is open can have grown.
fn open_and_behind(store: &Store, database: &Database) -> Result<Vec<Subject>, IndexError> {
    let root = store.root();
    // No directory: nothing was ever open.
    let names = std::fs::read_dir(root.join("open"));
    let names = names.into_iter().flatten();
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut behind = Vec::new();
    for name in names {
        let Ok(subject) = name.parse::<Subject>() else {
            continue;
        };
        let mark = database.entry(&name)?.and_then(|entry| entry.mark);
        if !mark.is_some_and(|mark| mark.holds(root, &name)) {
            behind.push(subject);
        }
    }
    Ok(behind)
}

/// The sessions whose rows are missing or do not hold, and the rows whose sessions are gone.
fn compare(store: &Store, database: &Database) -> Result<(Vec<Subject>, Vec<String>), IndexError> {
    let mut marks = database.marks()?;
    let mut behind = Vec::new();
    for subject in store.subjects()? {
        let name = subject.as_ref();
        let mark: Option<Mark> = marks.remove(name).flatten();
        if !mark.is_some_and(|mark| mark.holds(store.root(), name)) {
            behind.push(subject);
        }
    }
    Ok((behind, marks.into_keys().collect()))
}

/// Reads logs on several threads.
fn read(store: &Store, subjects: &[Subject]) -> Vec<Entry> {
    let readers = thread::available_parallelism().map_or(1, NonZero::get);
    let share = subjects.len().div_ceil(readers.min(MOST_READERS)).max(1);
    let read = |subjects: &[Subject]| -> Vec<Entry> {
        subjects
            .iter()
            .map(|subject| read_one(store, subject))
            .collect()
    };
    if subjects.len() <= share {
        return read(subjects);
    }
    thread::scope(|scope| {
        let spawn = |subjects| scope.spawn(move || read(subjects));
        let readers: Vec<_> = subjects.chunks(share).map(spawn).collect();
        let join = |reader: thread::ScopedJoinHandle<'_, Vec<Entry>>| {
            reader
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        readers.into_iter().flat_map(join).collect()
    })
}

/// A log that cannot be read now is no row; asking for it by id says why.
fn read_one(store: &Store, subject: &Subject) -> Entry {
    Entry::read(store, subject).unwrap_or_else(|error| {
        tracing::debug!(code = error.code(), %subject, "a log could not be read");
        Entry {
            session: subject.to_string(),
            content: None,
            mark: None,
        }
    })
}
