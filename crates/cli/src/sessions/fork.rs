//! `sessiond sessions fork`.

use sessiond_protocol::{Accepted, Cursor, Op};

use super::submission;
use crate::args::Fork;
use crate::failure::Failure;
use crate::named;
use crate::output::{print, print_json};
use crate::setup::Setup;
use crate::waist::unexpected;

/// Forks the session and says the new one's id.
pub(super) fn run(setup: &Setup, fork: &Fork) -> Result<(), Failure> {
    let at = fork.at.map(Cursor);
    let parent = named::find(setup, &fork.session)?;
    let Accepted::Session(child) =
        submission::ask(setup, parent, Op::SessionFork { at, id: None })?
    else {
        return Err(unexpected().into());
    };
    let session = child.session;
    if fork.format.json {
        return print_json(&serde_json::json!({ "session": session, "parent": parent }));
    }
    print(&format!("{session} is a fork of {parent}\n"))
}
