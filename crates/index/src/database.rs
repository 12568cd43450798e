//! The rows in SQLite.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Result, params};
use sessiond_protocol::Recency;

use crate::entry::{Content, Entry};
use crate::file::{self, Identity};
use crate::mark::{Mark, Stamp};

mod rows;

/// Version of the tables and of what their rows mean. Another one is never converted: an older file
/// is made anew, a newer one left alone (LOG-11). 2: a fork was created when it was forked. 3: rows hold
/// roots.
const VERSION: i64 = 3;

/// How long a locked database is waited for; then the answer comes from memory.
const BUSY: Duration = Duration::from_millis(50);

const SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 32;
    PRAGMA journal_size_limit = 131072;
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA temp_store = MEMORY;
";

const TABLES: &str = "
    CREATE TABLE session (
        id TEXT PRIMARY KEY,
        cwd TEXT, title TEXT, agent TEXT, created_at TEXT, updated_at TEXT,
        millis INTEGER, clamped INTEGER, turns INTEGER, damage INTEGER, next_seq INTEGER,
        segment TEXT, bytes INTEGER, changed INTEGER,
        first_prompt TEXT, roots TEXT
    ) STRICT;
    CREATE INDEX by_recency ON session (millis DESC, id DESC) WHERE millis IS NOT NULL;
    CREATE INDEX by_cwd ON session (cwd, millis DESC, id DESC) WHERE millis IS NOT NULL;
    CREATE INDEX by_title ON session (title) WHERE title IS NOT NULL;
    CREATE TABLE stamp (
        one INTEGER PRIMARY KEY CHECK (one = 1), sessions INTEGER NOT NULL, open INTEGER NOT NULL
    ) STRICT;
    PRAGMA user_version = 3;
";

/// The rows of one store.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    /// The file; none in memory.
    file: Option<Identity>,
}

impl Database {
    /// The database in the store `root`; none where there can be none.
    pub(crate) fn open(root: &Path) -> Result<Option<Self>> {
        let Some((path, identity)) = file::usable(root) else {
            return Ok(None);
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        Self::set_up(connection, Some(identity))
    }

    /// A database of this process alone.
    pub(crate) fn in_memory() -> Result<Self> {
        let database = Self::set_up(Connection::open_in_memory()?, None)?;
        database.ok_or(rusqlite::Error::InvalidQuery)
    }

    /// None when a newer program made it.
    fn set_up(mut connection: Connection, file: Option<Identity>) -> Result<Option<Self>> {
        let version = |connection: &Connection| -> Result<i64> {
            connection.query_row("PRAGMA user_version", [], |row| row.get(0))
        };
        if version(&connection)? > VERSION {
            return Ok(None);
        }
        connection.execute_batch(SETTINGS)?;
        if version(&connection)? != VERSION {
            let work =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            if version(&work)? != VERSION {
                work.execute_batch(TABLES)?;
            }
            work.commit()?;
        }
        Ok(Some(Self { connection, file }))
    }

    /// Whether the name in the store still stands for this file, and may be used.
    pub(crate) fn is_current(&self, root: &Path) -> bool {
        self.file.is_some() && file::usable(root).map(|(_, identity)| identity) == self.file
    }

    /// What of the store has been taken into the rows as a whole.
    pub(crate) fn stamp(&self) -> Result<Option<Stamp>> {
        let mut statement = self
            .connection
            .prepare("SELECT sessions, open FROM stamp")?;
        let stamp = |row: &rusqlite::Row<'_>| {
            Ok(Stamp {
                sessions: row.get(0)?,
                open: row.get(1)?,
            })
        };
        statement.query_row([], stamp).optional()
    }

    /// Every session that is known, with the end of its log.
    pub(crate) fn marks(&self) -> Result<HashMap<String, Option<Mark>>> {
        let sql = "SELECT id, segment, bytes, changed FROM session";
        let mut statement = self.connection.prepare(sql)?;
        let marks = statement.query_map([], |row| Ok((row.get(0)?, rows::mark(row, 1)?)))?;
        marks.collect()
    }

    /// One session.
    pub(crate) fn entry(&self, session: &str) -> Result<Option<Entry>> {
        let sql = format!("SELECT {} FROM session WHERE id = ?1", rows::COLUMNS);
        let mut statement = self.connection.prepare(&sql)?;
        statement.query_row([session], rows::entry).optional()
    }

    /// Takes in entries and forgets sessions, in one transaction.
    pub(crate) fn write(&mut self, changes: &Changes) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let work = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        {
            let mut insert = work.prepare(rows::INSERT)?;
            for entry in &changes.entries {
                rows::insert(&mut insert, entry)?;
            }
            let mut delete = work.prepare("DELETE FROM session WHERE id = ?1")?;
            for session in &changes.gone {
                delete.execute([session])?;
            }
        }
        match changes.stamp {
            Stamped::As(stamp) => {
                let sql = "INSERT OR REPLACE INTO stamp (one, sessions, open) VALUES (1, ?1, ?2)";
                work.execute(sql, params![stamp.sessions, stamp.open])?;
            }
            Stamped::Unknown => {
                work.execute("DELETE FROM stamp", [])?;
            }
            Stamped::AsBefore => {}
        }
        work.commit()
    }

    /// Forgets every row.
    pub(crate) fn clear(&mut self) -> Result<()> {
        let work = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        work.execute_batch("DELETE FROM stamp; DELETE FROM session;")?;
        work.commit()
    }

    /// The connection, for questions; see [`rows`].
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// What one transaction changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) entries: Vec<Entry>,
    pub(crate) gone: Vec<String>,
    pub(crate) stamp: Stamped,
}

/// What the rows are known to cover afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stamped {
    /// What they did.
    #[default]
    AsBefore,
    /// All of the store at that stamp.
    As(Stamp),
    /// Nothing in particular.
    Unknown,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.gone.is_empty() && self.stamp == Stamped::AsBefore
    }
}

/// Whether the file itself is broken, so that a new one has to be made.
pub(crate) fn is_damaged(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => matches!(
            failure.code,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown
        ),
        // Other tables than ours, or rows that ours never hold.
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => true,
        _ => false,
    }
}

impl Content {
    /// The flag as a column.
    fn clamped(&self) -> bool {
        self.summary.recency == Recency::Clamped
    }
}
