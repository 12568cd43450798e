//! The Model Context Protocol, from both of its ends.
//!
//! [`Servers`] are those that a session was given and that somebody here calls: the script agent, or a
//! face whose questions for permission a tool decides. [`endpoint`] is the other end: a server on
//! stdin and stdout that an agent starts like any other, and that stands for one which lives in the
//! session's client.
//!
//! What this crate is not: it holds no session, decides nothing about permission, and knows of the
//! engine only the waist.
//!
//! # Invariants
//! - A server is started when it is first called, under a guard, and is gone with its [`Servers`].
//! - What a server is given (variables, headers) is given to no other (SEC-2).
//! - The endpoint answers each request once, and ends with its agent.
//!
//! ```
//! use sessiond_mcp::Servers;
//! use sessiond_wire::process::SupervisorExe;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let mut none = Servers::new(Vec::new(), "/tmp".as_ref(), &SupervisorExe::default());
//! let error = none.call("files", "read".to_owned(), None).await.map_err(|error| error.code());
//! assert_eq!(error, Err("no_such_server"));
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod endpoint;
mod error;
mod servers;

pub use error::McpError;
pub use servers::Servers;
