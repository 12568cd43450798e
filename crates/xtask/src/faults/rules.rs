//! Every rule of the session core and of the engine around it, and how each is broken.

mod called;
mod clients;
mod compaction;
mod conversation;
mod hooks;
mod records;
mod turns;
mod waist;

use super::mutations::{Mutation, cut};

/// The interleavings against the model.
const INTERLEAVINGS: &str = "core::tests::property::";

const fn broken(name: &'static str, change: [&'static str; 3]) -> Mutation {
    cut(INTERLEAVINGS, name, change)
}

const BUSY: &str = "engine/src/core/busy.rs";
const KEYS: &str = "engine/src/core/keys.rs";
const TURNS: &str = "engine/src/core/turns.rs";
const STREAM: &str = "engine/src/core/stream.rs";
const CORE: &str = "engine/src/core.rs";
const CLIENTS: &str = "engine/src/core/clients.rs";
const CLOSE: &str = "engine/src/core/close.rs";
const ASKS: &str = "engine/src/core/asks.rs";
const ATTEST: &str = "engine/src/core/attest.rs";
const HOOKS: &str = "engine/src/core/hooks.rs";
const SETTINGS: &str = "engine/src/core/settings.rs";
const COMPACTION: &str = "engine/src/core/compaction.rs";
const CONVERSATION: &str = "engine/src/core/conversation.rs";
const COURSE: &str = "protocol/src/course.rs";
const OFFERS: &str = "engine/src/core/offers.rs";
const TITLE: &str = "engine/src/core/title.rs";
const WITHDRAWAL: &str = "engine/src/core/withdrawal.rs";
const FOLD: &str = "protocol/src/standing.rs";
const CLOSINGS: &str = "protocol/src/standing/closings.rs";

/// Those of the engine around the core.
pub(crate) const WAIST: [&[Mutation]; 1] = [&waist::MUTATIONS];

/// All of the core's.
pub(crate) const RULES: [&[Mutation]; 7] = [
    &called::MUTATIONS,
    &turns::MUTATIONS,
    &records::MUTATIONS,
    &clients::MUTATIONS,
    &hooks::MUTATIONS,
    &conversation::MUTATIONS,
    &compaction::MUTATIONS,
];
