//! Failures that are known: each with its reason, and none that does not come.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::report::Row;
use crate::verdict::Status;

/// A baseline file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    /// By the id of the check.
    #[serde(default)]
    expected: BTreeMap<String, Known>,
}

/// A known failure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    reason: String,
    /// Where it is reported in public, if it is.
    #[serde(default)]
    issue: Option<String>,
}

impl Baseline {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when it is not there, not a baseline, or has an entry without a reason.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let fault = |why: String| Error::Usage(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        let baseline: Self = toml::from_str(&text).map_err(|error| fault(error.to_string()))?;
        let bare = baseline
            .expected
            .iter()
            .find(|(_, known)| known.reason.trim().is_empty());
        match bare {
            Some((id, _)) => Err(fault(format!("{id} has no reason"))),
            None => Ok(baseline),
        }
    }

    /// Marks what was expected, and what was expected and did not come. A check that was not run
    /// is neither.
    pub(crate) fn apply(&self, rows: &mut [Row]) {
        for row in rows {
            let Some(known) = self.expected.get(&row.id) else {
                continue;
            };
            let issue = known.issue.as_ref().map(|issue| format!(" ({issue})"));
            let reason = format!("{}{}", known.reason, issue.unwrap_or_default());
            match row.status {
                Status::Fail | Status::NotTestable | Status::Warn | Status::Observed => {
                    row.status = Status::Expected;
                    row.why = format!("{reason}: {}", row.why);
                }
                Status::Pass | Status::Skip => {
                    row.status = Status::Stale;
                    row.why = format!("expected to fail: {reason}");
                }
                Status::Expected | Status::Stale => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "baseline_tests.rs"]
mod tests;
