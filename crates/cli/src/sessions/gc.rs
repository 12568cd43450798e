//! `sessiond sessions gc`.

use std::time::Duration;

use sessiond_engine::{Action, Decision};
use sessiond_log::{Owner, Store, Subject, Sweep, Swept};

use super::decided;
use super::meter::Counter;
use crate::args::Gc;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::Setup;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sweeps the store, or says what a sweep would take.
pub(super) fn run(setup: &Setup, gc: &Gc) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let sweep = match gc.dry_run {
        true => Sweep::DryRun,
        false => Sweep::Remove,
    };
    let swept = self::sweep(&store, sweep, before(gc.trash_days))?;
    let ids =
        |subjects: &[Subject]| -> Vec<String> { subjects.iter().map(Subject::to_string).collect() };
    let (busy, damaged) = (ids(&swept.busy), ids(&swept.damaged));
    if gc.format.json {
        return print_json(&serde_json::json!({
            "dry_run": gc.dry_run,
            "blobs": swept.blobs,
            "leftovers": swept.leftovers,
            "trashed": swept.trashed,
            "bytes": swept.bytes,
            "busy": busy,
            "damaged": damaged,
        }));
    }
    let verb = match sweep {
        Sweep::DryRun => "would remove",
        Sweep::Remove => "removed",
    };
    let (blobs, leftovers, trashed) = (swept.blobs, swept.leftovers, swept.trashed);
    let bytes = swept.bytes;
    print(&format!(
        "{verb} {blobs} blobs, {leftovers} leftovers, {trashed} sessions in the trash: \
         {bytes} bytes\n"
    ))?;
    let skipped = busy
        .iter()
        .map(|id| format!("{id} is in use; passed over\n"));
    let kept = damaged
        .iter()
        .map(|id| format!("{id} is damaged; its blobs stay\n"));
    skipped.chain(kept).try_for_each(|line| print(&line))
}

/// Sweeps, and records that it did, with the sessions that it was refused (LOG-19).
fn sweep(store: &Store, sweep: Sweep, trash_before: u64) -> Result<Swept, Failure> {
    let mut counter = Counter::new("looked at");
    let progress = &mut |done, total| counter.sessions(done, total);
    let swept = store.gc(sweep, trash_before, &Owner::current(), progress);
    let swept = swept.map_err(Failure::from);
    if sweep == Sweep::Remove {
        let busy = swept.as_ref().map_or(&[][..], |swept| &swept.busy);
        for subject in busy {
            let holder = store.holder(subject).ok().flatten();
            let holder = holder.map(|holder| holder.owner);
            Decision::refused(Some(subject.clone()), Action::Sweep, "busy", holder).write(store);
        }
        decided::record(store, Action::Sweep, None, &swept);
    }
    swept
}

/// The moment, in milliseconds of the Unix epoch, before which what lies in the trash goes.
fn before(days: Option<u32>) -> u64 {
    let Some(days) = days else { return 0 };
    let now = u128::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
    let kept = (DAY * days).as_millis();
    // Of this very millisecond, too.
    u64::try_from((now + 1).saturating_sub(kept)).unwrap_or_default()
}
