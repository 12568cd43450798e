//! The face: a program on an agent SDK starts it in place of the CLI and speaks stream-json on its
//! stdin and stdout. The table of what becomes of every message is `docs/claude.md`.

mod arguments;
mod asks;
mod coming;
mod controls;
mod cut;
mod elicitation;
mod engine;
mod events;
mod flags;
mod hooks;
mod incoming;
mod local;
mod mirror;
mod mode;
mod open;
mod outcome;
mod output;
mod outside;
mod prompt;
mod relay;
mod rules;
mod schema;
mod serve;
mod servers;
mod session;
mod settings;
mod tools;
mod turn;

pub use arguments::{Arguments, Asked, BadArguments, GoOn};
pub use mode::{Mode, NoMode};
pub use serve::{Ended, Options, Signal, States, serve};
