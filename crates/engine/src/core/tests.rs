//! The session core, driven by tables of inputs.

mod asks;
mod bench;
mod fork;
mod recovery;
mod relocate;
mod stream;
mod title;
mod turns;
