//! The home of Claude's protocols: the stream-json face that the agent SDKs start, the real CLI as
//! a downstream agent, and transcripts in and out.
//!
//! The face is a client of the waist: it holds a `Connection` and touches neither the log nor an
//! agent. What is common to both directions is written once here.

pub mod agent;
pub mod face;
pub mod transcript;
