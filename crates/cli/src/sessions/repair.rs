//! `sessiond sessions repair`.

use sessiond_log::{Owner, Store, Subject};

use super::health::Findings;
use crate::args::One;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::Setup;

/// Takes note of all that is broken and says what the log is like then. Nobody else may hold it.
pub(super) fn run(setup: &Setup, one: &One) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let subject: Subject = one.session.to_string().parse()?;
    let mut lease = store.claim(&subject, &Owner::current())?;
    let now = jiff::Timestamp::now();
    let report = lease.repair(&format!("{now:.3}"))?;
    drop(lease);
    let findings = Findings::of(store.root(), &report, None);
    if one.format.json {
        return print_json(&findings);
    }
    print(&findings.to_string())
}
