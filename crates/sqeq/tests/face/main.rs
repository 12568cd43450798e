//! The face over memory: the test plays the client, and mostly the engine too.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy sees tests only in functions marked so; all of this is tests"
)]

mod bad_frames;
mod bounds;
mod ending;
mod stage;
mod submissions;
