//! Which programs of the machine there are, checked before anything is built.

use std::process::Command;

use crate::error::{Error, Result};

/// A program of the machine that the tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The JavaScript runtime of the TypeScript SDK and acpx.
    Node,
    /// Installs their packages.
    Npm,
    /// The interpreter of the Python SDK and of the examples.
    Python,
    /// Shows the order of system calls to the tests of durability.
    Strace,
}

impl Tool {
    /// All of them, in the order they are checked.
    pub(crate) const ALL: [Self; 4] = [Self::Node, Self::Npm, Self::Python, Self::Strace];

    /// Name of the executable on PATH.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Npm => "npm",
            Self::Python => "python3",
            Self::Strace => "strace",
        }
    }

    /// Lowest version that will do: major and minor.
    const fn least(self) -> (u32, u32) {
        match self {
            Self::Node => (20, 0),
            // The npm that comes with Node 20.
            Self::Npm => (9, 0),
            Self::Python => (3, 11),
            // The first that can hold up and fail system calls by name.
            Self::Strace => (5, 0),
        }
    }

    /// What the program says it is, when that is new enough.
    ///
    /// # Errors
    ///
    /// `Toolchain` when it is missing, too old, or says nothing we understand.
    pub(crate) fn check(self) -> Result<String> {
        let (program, (major, minor)) = (self.program(), self.least());
        let advice = format!("install {program} {major}.{minor} or newer and put it on PATH");
        let output = Command::new(program).arg("--version").output();
        let said = match output {
            Ok(output) if output.status.success() => {
                let said = String::from_utf8_lossy(&output.stdout);
                said.lines().next().unwrap_or_default().trim().to_owned()
            }
            _ => {
                return Err(Error::Toolchain(format!(
                    "`{program}` does not run: {advice}"
                )));
            }
        };
        match version(&said) {
            Some(found) if found >= (major, minor) => Ok(said),
            _ => Err(Error::Toolchain(format!("`{program}` is {said}: {advice}"))),
        }
    }
}

/// The first `MAJOR.MINOR` in what a program says about itself.
fn version(said: &str) -> Option<(u32, u32)> {
    let start = said.find(|c: char| c.is_ascii_digit())?;
    let mut parts = said.get(start..)?.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Checks all tools and says what was found.
///
/// # Errors
///
/// As [`Tool::check`].
pub(crate) fn check() -> Result<()> {
    for tool in Tool::ALL {
        eprintln!("{}: {}", tool.program(), tool.check()?);
    }
    Ok(())
}

#[cfg(test)]
#[path = "toolchain_tests.rs"]
mod tests;
