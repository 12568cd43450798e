//! The least that a binary must do whose agents run commands: become the guard when asked to. The
//! tests of this crate hand it to the script agent.

use std::process::ExitCode;

use sessiond_wire::process::{GUARD_COMMAND, guard_main};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|first| first == GUARD_COMMAND).is_none() {
        return ExitCode::from(2);
    }
    u8::try_from(guard_main(args)).map_or(ExitCode::FAILURE, ExitCode::from)
}
