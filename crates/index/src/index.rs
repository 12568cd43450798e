//! The index of a store: what is asked of it, and where its rows are.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sessiond_log::{LogError, Store, Subject};
use sessiond_protocol::{SessionId, Summary};

use crate::database::{Changes, Database, is_damaged};
use crate::entry::Entry;
use crate::error::IndexError;
use crate::file;
use crate::mark::Mark;
use crate::note::Note;
use crate::query::{Page, Query};
use crate::refresh::{Progress, refresh};
use crate::worker::{self, Message};

/// The index of one store. Cheap to clone. All but [`Index::note`] read files and wait for them.
///
/// # How a row is known to be current
///
/// Each row keeps a mark: the last segment of the log, its length, and the time of the directory
/// it is in. A log grows at its end or by a segment, so an equal mark is an unchanged log. When
/// nothing was made, opened or closed in the store since the last look (the times of `sessions`
/// and `open` say), only the marks of sessions that are open for writing are compared; otherwise
/// all are. The log of a session whose mark differs is read again.
#[derive(Debug, Clone)]
pub struct Index {
    shared: Arc<Shared>,
    worker: Arc<OnceLock<SyncSender<Message>>>,
}

/// What the callers and the thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    store: Store,
    databases: Mutex<Databases>,
}

/// Opened when first used.
#[derive(Debug, Default)]
struct Databases {
    file: Option<Database>,
    /// In the file's stead while that cannot be used.
    memory: Option<Database>,
}

impl Index {
    /// The index of a store. Opens nothing before it is asked or told something.
    #[must_use]
    pub fn open(store: &Store) -> Self {
        let (store, databases) = (store.clone(), Mutex::default());
        Self {
            shared: Arc::new(Shared { store, databases }),
            worker: Arc::default(),
        }
    }

    /// A page of the sessions, newest first. The filters come before the page: only the last page
    /// is short.
    ///
    /// # Errors
    /// [`IndexError::Log`] when the store cannot be listed.
    pub fn list(&self, query: &Query) -> Result<Page, IndexError> {
        self.shared
            .ask(&mut |_| (), &|database| database.page(query))
    }

    /// One session, by its row or else by its log (LOG-9); none when there is no such log, or none
    /// with a header.
    ///
    /// # Errors
    /// [`IndexError::Log`] when the store cannot be listed or the log not be read.
    pub fn find(&self, session: SessionId) -> Result<Option<Summary>, IndexError> {
        let name = session.to_string();
        let found = self
            .shared
            .ask(&mut |_| (), &|database| database.entry(&name))?;
        if let Some(content) = found.and_then(|entry| entry.content) {
            return Ok(Some(content.summary));
        }
        let subject: Subject = name.parse()?;
        let entry = Entry::read(&self.shared.store, &subject)?;
        Ok(entry.content.map(|content| content.summary))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Takes in what the log has acknowledged: never waits, never fails. A note that finds the
    /// queue full or the database locked is lost; the next list reads the log instead.
    pub fn note(&self, note: Note) {
        let worker = self
            .worker
            .get_or_init(|| worker::start(Arc::clone(&self.shared)));
        if worker.try_send(Message::Note(note)).is_err() {
            tracing::debug!("a note for the index was dropped");
        }
    }

    /// Waits until the notes so far are taken in or given up, and the file is closed: what SQLite
    /// keeps beside it goes with the last process that has it open. The next question opens it again.
    pub fn flush(&self) {
        let Some(worker) = self.worker.get() else {
            return;
        };
        let (done, wait) = sync_channel(1);
        if worker.send(Message::Flush(done)).is_ok() {
            // Without an answer the thread is gone, and with it what there was to wait for.
            let _gone = wait.recv();
        }
    }

    /// Forgets a session whose log was removed, without waiting for a list to notice.
    pub fn forget(&self, session: SessionId) {
        let gone = vec![session.to_string()];
        let changes = Changes {
            gone,
            ..Changes::default()
        };
        let mut databases = self.shared.databases();
        let Databases { file, memory } = &mut *databases;
        for database in [file, memory].into_iter().flatten() {
            // The next list finds the log gone, whatever became of this.
            if let Err(error) = database.write(&changes) {
                tracing::debug!(%error, "a session could not be forgotten");
            }
        }
    }

    /// Reads every log anew.
    ///
    /// # Errors
    /// As [`Index::list`].
    pub fn rebuild(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), IndexError> {
        self.shared.clear();
        self.shared.ask(progress, &|_| Ok(()))
    }
}

/// Why the file gave no answer.
enum Trouble {
    Log(LogError),
    Database(rusqlite::Error),
    /// There can be no file now.
    NoFile,
}

impl From<IndexError> for Trouble {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Log(error) => Self::Log(error),
            IndexError::Database(error) => Self::Database(error),
        }
    }
}

