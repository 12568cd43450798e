//! Moves frames and keeps the channel clean: lines, queues, connections, JSON-RPC, standard
//! streams and supervised child processes.
//!
//! - [`lines`] finds frames in a byte stream, [`hygiene`] makes their text safe to parse and store;
//! - [`queue`] is the one ordered way out of a connection;
//! - [`connection`] joins a face and a server by both; [`waist`] and [`Submissions`] are its client's side;
//! - [`rpc`] is a JSON-RPC 2.0 peer, both directions;
//! - [`stdio`] takes stdin and stdout away from everyone else and moves lines on threads;
//! - [`socket`] moves lines between processes of one user;
//! - [`process`] runs programs that leave nothing behind, [`program`] talks to one line by line;
//! - [`foreign`] reads files of lines that other programs write.
//!
//! What this crate is not: it knows no sessions, stores nothing, retries nothing, and no foreign
//! protocol is spoken here; it opens no socket to another machine.
//!
//! # Invariants
//! - Once [`stdio::install`] has returned, only its `output` reaches the client, and nothing that
//!   is started here inherits it.
//! - Frames leave in the order in which they were pushed; only adjacent deltas merge, nothing is
//!   dropped while the client is there.
//! - Memory is bounded whatever the peer sends: by the line limit, the read-ahead, the in-flight
//!   limit, and the high-water marks that bulk producers wait at.
//! - Whatever a child process starts dies with it, and all of it with us.
//! - No diagnostic and no error answer repeats what was received.
//!
//! ```
//! use sessiond_wire::queue::OutQueue;
//! use sessiond_wire::rpc::{Inbound, Peer, parse};
//!
//! let queue = OutQueue::new();
//! let peer = Peer::new(queue.clone());
//! match parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#) {
//!     Inbound::Request { id, .. } => peer.respond(&id, Ok(&"pong")),
//!     Inbound::Invalid { id, error } => peer.refuse(id.as_ref(), &error),
//!     Inbound::Response { id, result } => peer.accept(&id, result),
//!     Inbound::Notification { .. } => {}
//!     Inbound::Ignore => peer.ignore(),
//! }
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let frame = queue.recv().await.map(|frame| frame.text().into_owned());
//! assert_eq!(frame.as_deref(), Some(r#"{"jsonrpc":"2.0","id":"a","result":"pong"}"#));
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod connection;
pub mod foreign;
pub mod hygiene;
pub mod lines;
mod pending;
pub mod process;
pub mod program;
pub mod queue;
pub mod rpc;
pub mod socket;
pub mod stdio;
mod submissions;
pub mod waist;

pub use connection::{Connection, Gone, ServerEnd, pair};
pub use lines::{AsyncLines, BadLine, DEFAULT_LINE_LIMIT, Line, LineReader};
pub use pending::Pending;
pub use queue::{Coalesce, OutQueue};
pub use submissions::Submissions;
