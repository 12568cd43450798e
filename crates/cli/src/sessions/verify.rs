//! `sessiond sessions verify`.

use std::path::Path;

use serde::Serialize;
use sessiond_log::{LogError, Store, Subject};

use super::health::Findings;
use super::meter::Counter;
use crate::args::Verify;
use crate::failure::Failure;
use crate::named;
use crate::output::{print, print_json, say};
use crate::setup::Setup;

/// What could not be read.
#[derive(Debug, Serialize)]
struct Unreadable {
    session: String,
    error: String,
}

/// Looks at the logs and says what is wrong with them; anything found is a failure.
pub(super) fn run(setup: &Setup, verify: &Verify) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let (mut looked, mut unreadable) = (Vec::new(), Vec::new());
    let subjects = subjects(setup, &store, verify)?;
    let (mut counter, total) = (Counter::new("looked at"), subjects.len());
    for (done, subject) in subjects.into_iter().enumerate() {
        counter.sessions(done, total);
        match Findings::look(&store, &subject) {
            Ok(findings) => {
                if !verify.format.json {
                    counter.clear();
                    print(&findings.to_string())?;
                }
                looked.push(findings);
            }
            // Its creation was cut off before its first record, or it went while we looked.
            Err(LogError::NotFound(_)) if verify.sessions.is_empty() => {}
            Err(error @ LogError::NotFound(_)) => return Err(error.into()),
            Err(error) => {
                counter.clear();
                let (session, error) = (subject.to_string(), error.to_string());
                say(&format!("{session} cannot be read: {error}"));
                unreadable.push(Unreadable { session, error });
            }
        }
    }
    drop(counter);
    let aside = match verify.sessions.is_empty() {
        true => store.aside()?,
        false => Vec::new(),
    };
    if verify.format.json {
        print_json(&serde_json::json!({
            "sessions": looked, "unreadable": unreadable, "aside": aside,
        }))?;
    } else {
        aside.iter().try_for_each(|path| print(&remains(path)))?;
    }
    verdict(&looked, unreadable.len())
}

/// What is told of a directory that was set aside (CKPT-6): no failure, the session that was made
/// under its id since then lacks nothing.
fn remains(path: &Path) -> String {
    format!(
        "{}: remains of a session that read as empty, set aside; nothing removes them\n",
        path.display()
    )
}

fn subjects(setup: &Setup, store: &Store, verify: &Verify) -> Result<Vec<Subject>, Failure> {
    if verify.sessions.is_empty() {
        let mut subjects = store.subjects()?;
        subjects.extend(store.archived()?);
        return Ok(subjects);
    }
    let subject = |name| Ok(named::find(setup, name)?.to_string().parse()?);
    verify.sessions.iter().map(subject).collect()
}

fn verdict(looked: &[Findings], unreadable: usize) -> Result<(), Failure> {
    let newer = looked.iter().filter(|findings| findings.is_newer()).count();
    let bad = looked.iter().filter(|findings| findings.is_bad()).count();
    match (unreadable + newer, bad) {
        (0, 0) => Ok(()),
        (0, bad) => Err(Failure::Found(format!("{bad} sessions have damage"))),
        (lost, _) => Err(Failure::Store(format!("{lost} sessions cannot be read"))),
    }
}
