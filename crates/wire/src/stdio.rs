//! Standard input and output: the guard that keeps stdout pure (WIRE-10), and the two threads that
//! move lines between the protocol's descriptors and the asynchronous rest.
//!
//! ```text
//! client ── fd 0 ─► private copy ─► reader thread ─► channel of lines
//! client ◄─ fd 1 ── private copy ◄─ writer thread ◄─ OutQueue
//!                   fd 0 = /dev/null, fd 1 = pipe ─► drain thread ─► counts on stderr
//! ```

mod diverted;
mod guard;
mod reader;
mod writer;

pub use diverted::DivertedCounter;
pub use guard::{GuardError, ProtocolIo, install};
pub use reader::{READ_AHEAD, spawn_reader};
pub use writer::{Encode, Writer, spawn_writer};
