//! Version 2 of the protocol (acp.md 2): its own face over the same waist, its own encoder over the
//! same events. Nothing of version 1's traffic is translated.
//!
//! What differs from version 1: a session lives outside of requests. Its state, its user messages and
//! its background traffic are told when they happen, and a prompt is answered when its message became
//! part of the conversation.

mod awaited;
mod change;
mod config;
mod event;
mod face;
mod negotiate;
mod params;
mod patch;
mod prompt;
mod question;
mod receipt;
mod replay;
mod session;
mod sessions;
mod show;
mod state;
mod terminal;
mod update;

pub(crate) use face::Face;
pub(crate) use negotiate::{Offers, offers};
