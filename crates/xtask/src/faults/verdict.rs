//! The table that the proofs print, and whether it is good.

use std::fmt;

use crate::error::{Error, Result};

/// One test: what it tried and what it found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) test: String,
    pub(crate) states: u64,
    pub(crate) violations: u64,
    /// How long it took.
    pub(crate) seconds: f64,
}

impl Row {
    /// The row that a line of a test's output holds: `faults: <test> <states> <violations>
    /// <seconds>`, perhaps behind what the harness printed.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once("faults: ")?;
        let mut words = rest.split_whitespace();
        let (test, states, violations) = (words.next()?, words.next()?, words.next()?);
        let seconds = words.next()?;
        Some(Self {
            test: test.to_owned(),
            states: states.parse().ok()?,
            violations: violations.parse().ok()?,
            seconds: seconds.parse().ok()?,
        })
    }
}

/// All rows of a run.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    /// Failures that no row shows: a test that died before it could count.
    pub(crate) failures: Vec<String>,
}

impl Table {
    /// # Errors
    ///
    /// `Faults` when a rule was broken, or nothing was tried.
    pub(crate) fn judge(&self) -> Result<()> {
        let violations: u64 = self.rows.iter().map(|r| r.violations).sum();
        if violations > 0 || !self.failures.is_empty() {
            let failures = self.failures.join(", ");
            let text = format!("{violations} violation(s); failed: [{failures}]");
            return Err(Error::Faults(text));
        }
        if self.rows.is_empty() {
            return Err(Error::Faults("nothing was tried".to_owned()));
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .rows
            .iter()
            .map(|r| r.test.len())
            .max()
            .unwrap_or(0)
            .max("in all".len());
        writeln!(
            f,
            "{:<width$} | states tried | violations | seconds",
            "test"
        )?;
        for Row {
            test,
            states,
            violations,
            seconds,
        } in &self.rows
        {
            writeln!(
                f,
                "{test:<width$} | {states:>12} | {violations:>10} | {seconds:>7.1}"
            )?;
        }
        let states: u64 = self.rows.iter().map(|r| r.states).sum();
        let violations: u64 = self.rows.iter().map(|r| r.violations).sum();
        let seconds: f64 = self.rows.iter().map(|r| r.seconds).sum();
        writeln!(
            f,
            "{:<width$} | {states:>12} | {violations:>10} | {seconds:>7.1}",
            "in all"
        )
    }
}
