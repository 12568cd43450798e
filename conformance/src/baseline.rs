//! Failures that are known: each with its reason, and none that does not come.

mod renew;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::report::Row;
use crate::suite::Suite;
use crate::verdict::Status;

pub(crate) use renew::{Renewed, renew};

/// A baseline file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    /// The target that it is about; all of a run when absent.
    #[serde(default)]
    target: Option<String>,
    /// By the id of the check.
    #[serde(default)]
    expected: BTreeMap<String, Known>,
    /// Several with one reason.
    #[serde(default)]
    groups: Vec<Group>,
}

/// Known failures with one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    /// Their ids.
    checks: Vec<String>,
    reason: String,
    #[serde(default)]
    issue: Option<String>,
    #[serde(default)]
    when: When,
}

/// How reliably a known failure comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum When {
    /// One that does not come is stale.
    #[default]
    Always,
    /// It hangs on the time of day or on who is faster: one that does not come is no news.
    Sometimes,
}

/// A known failure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    reason: String,
    /// Where it is reported in public, if it is.
    #[serde(default)]
    issue: Option<String>,
    #[serde(default)]
    when: When,
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
        let mut baseline: Self = toml::from_str(&text).map_err(|error| fault(error.to_string()))?;
        if let Some(twice) = baseline.spread() {
            return Err(fault(format!("{twice} stands twice")));
        }
        let bare = baseline
            .expected
            .iter()
            .find(|(_, known)| known.reason.trim().is_empty());
        match bare {
            Some((id, _)) => Err(fault(format!("{id} has no reason"))),
            None => Ok(baseline),
        }
    }

    /// Makes one entry of each check of a group; an id that stands twice.
    fn spread(&mut self) -> Option<String> {
        for group in std::mem::take(&mut self.groups) {
            for id in group.checks {
                let known = Known {
                    reason: group.reason.clone(),
                    issue: group.issue.clone(),
                    when: group.when,
                };
                if self.expected.insert(id.clone(), known).is_some() {
                    return Some(id);
                }
            }
        }
        None
    }

    /// An id of this suite that the suite does not have: it would never be stale.
    pub(crate) fn unknown(&self, name: &str, suite: &Suite) -> Option<&str> {
        let (known, prefix) = (suite.ids(), format!("{name}."));
        let mut named = self.expected.keys().map(String::as_str);
        named.find(|id| id.starts_with(&prefix) && !known.contains(*id))
    }

    /// Marks what was expected of a target, and what was expected and did not come. A check that was not
    /// run is neither.
    pub(crate) fn apply(&self, target: &str, rows: &mut [Row]) {
        if self.target.as_deref().is_some_and(|of| of != target) {
            return;
        }
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
                Status::Pass if known.when == When::Sometimes => {}
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
#[path = "baseline/tests.rs"]
mod tests;
