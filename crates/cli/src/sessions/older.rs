//! `sessiond sessions archive --older`.

use sessiond_engine::Action;
use sessiond_log::{Owner, PutAway, Store, Subject};

use super::decided;
use super::meter::Counter;
use crate::args::Archive;
use crate::failure::Failure;
use crate::named;
use crate::output::{print, print_json};
use crate::setup::Setup;

/// Compresses what opening the session does not read. Nobody else may hold it.
pub(super) fn run(setup: &Setup, archive: &Archive) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let subject: Subject = named::find(setup, &archive.session)?.to_string().parse()?;
    let done = compress(&store, &subject);
    decided::record(&store, Action::Compress, Some(&subject), &done);
    let PutAway {
        segments,
        bytes,
        packed,
    } = done?;
    if archive.format.json {
        return print_json(&serde_json::json!({
            "session": subject.as_ref(), "segments": segments, "bytes": bytes, "packed": packed,
        }));
    }
    if segments == 0 {
        return print(&format!("{subject} has nothing older to compress\n"));
    }
    print(&format!(
        "{subject}: {segments} segments compressed, {bytes} bytes to {packed}\n"
    ))
}

fn compress(store: &Store, subject: &Subject) -> Result<PutAway, Failure> {
    let mut lease = store.claim(subject, &Owner::current())?;
    let mut counter = Counter::new("compressed");
    let progress = &mut |done, total| counter.segments(done, total);
    Ok(lease.put_older_away(progress)?)
}
