//! `bench`: figures beside those of others, taken in the same run. Nothing here asserts.

pub(crate) mod acp;
mod build;
pub(crate) mod claude;
mod claude_start;
mod client;
pub(crate) mod codex;
pub(crate) mod log;
mod model;
pub(crate) mod open;
pub(crate) mod rollout;
mod sample;
pub(crate) mod start;
pub(crate) mod stream;
mod taking_in;
pub(crate) mod waist;
