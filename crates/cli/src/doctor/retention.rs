//! How long sessions are kept (LOG-12).

use super::finding::Finding;
use crate::args::Common;
use crate::config::Retention;
use crate::setup::Setup;

/// What the configuration says of it; nothing where it has a mistake, which is another finding.
pub(super) fn finding(common: &Common) -> Option<Finding> {
    let setup = Setup::load(common).ok()?;
    Some(Finding::good("retention", text(setup.config().retention())))
}

fn text(kept: Retention) -> String {
    let sessions = kept
        .sessions_days
        .map(|days| format!("sessions that were not used for {days} days go to the trash"));
    let trash = kept
        .trash_days
        .map(|days| format!("what was in the trash for {days} days is deleted"));
    let parts: Vec<String> = sessions.into_iter().chain(trash).collect();
    if parts.is_empty() {
        return "off: nothing goes because of its age".to_owned();
    }
    format!("{}; by `sessiond sessions gc` alone", parts.join(", "))
}
