//! The index of sessions: one row of [`Summary`](sessiond_protocol::Summary) a session, in SQLite.
//!
//! It answers lists, titles and searches without reading every log. It is derived from the logs
//! and disposable (LOG-9): before each answer it compares its rows with what lies in the store and
//! reads again what changed. Where no database file can be had, the rows are kept in memory.
//!
//! What it is not: the source of anything. No id is called missing because it has no row, nothing
//! is resumed on what a row says (RESUME-14), and no append waits for it.
//!
//! # Invariants
//!
//! - An answer is what the logs said when it was asked for. A row counts only while its [mark]
//!   holds: where its log ended when it was read. Notes that were lost cost a read, never a lie.
//! - A note never waits and never fails: what cannot be written is found by the next list.
//! - One transaction a batch of notes, at most one note a turn, and none while the disk has little
//!   room: the room is the logs'.
//! - The database is a private regular file of the store's owner, reached through no link
//!   (LOG-15). One that a newer program made is left alone (LOG-11).
//! - Order is by the time of the newest message in the log; a time in the future counts as the
//!   time it was read and is flagged (LOG-14).
//!
//! [mark]: Index#how-a-row-is-known-to-be-current
//!
//! # Example
//!
//! ```
//! use sessiond_index::{Index, Query};
//! use sessiond_log::Store;
//!
//! let index = Index::open(&Store::in_memory());
//! let page = index.list(&Query { cwd: Some("/w".into()), limit: 20, ..Query::default() })?;
//! assert!(page.rows.is_empty() && page.next.is_none());
//! # Ok::<(), sessiond_index::IndexError>(())
//! ```

mod archived;
mod database;
mod entry;
mod error;
mod file;
mod index;
mod mark;
mod note;
mod query;
mod recency;
mod record;
mod refresh;
mod worker;

pub use error::IndexError;
pub use index::Index;
pub use note::Note;
pub use query::{After, InvalidAfter, Page, Query};
pub use refresh::Progress;
