//! `bench`: figures beside those of others, taken in the same run. Nothing here asserts.

mod sample;
pub(crate) mod start;
