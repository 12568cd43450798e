//! Programs that leave nothing behind.
//!
//! Each runs under a guard: this binary again, started as `__guard`, a small supervisor in a
//! session of its own that adopts every orphan below it (subreaper) and holds one end of a socket
//! pair, the lifeline. When the server closes the other end, on purpose or by dying (SIGKILL
//! included), or when the program exits, the guard kills whatever is left of the tree; a child
//! that called setsid or forked twice does not escape. Its last act is one line on the lifeline
//! that says how the program ended.
//!
//! Elsewhere than on Linux there is no subreaper: the guard then kills the program's process
//! group.
//!
//! The binary dispatches to [`guard_main`] before it does anything else:
//!
//! ```no_run
//! use sessiond_wire::process::{GUARD_COMMAND, guard_main};
//!
//! let mut args = std::env::args_os().skip(1).peekable();
//! if args.next_if(|first| first == GUARD_COMMAND).is_some() {
//!     std::process::exit(guard_main(args));
//! }
//! ```

mod agent_command;
mod command;
mod descriptor;
mod guard;
mod paced;
mod status;
mod supervised;
mod tree;

pub use agent_command::AgentCommand;
pub use command::{ErrorOutput, GuardedCommand, Input, Output, SupervisorExe};
pub use guard::guard_main;
pub use paced::Paced;
pub use status::{ExitStatus, Failure, FailureKind};
pub use supervised::{Killer, SpawnError, Supervised};

/// First argument that makes the binary a guard.
pub const GUARD_COMMAND: &str = "__guard";
