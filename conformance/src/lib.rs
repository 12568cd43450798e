//! What judges agent runtimes over stdio, kept apart from what it judges.
//!
//! What it is: `sessiond-conformance`, which starts a runtime afresh for each case, talks to it, and
//! decides every check from what it recorded; and the scripted model server ([`model`]), which
//! stands in for the model services that agents call, so that what a real agent does is decided by
//! its prompt and needs no key and no network. What it is not: part of sessiond; it depends on no
//! crate of ours, so that a mistake of ours cannot agree with itself.
//!
//! Cases are data (`cases/`), and so are the requirements that they decide (`requirements/`) and
//! the targets (`targets/`). The driver does the steps of a case, the recorder keeps every byte
//! both ways with its time, the judge reads the recording and nothing else.
//!
//! # Invariants
//!
//! - A verdict depends on the recording alone.
//! - Nothing a target does hangs the runner: every wait has a deadline, what is kept of a target is
//!   bounded, its whole tree is below a guard and ends with the case.
//! - A check that cannot be decided is not passed.
//! - The model server listens on 127.0.0.1 and nowhere else; its reply depends on its request
//!   alone; every request is recorded before it is answered, without the values of its secrets.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), sessiond_conformance::model::Error> {
//! use sessiond_conformance::model::ModelServer;
//!
//! let server = ModelServer::start(0, None).await?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```

pub mod model;

mod baseline;
mod case;
mod check;
mod client;
mod disk;
mod driver;
mod error;
mod explain;
mod guard;
mod judge;
mod lines;
mod matcher;
mod model_link;
mod options;
mod process;
mod program;
mod recording;
mod report;
mod requirement;
mod runner;
mod schema;
mod scope;
mod step;
mod suite;
mod target;
mod tongue;
mod trace;
mod verdict;

pub use guard::main as guard_main;
pub use program::main;
