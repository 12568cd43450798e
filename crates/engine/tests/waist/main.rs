//! The engine through the waist, one binary so that a cold build links once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so loudly"
)]

mod acks;
mod answers;
mod appended;
mod audit;
mod busy;
mod checkpoint;
mod compaction;
mod detach;
mod durability;
mod engines;
mod fork;
mod harness;
mod hooks;
mod importer;
mod index;
mod joining;
mod ledger;
mod lending;
mod offers;
mod pages;
mod remote;
mod resume;
mod rewind;
mod sessions;
mod streams;
mod viewers;
