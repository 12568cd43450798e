//! `bench`: figures beside those of others, taken in the same run. Nothing here asserts.

pub(crate) mod acp;
mod build;
pub(crate) mod claude;
mod claude_start;
mod client;
pub(crate) mod codex;
pub(crate) mod log;
pub(crate) mod open;
mod sample;
pub(crate) mod start;
pub(crate) mod stream;
pub(crate) mod waist;
