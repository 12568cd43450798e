//! The face between a scripted client and a scripted engine.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the stage and its helpers fail a test by panicking"
)]

mod bad_input;
mod cancel;
mod choices;
mod compaction;
mod events;
mod extensions;
mod harness;
mod life;
mod media;
mod methods;
mod negotiation;
mod pitfalls;
mod questions;
mod reading;
mod replay;
mod sessions;
mod turns;
mod v2;
