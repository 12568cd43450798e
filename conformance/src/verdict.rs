//! What a check says of a target.

use serde::Serialize;

use crate::judge::Finding;
use crate::requirement::Keyword;

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Pass,
    /// The target does not offer it, or its profile does not know how to ask for it.
    Skip,
    /// A matter of choice or of note: the target does otherwise.
    Observed,
    /// A `should` that is not kept.
    Warn,
    /// What must come before did not: it counts as a failure.
    NotTestable,
    Fail,
    /// A failure that the baseline expects.
    Expected,
    /// The baseline expects a failure that did not come: it is stale.
    Stale,
}

impl Status {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::Observed => "observed",
            Self::Warn => "warn",
            Self::NotTestable => "not-testable",
            Self::Fail => "fail",
            Self::Expected => "expected",
            Self::Stale => "stale",
        }
    }

    /// All of them, in the order of reports.
    pub(crate) const ALL: [Self; 8] = [
        Self::Fail,
        Self::NotTestable,
        Self::Stale,
        Self::Warn,
        Self::Expected,
        Self::Observed,
        Self::Skip,
        Self::Pass,
    ];

    /// Whether it makes the target non-conformant.
    pub(crate) fn condemns(self) -> bool {
        matches!(self, Self::Fail | Self::NotTestable | Self::Stale)
    }
}

/// How much a `should` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rigour {
    Usual,
    /// As much as a `must`.
    Strict,
}

/// The status of a finding, with what was seen.
pub(crate) fn status(finding: Finding, keyword: Keyword, rigour: Rigour) -> (Status, String) {
    let kept = |status: Status, why: String| match (keyword, rigour) {
        (Keyword::Must, _) | (Keyword::Should, Rigour::Strict) => (status, why),
        (Keyword::Should, Rigour::Usual) => (Status::Warn, why),
        (Keyword::May | Keyword::Info, _) => (Status::Observed, why),
    };
    match finding {
        Finding::Holds => (Status::Pass, String::new()),
        Finding::Skipped(why) => (Status::Skip, why),
        Finding::Broken(why) => kept(Status::Fail, why),
        Finding::Unreached(why) => kept(Status::NotTestable, why),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
