//! `sessiond sessions repair`.

use sessiond_engine::Action;
use sessiond_log::{Owner, Report, Store, Subject};

use super::decided;
use super::health::Findings;
use super::meter::Counter;
use crate::args::One;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::Setup;

/// Takes note of all that is broken and says what the log is like then. Nobody else may hold it.
pub(super) fn run(setup: &Setup, one: &One) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let subject: Subject = one.session.to_string().parse()?;
    let repaired = repair(&store, &subject);
    decided::record(&store, Action::Repair, Some(&subject), &repaired);
    let findings = Findings::of(store.root(), &repaired?, None);
    if one.format.json {
        return print_json(&findings);
    }
    print(&findings.to_string())
}

fn repair(store: &Store, subject: &Subject) -> Result<Report, Failure> {
    let mut lease = store.claim(subject, &Owner::current())?;
    let now = jiff::Timestamp::now();
    let mut counter = Counter::new("read");
    let report = lease.repair(&format!("{now:.3}"), &mut |done| counter.records(done))?;
    Ok(report)
}
