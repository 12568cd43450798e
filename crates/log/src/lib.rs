//! The durable log of a session: an append-only sequence of records, one JSON object a line.
//!
//! A [`Store`] is the directory of one user's logs. A log is named by a [`Subject`] and written
//! under a [`Lease`], of which there is one at a time; the lease gives a [`Writer`], which takes
//! batches of [`NewRecord`]s and answers each with a [`Ticket`] once it is written or synced.
//! Anybody may [`Store::read`] a log; a [`Scan`] is its records and all that is wrong with it.
//!
//! What it is not: it knows no protocol, no session state and no clock. The kind, the time and the
//! data of a record are texts that the caller gives. It keeps no index, and it brings nothing back
//! that is lost: a [`Lease::repair`] takes note of damage, it does not undo it.
//!
//! Besides, a store looks after whole logs: [`Store::verify`], [`Lease::fork`],
//! [`Store::archive`], [`Store::trash`] and [`Store::restore`], [`Store::export`] and [`Store::import`], [`Store::gc`],
//! and the [`Store::audit`] of what was decided about them.
//!
//! # Invariants
//!
//! - What a ticket said was synced is read again after any crash; what it said was written, after
//!   any end of the process. A ticket that failed said nothing about the disk.
//! - Records are numbered from 1 without gaps. Where damage may have taken a record, its number is
//!   not given again.
//! - A load changes no byte below `sessions/`. The first append of a writer begins a new segment
//!   under a new epoch, and seals a torn end before it.
//! - Bytes that were once a line are never changed. Damage stays where it is and is reported; the
//!   records after it count.
//! - What is made of another log (a fork, an import) appears whole or not at all, and owes it
//!   nothing afterwards: files they share are never written again.
//! - A failure poisons its writer for ever. A holder whose lock was replaced appends nothing.
//! - The disk is reached through [`fs::Fs`] alone, and no link below the root is followed.
//!
//! # Example
//!
//! ```
//! use sessiond_log::{Durability, LogError, NewRecord, Owner, Store, Subject};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = Store::in_memory();
//! let subject: Subject = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10".parse()?;
//! let lease = store.create(&subject, &Owner::current())?;
//! let writer = lease.writer()?;
//! let record = NewRecord {
//!     kind: "session.opened".to_owned(),
//!     at: "2026-11-29T12:00:00Z".to_owned(),
//!     data: r#"{"cwd":"/w"}"#.to_owned(),
//! };
//! let appended = writer.append(vec![record], Durability::Synced).await?;
//! assert_eq!(appended.first_seq, 1);
//! writer.shutdown().await?;
//!
//! let scan = store.read(&subject)?;
//! assert_eq!(&*scan.records[0].data, r#"{"cwd":"/w"}"#);
//! # Ok::<(), LogError>(())
//! # }).unwrap();
//! ```

mod appender;
mod archive;
mod aside;
mod attachment;
mod audit;
mod backup;
mod blob;
mod chain;
mod digest;
mod error;
mod export;
mod fork;
pub mod fs;
mod gc;
mod generation;
mod header;
mod import;
mod keyring;
mod layout;
mod lease;
mod line;
mod lineage;
mod nascent;
mod nursery;
mod older;
mod owner;
mod piece;
mod pool;
mod reader;
mod record;
mod scan;
mod schema;
mod store;
mod subject;
mod survey;
mod sync;
mod trash;
mod verify;
mod walk;
mod writer;

pub use appender::SEGMENT_BYTES;
pub use attachment::Attachment;
pub use audit::{AuditEntry, Verdict};
pub use blob::INLINE_BYTES;
pub use digest::DigestKey;
pub use error::LogError;
pub use gc::{Sweep, Swept};
pub use generation::Generation;
pub use layout::Place;
pub use lease::Lease;
pub use lineage::Parent;
pub use nascent::Nascent;
pub use older::PutAway;
pub use owner::{Holder, HolderState, Owner};
pub use record::{NewRecord, Record, RecordView};
pub use scan::{Damage, DamageReason, Scan, Seen, Since, Span, Torn};
pub use store::Store;
pub use subject::Subject;
pub use trash::{Content, Tombstone};
pub use verify::{Detached, Health, Report};
pub use writer::{Appended, Durability, QUEUE_BYTES, Ticket, Writer};
