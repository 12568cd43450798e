//! `faults`: what log and session core are put through, counted: crash states, failed operations,
//! broken bytes, interleavings.
//!
//! Two tasks in one: the suite with its counts, and the mutation tables (does every sync, does
//! every rule matter?).
//! Each prints a table on stdout and fails on any violation.

mod adapters;
mod asleep;
mod fuzz;
mod mutants;
mod mutations;
mod rules;
mod suite;
mod verdict;

#[cfg(test)]
mod tests;

use std::io::Write as _;

use clap::Args;

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Which of the proofs are run.
#[derive(Debug, Args)]
pub(crate) struct Faults {
    /// The form that `cargo test` runs: a part of the states of each test
    #[arg(long, conflicts_with = "mutations")]
    short: bool,
    /// Take one sync at a time out of a copy of the log, and expect its tests to fail
    #[arg(long)]
    mutations: bool,
    /// Break one rule of the session core at a time in a copy, and expect its tests to fail
    #[arg(long, conflicts_with_all = ["mutations", "short"])]
    core: bool,
    /// Break one promise of an adapter at a time in a copy, and expect its tests to fail
    #[arg(long, conflicts_with_all = ["core", "mutations", "short"])]
    adapters: bool,
    /// Of the mutations only those of these names
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Runs the proofs and prints their table on stdout.
///
/// # Errors
///
/// `Faults` when a rule was broken, or a sync or a rule was not missed; else what kept the proofs from running.
pub(crate) fn run(workspace: &Workspace, options: &Faults) -> Result<()> {
    let table = if options.mutations {
        mutants::of_log(workspace, &options.only)?
    } else if options.core {
        mutants::of_core(workspace, &options.only)?
    } else if options.adapters {
        asleep::run(workspace, &options.only)?
    } else {
        let form = suite::Form::of(options.short);
        let mut table = suite::run(workspace, form)?;
        fuzz::run(workspace, form, &mut table)?;
        table
    };
    std::io::stdout()
        .write_all(table.to_string().as_bytes())
        .map_err(Error::io("writing the table"))?;
    table.judge()
}
