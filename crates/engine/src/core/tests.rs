//! The session core, driven by tables of inputs.

mod asks;
mod attest;
mod bench;
mod busy;
mod called;
mod checkpoint;
mod clients;
mod compaction;
mod conversation;
mod fixture;
mod fork;
mod hooks;
mod keys;
mod offers;
mod ops;
mod property;
mod recovery;
mod relocate;
mod stream;
mod title;
mod turns;
mod withdrawal;
