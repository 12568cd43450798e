//! The home of Claude's protocols: the stream-json face that the agent SDKs start, the real CLI as
//! a downstream agent, and transcripts in and out.
//!
//! - [`line`] is how frames become lines, [`control`] the control protocol, [`message`] the
//!   messages: what is common to both directions, written once;
//! - [`face`] serves a program on one of the SDKs as if it were the CLI;
//! - [`transcript`] reads and writes what the CLI writes down of a conversation, with [`tool`] for
//!   what its tools are.
//!
//! What this crate is not: the face is a client of the waist. It holds a `Connection` and touches
//! neither the log nor an agent, and cannot tell whether the engine is in its process or in the host.
//!
//! # Invariants
//! - A turn begins with one `system/init` and ends with one `result`, whatever becomes of it; no
//!   frame of a turn comes after its result.
//! - No line is longer than [`line::LINE_BYTES`], each is one JSON object with a `type`.
//! - What nobody can be asked is not allowed: an ask without an answer is a denial.
//!
//! ```
//! use sessiond_claude::face::Arguments;
//!
//! let words = ["--output-format", "stream-json", "--resume=the title", "--max-turns=3"];
//! let arguments = Arguments::read(words.map(str::to_owned))?;
//! assert_eq!(arguments.max_turns, Some(3));
//! # Ok::<(), sessiond_claude::face::BadArguments>(())
//! ```

pub mod agent;
pub mod control;
mod elicited;
pub mod face;
mod likeness;
pub mod line;
pub mod message;
pub mod tool;
pub mod transcript;
mod user_question;
