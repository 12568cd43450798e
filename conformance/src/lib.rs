//! What judges agent runtimes over stdio, kept apart from what it judges.
//!
//! What it is: for now the scripted model server ([`model`]), which stands in for the model
//! services that agents call, so that what a real agent does is decided by its prompt and needs no
//! key and no network. What it is not: part of sessiond; it depends on no crate of ours, so that a
//! mistake of ours cannot agree with itself.
//!
//! # Invariants
//!
//! - The server listens on 127.0.0.1 and nowhere else.
//! - A reply depends on its request alone: no state, no clock, no randomness but for the ids.
//! - Every request is recorded before it is answered, without the values of its secrets.
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
