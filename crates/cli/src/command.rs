//! From a command line to an exit code.

use clap::Parser;

use crate::args::{Command, CommandLine};
use crate::failure::Failure;
use crate::output::say;
use crate::setup::Setup;
use crate::{
    acp_command, agents, attach_command, demo, diagnostics, doctor, exec, host_command,
    mcp_command, schema, sessions, sqeq_command, transcript_command,
};

/// Runs the command that this process was started with and gives its exit code (contract.md).
///
/// The caller must end the process with it at once: a thread that waits for stdin may be left.
pub fn run() -> i32 {
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => {
            // Help and version go to stdout, mistakes to stderr; a closed one changes nothing.
            let _nobody_reads = error.print();
            return error.exit_code();
        }
    };
    match dispatch(&line) {
        Ok(()) => 0,
        Err(failure) => {
            tracing::error!(code = failure.code(), "the command failed");
            say(&failure.to_string());
            failure.exit_code()
        }
    }
}

fn dispatch(line: &CommandLine) -> Result<(), Failure> {
    let common = &line.common;
    diagnostics::start(common.log_file(), common.verbose)?;
    match &line.command {
        Command::Acp(acp) => acp_command::run(&Setup::load(common)?, *acp),
        Command::Sqeq(hosting) => sqeq_command::run(&Setup::load(common)?, *hosting),
        Command::Attach(attach) => attach_command::run(&Setup::load(common)?, attach),
        Command::Host(args) => host_command::run(&Setup::load(common)?, args),
        Command::Exec(exec) => exec::run(&Setup::load(common)?, exec),
        Command::Sessions(sessions) => sessions::run(&Setup::load(common)?, sessions),
        Command::Transcript(transcript) => {
            transcript_command::run(&Setup::load(common)?, transcript)
        }
        Command::Agents(format) => agents::run(&Setup::load(common)?, *format),
        Command::Doctor(format) => doctor::run(common, *format),
        Command::Demo => demo::run(),
        Command::Mcp(server) => mcp_command::run(server),
        Command::Schema(schema) => schema::run(schema),
    }
}
