//! `sessiond-codex`: Codex's command line, as its SDKs build it.
//!
//! Its `--config` is Codex's; what sessiond itself is told comes from the environment alone.

mod app_server;
mod args;
mod exec;
mod overrides;

use std::io::{self, Write};

use clap::Parser;

use crate::args::{Common, Hosting};
use crate::diagnostics;
use crate::failure::Failure;
use crate::setup::Setup;
use args::{CodexCommand, CodexLine};

/// What the environment says to sessiond.
#[derive(Debug, Parser)]
struct FromEnvironment {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    hosting: Hosting,
}

/// Runs the command that this process was started with and gives its exit code: 1 for whatever
/// fails, 2 for a command line that makes no sense.
///
/// The caller must end the process with it at once: a thread that waits for stdin may be left.
pub fn run_codex() -> i32 {
    let line = match CodexLine::try_parse() {
        Ok(line) => line,
        Err(error) => {
            // Help and version go to stdout, mistakes to stderr; a closed one changes nothing.
            let _nobody_reads = error.print();
            return error.exit_code();
        }
    };
    match dispatch(line) {
        Ok(()) => 0,
        Err(failure) => {
            tracing::error!(code = failure.code(), "the command failed");
            tell(&format!("Error: {failure}"));
            match failure {
                Failure::Usage(_) | Failure::Config { .. } => 2,
                _ => 1,
            }
        }
    }
}

fn dispatch(line: CodexLine) -> Result<(), Failure> {
    let none: [&str; 1] = ["sessiond-codex"];
    let environment =
        FromEnvironment::try_parse_from(none).map_err(|error| Failure::Usage(error.to_string()))?;
    let FromEnvironment { common, hosting } = environment;
    diagnostics::start(common.log_file(), common.verbose)?;
    let setup = Setup::load(&common)?;
    let overrides = overrides::settings(&line.config)?;
    match line.command {
        CodexCommand::Exec(args) => exec::run(&setup, hosting, *args, overrides),
        CodexCommand::AppServer(_) => app_server::run(&setup, hosting, overrides),
    }
}

/// Says something on stderr, in Codex's own words.
fn tell(text: &str) {
    let _nobody_reads = writeln!(io::stderr(), "{text}");
}
