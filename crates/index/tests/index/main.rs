//! The index against stores on disk: what it answers, how it keeps up, what it does without a file.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so loudly"
)]

mod file;
mod harness;
mod keeping_up;
mod listing;
mod notes;
