//! Counting states and violations.

use std::time::Instant;

/// Violations after which a test stops: the rule is broken, the rest would tell no more.
const ENOUGH: usize = 20;

/// How much of a test is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// What `cargo test` has time for.
    Short,
    /// Every state.
    Full,
}

impl Form {
    /// As the environment asks.
    pub(crate) fn asked() -> Self {
        match std::env::var("FAULTS").as_deref() {
            Ok("full") => Self::Full,
            _ => Self::Short,
        }
    }

    pub(crate) fn pick<T>(self, short: T, full: T) -> T {
        match self {
            Self::Short => short,
            Self::Full => full,
        }
    }
}

/// What one test has tried so far.
#[derive(Debug)]
pub(crate) struct Tally {
    test: &'static str,
    states: u64,
    violations: Vec<String>,
    start: Instant,
}

impl Tally {
    pub(crate) fn of(test: &'static str) -> Self {
        Self {
            test,
            states: 0,
            violations: Vec::new(),
            start: Instant::now(),
        }
    }

    /// Counts one state and what was found of it. Ends the test when enough was found.
    pub(crate) fn state(&mut self, case: &str, outcome: Result<(), String>) {
        self.states += 1;
        if let Err(violation) = outcome {
            self.violations.push(format!("{case}: {violation}"));
            if self.violations.len() == ENOUGH {
                self.report();
                assert_eq!(ENOUGH, 0, "{}: {:?}", self.test, self.violations.first());
            }
        }
    }

    /// Prints the line of this test.
    fn report(&self) {
        let (test, states, count) = (self.test, self.states, self.violations.len());
        let seconds = self.start.elapsed().as_secs_f64();
        println!("faults: {test} {states} {count} {seconds:.1}");
        for violation in self.violations.iter().take(5) {
            println!("  {violation}");
        }
    }

    /// Prints the line of this test, and fails it when a rule was broken or fewer than `least`
    /// states were tried.
    pub(crate) fn finish(self, least: u64) {
        self.report();
        let (test, states) = (self.test, self.states);
        assert_eq!(
            self.violations.len(),
            0,
            "{test}: {:?}",
            self.violations.first()
        );
        assert!(states >= least, "{test}: only {states} states");
    }
}
