//! What the script agent does in a turn, as a client of its session sees it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail in what it is built from"
)]

mod cancel;
mod deaf;
mod files;
mod hooks;
mod permission;
mod run;
mod servers;
mod session;
mod speech;
mod steer;
mod terminal;
mod watched;