type Question<'a, T> = &'a dyn Fn(&Database) -> rusqlite::Result<T>;

impl Shared {
    fn databases(&self) -> MutexGuard<'_, Databases> {
        self.databases
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the rows up to date, then asks: the file, a new file if that was damaged, memory.
    fn ask<T>(
        &self,
        progress: &mut dyn FnMut(Progress),
        question: Question<'_, T>,
    ) -> Result<T, IndexError> {
        let mut databases = self.databases();
        let mut answer = self.ask_file(&mut databases, progress, question);
        if let Err(Trouble::Database(error)) = &answer {
            tracing::debug!(%error, "the index cannot be used");
            databases.file = None;
            if is_damaged(error) {
                file::discard(self.store.root());
                answer = self.ask_file(&mut databases, progress, question);
            }
        }
        match answer {
            Ok(answer) => {
                databases.memory = None;
                return Ok(answer);
            }
            Err(Trouble::Log(error)) => return Err(error.into()),
            Err(Trouble::Database(_) | Trouble::NoFile) => databases.file = None,
        }
        let memory = match &mut databases.memory {
            Some(memory) => memory,
            none => none.insert(Database::in_memory()?),
        };
        refresh(&self.store, memory, progress)?;
        Ok(question(memory)?)
    }

    fn ask_file<T>(
        &self,
        databases: &mut Databases,
        progress: &mut dyn FnMut(Progress),
        question: Question<'_, T>,
    ) -> Result<T, Trouble> {
        let file = self.file(databases)?;
        refresh(&self.store, file, progress)?;
        question(file).map_err(Trouble::Database)
    }

    /// The database in the store, opened again when its name stands for another file now.
    fn file<'a>(&self, databases: &'a mut Databases) -> Result<&'a mut Database, Trouble> {
        let root = self.store.root();
        databases.file.take_if(|file| !file.is_current(root));
        match &mut databases.file {
            Some(file) => Ok(file),
            none => {
                // A newer program's store is read, and nothing is made in it (LOG-11).
                self.store.writable().map_err(|_| Trouble::NoFile)?;
                let opened = Database::open(root).map_err(Trouble::Database)?;
                Ok(none.insert(opened.ok_or(Trouble::NoFile)?))
            }
        }
    }

    /// Takes in notes, in one transaction (LOG-9). Any failure leaves it to the next list.
    pub(crate) fn record(&self, notes: Vec<Note>) {
        let mut databases = self.databases();
        let Ok(file) = self.file(&mut databases) else {
            return;
        };
        if let Err(error) = record(&self.store, file, notes) {
            tracing::debug!(%error, "notes for the index were lost");
            databases.file = None;
        }
    }

    /// Closes the file.
    pub(crate) fn let_go(&self) {
        self.databases().file = None;
    }

    fn clear(&self) {
        let mut databases = self.databases();
        databases.memory = None;
        if let Ok(file) = self.file(&mut databases)
            && let Err(error) = file.clear()
        {
            tracing::debug!(%error, "the index could not be emptied");
            databases.file = None;
            file::discard(self.store.root());
        }
    }
}

fn record(store: &Store, file: &mut Database, notes: Vec<Note>) -> rusqlite::Result<()> {
    let mut changes = Changes::default();
    for note in notes {
        let (session, last_seq) = (note.session().to_string(), note.last_seq());
        let earlier = changes
            .entries
            .iter()
            .rfind(|entry| entry.session == session);
        let before = match earlier {
            Some(entry) => Some(entry.clone()),
            None => file.entry(&session)?,
        };
        let Some(content) = note.after(before.and_then(|entry| entry.content)) else {
            continue;
        };
        let root = store.root();
        // The row counts only where the log ends with the last event of the note.
        let mark = Mark::of(root, &session).filter(|mark| {
            let end = mark.last_seq(root, &session);
            end == Some(last_seq)
        });
        let content = Some(content);
        changes.entries.push(Entry {
            session,
            content,
            mark,
        });
    }
    file.write(&changes)
}
