//! `sessiond sessions import`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use sessiond_engine::Action;
use sessiond_log::{Report, Store, Subject};
use sessiond_protocol::{FoundBy, Op, SessionId};

use super::decided;
use super::health::Findings;
use super::meter::Meter;
use super::submission;
use crate::args::{Import, Remap};
use crate::failure::Failure;
use crate::output::{print, print_json, say};
use crate::setup::Setup;
use crate::transcript_command::{Wishes, is_transcript, take_in};

/// Takes in the file and says how sound the session is.
pub(super) fn run(setup: &Setup, import: &Import) -> Result<(), Failure> {
    if is_transcript(&import.file)? {
        let wishes = Wishes {
            session: import.session,
            cwd: None,
            remap: import.remap.clone(),
        };
        return take_in(setup, &import.file, &wishes)?.print(import.format, None);
    }
    let store = Store::open_real(setup.store())?;
    let new_id = import.session.map(|id| id.to_string().parse::<Subject>());
    let new_id = new_id.transpose()?;
    let report = from_file(&store, &import.file, new_id.as_ref());
    // Whose session a file that was refused holds is not known.
    let subject = report
        .as_ref()
        .map_or(new_id.as_ref(), |r| Some(&r.subject));
    decided::record(&store, Action::Import, subject, &report);
    let report = report?;
    relocate(setup, &report.subject, &import.remap)?;
    let findings = Findings::of(store.root(), &report, None);
    if import.format.json {
        return print_json(&findings);
    }
    print(&findings.to_string())
}

/// Takes in an export, under another id where one is given.
pub(crate) fn from_file(
    store: &Store,
    file: &Path,
    new_id: Option<&Subject>,
) -> Result<Report, Failure> {
    let file = File::open(file).map_err(|error| {
        let path = file.display();
        Failure::Usage(format!("{path} cannot be read: {error}"))
    })?;
    let mut input = Meter::new(BufReader::new(file), "imported");
    let report = store.import(&mut input, new_id);
    input.finish();
    Ok(report?)
}

/// Records where the session's directory is here (contract.md "paths remapped on request").
fn relocate(setup: &Setup, subject: &Subject, remaps: &[Remap]) -> Result<(), Failure> {
    if remaps.is_empty() {
        return Ok(());
    }
    let session: SessionId = subject
        .as_ref()
        .parse()
        .map_err(|error| Failure::Usage(format!("{subject} is no session: {error}")))?;
    submission::submit_by(setup, (session, FoundBy::Id), |view| {
        let cwd = remaps.iter().find_map(|remap| remapped(remap, &view.cwd));
        if cwd.is_none() {
            say(&format!("no --remap fits the directory {}", view.cwd));
        }
        cwd.map(|cwd| Op::SessionRelocate { cwd })
    })
    .map(|_| ())
}

/// Where `cwd` is here, if this says so; names are compared whole.
pub(crate) fn remapped(remap: &Remap, cwd: &str) -> Option<String> {
    let rest = cwd.strip_prefix(&remap.old)?;
    let fits = rest.is_empty() || rest.starts_with('/');
    fits.then(|| format!("{}{rest}", remap.new)).map(|path| {
        if path.is_empty() {
            "/".to_owned()
        } else {
            path
        }
    })
}
