//! `cargo xtask`: the tasks of this workspace as one program.
//!
//! What it is: the gate that CI and a fresh clone run (`test`), its parts one by one (`tidy`,
//! `peers`, `drives`, `examples`), the proofs of log and core (`faults`), the drives of real agents
//! (`agents`), and the meters (`bench`). What it is not: part of sessiond; nothing here is shipped,
//! and no crate depends on it.
//!
//! # Invariants
//!
//! - `.ci/run` calls `cargo xtask test` and nothing else, so what CI proves a clone can prove.
//! - Progress goes to stderr, results (the bench table, `--json`) to stdout.
//! - Programs of others run with an environment of our making: no keys, no home of the person.
//! - `bench` prints and never asserts; a slow machine fails nothing.
//!
//! ```text
//! cargo xtask tidy
//! cargo xtask test
//! cargo xtask bench start --runs 40 --json
//! ```

mod agents;
mod bench;
mod cli;
mod editors;
mod environment;
mod error;
mod faults;
mod foreign;
mod gate;
mod handshake;
mod memory;
mod mutants;
mod peers;
mod process;
mod program;
mod schemas;
mod tidy;
mod toolchain;
mod workspace;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: [{}] {error}", error.code());
            ExitCode::FAILURE
        }
    }
}
