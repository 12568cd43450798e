//! The sessiond-claude command: what the agent SDKs start in place of the Claude CLI.

use sessiond_wire::process::{GUARD_COMMAND, guard_main};

fn main() {
    // First of all: a guard is this binary too, and must stay small and quiet.
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|first| first == GUARD_COMMAND).is_some() {
        std::process::exit(guard_main(args));
    }
    std::process::exit(sessiond_cli::run_claude());
}
