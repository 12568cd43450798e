//! Connections whose sessions are with another process, over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod client;
mod fake;
mod relayed;
mod web;
mod world;

use std::time::Duration;

/// Longest wait for what should happen at once.
const PATIENCE: Duration = Duration::from_secs(15);
