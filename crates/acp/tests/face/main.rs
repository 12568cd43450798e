//! The face between a scripted client and a scripted engine.

mod bad_input;
mod harness;
mod life;
mod negotiation;
mod questions;
mod replay;
mod sessions;
mod turns;
