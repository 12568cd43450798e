//! The session core, driven by tables of inputs.

mod asks;
mod bench;
mod recovery;
mod stream;
mod turns;
