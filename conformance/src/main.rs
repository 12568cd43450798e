//! `sessiond-conformance`: see the crate's documentation.

use std::process::ExitCode;

fn main() -> ExitCode {
    sessiond_conformance::main()
}
