//! The session core, driven by tables of inputs.

mod asks;
mod bench;
mod checkpoint;
mod fork;
mod recovery;
mod relocate;
mod stream;
mod title;
mod turns;
