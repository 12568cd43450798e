//! What an ACP agent behind a session may say, ask and know, and what becomes of it.

pub(super) mod claude;
pub(super) mod life;
pub(super) mod programs;
pub(super) mod tables;
pub(super) mod talk;
