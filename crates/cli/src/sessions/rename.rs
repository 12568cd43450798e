//! `sessiond sessions rename`.

use sessiond_protocol::{Accepted, Op};

use super::submission;
use crate::args::Rename;
use crate::failure::Failure;
use crate::named;
use crate::output::{print, print_json};
use crate::setup::Setup;
use crate::waist::unexpected;

/// Gives the session its title.
pub(super) fn run(setup: &Setup, rename: &Rename) -> Result<(), Failure> {
    let (session, title) = (named::find(setup, &rename.session)?, rename.title.clone());
    let found = (session, rename.session.found_by());
    let Accepted::Done {} = submission::submit(setup, found, Op::SessionRename { title })? else {
        return Err(unexpected().into());
    };
    if rename.format.json {
        return print_json(&serde_json::json!({ "session": session, "renamed": true }));
    }
    print(&format!("{session} renamed\n"))
}
