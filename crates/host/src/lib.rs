//! Sessions that outlive their client: the per-user host process, the sockets on which a process
//! that holds sessions takes other clients, and the relays to them.
//!
//! - [`Place`] says where sockets lie: one name for the host of a store, one for each process;
//! - [`listen`] takes clients on a socket and serves them the waist ([`Doorway`]);
//! - [`relay`] is the way there: a [`Connection`](sessiond_wire::Connection) like any other;
//! - [`route`] joins both: a connection whose sessions are here or with another holder;
//! - [`Web`] takes clients at a WebSocket of this machine, for those who know the [`Secret`];
//! - [`Host`] is the process that owns sessions for others, [`reach`] finds or starts it.
//!
//! What this crate is not: it holds no session and knows no log; the engine does. It listens to
//! this user on this machine only.
//!
//! # Invariants
//! - A relay adds nothing and drops nothing: each submission gets one receipt, from the engine that
//!   took it or, when that is gone, an error that says so (SQEQ-1).
//! - A socket is private twice: by its directory (0700, this user's, no link) and by the peer's
//!   credentials (SQEQ-8).
//! - One host a store: who holds its lock. A socket without a live owner is removed by the next one
//!   that has the lock, never by a client.
//! - What a host runs ends with nobody: not with the client, not with the process that started it.

mod doorway;
mod error;
mod frame;
mod limits;
mod place;
mod process;
mod reach;
mod relay;
mod router;
mod web;

pub use doorway::{Doorway, listen};
pub use error::HostError;
pub use limits::raise_file_limit;
pub use place::Place;
pub use process::{Host, IDLE};
pub use reach::reach;
pub use relay::relay;
pub use router::{Holders, route};
#[cfg(feature = "client")]
pub use web::SessiondApiClient;
pub use web::{Secret, SessiondApiServer, Web};
