//! The native face: the waist's own frames, one JSON object a line, over any pair of streams.
//!
//! [`serve()`] stands between lines of a client and a [`Connection`](sessiond_wire::Connection) to
//! an engine. It translates nothing: it lets through what is a frame of the protocol as the
//! published schemas define it, says exactly what is wrong with the rest, and keeps both sides
//! bounded. Standard streams, a Unix socket and a WebSocket differ only in who makes the lines.
//!
//! What this crate is not: it holds no session, opens no stream, and adds nothing to the protocol.
//!
//! # Invariants
//! - No frame reaches the engine that the published schema refuses (WIRE-3).
//! - Every submission that was read gets exactly one receipt, while the client is there (SQEQ-1).
//! - What cannot be the protocol ends the connection with a fatal error, after the receipts of what
//!   came before it (WIRE-5); what is the protocol but wrong is answered, and the connection lives
//!   (WIRE-2).
//! - Memory is bounded whatever the client sends and however little it reads (WIRE-4).
//! - No answer repeats what was received: places and expectations only (WIRE-3).
//!
//! ```
//! use sessiond_protocol::ServerFrame;
//! use sessiond_sqeq::serve;
//! use sessiond_wire::{Line, OutQueue, pair};
//! use tokio::sync::mpsc;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let (lines, receiver) = mpsc::channel(1);
//! let (waist, _engine) = pair();
//! let out = OutQueue::new();
//! let face = tokio::spawn(serve(receiver, out.clone(), waist));
//!
//! lines.send(Line::Text("not a frame".into())).await?;
//! assert_eq!(face.await?.map_err(|error| error.code()), Err("protocol"));
//! assert!(matches!(out.recv().await, Some(ServerFrame::Error { fatal: true, .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod intake;
mod place;
mod serve;
mod submissions;
mod validate;

pub use error::FaceError;
pub use serve::{Served, serve};
