//! `sessiond sessions gc`.

use std::time::Duration;

use sessiond_engine::{Action, Decision};
use sessiond_log::{Owner, Store, Subject, Sweep, Swept};

use super::decided;
use super::meter::Counter;
use super::retention::{self, Expired};
use crate::args::Gc;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::Setup;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sweeps the store and applies what the configuration says of retention, or says what that would
/// take. What goes to the trash now is at the earliest deleted from there by the next one.
pub(super) fn run(setup: &Setup, gc: &Gc) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let kept = setup.config().retention();
    let how = match gc.dry_run {
        true => Sweep::DryRun,
        false => Sweep::Remove,
    };
    let swept = sweep(&store, how, before(gc.trash_days.or(kept.trash_days)))?;
    let expired = match kept.sessions_days {
        Some(days) => retention::run(&store, how, days.get())?,
        None => Expired::default(),
    };
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
            "expired": expired.expired,
            "spared": expired.spared,
        }));
    }
    let (verb, moved) = match how {
        Sweep::DryRun => ("would remove", "would go to the trash"),
        Sweep::Remove => ("removed", "is in the trash now"),
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
    let damaged = damaged
        .iter()
        .map(|id| format!("{id} is damaged; its blobs stay\n"));
    let old = expired.expired.iter();
    let old = old.map(|id| format!("{id} was not used for too long; it {moved}\n"));
    let spared = expired.spared.iter().map(|spared| {
        let (id, reason) = (&spared.session, spared.reason);
        format!("{id} was not used for too long; it stays: {reason}\n")
    });
    let mut lines = skipped.chain(damaged).chain(old).chain(spared);
    lines.try_for_each(|line| print(&line))
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
    let kept = u64::try_from((DAY * days).as_millis()).unwrap_or(u64::MAX);
    // Of this very millisecond, too.
    (now() + 1).saturating_sub(kept)
}

/// Milliseconds of the Unix epoch; a clock before that counts as its beginning.
pub(super) fn now() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}
