//! One thing that tidy has to say.

use std::fmt;

/// A broken rule: where, which, what, and the way out. Sorts by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path relative to the root, with forward slashes.
    pub(crate) path: String,
    /// Line, from 1.
    pub(crate) line: usize,
    /// Short name of the rule.
    pub(crate) rule: &'static str,
    /// What is wrong.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) fix: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            what,
            fix,
        } = self;
        write!(out, "{path}:{line}: [{rule}] {what}; {fix}")
    }
}
