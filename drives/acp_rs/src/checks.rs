//! The checks of a drive: one line each, a closing line, and the exit code that follows.

use std::fmt::Debug;
use std::io::Write as _;
use std::process::ExitCode;

/// Counts what held and what did not.
#[derive(Default)]
pub(crate) struct Checks {
    passed: usize,
    failed: usize,
}

impl Checks {
    /// One check; `seen` is shown when it does not hold.
    pub(crate) fn that(&mut self, name: &str, holds: bool, seen: impl Debug) {
        if holds {
            self.passed += 1;
            say(&format!("ok   {name}"));
        } else {
            self.failed += 1;
            say(&format!("FAIL {name}: {seen:?}"));
        }
    }

    /// Prints the closing line.
    pub(crate) fn close(self) -> ExitCode {
        say(&format!("{} passed, {} failed", self.passed, self.failed));
        if self.failed == 0 && self.passed > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    // Nobody is left to tell when this fails.
    let _ = writeln!(std::io::stdout(), "{line}");
}
