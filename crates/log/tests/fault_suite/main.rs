//! The fault tests with counts: how many states were tried, and how many broke a rule.
//!
//! Each test ends with a line `faults: <test> <states> <violations> <seconds>`, of which `cargo xtask
//! faults` makes its table. `cargo test` runs the short form of each; `FAULTS=full` the whole.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and reports on stdout"
)]

/// Ends a check with the violation it found.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}

mod commands;
mod flips;
mod images;
mod operations;
mod power;
mod recovery;
#[path = "../support/mod.rs"]
mod support;
mod syscalls;
mod tally;
mod truncation;
mod writers;
