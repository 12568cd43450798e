//! Why a command failed, and the exit code that says so (contract.md "Exit codes").

use std::io;

use sessiond_host::HostError;
use sessiond_log::LogError;
use sessiond_protocol::WireError;
use sessiond_wire::stdio::GuardError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The configuration has a mistake.
    #[error("{place}: {problem}")]
    Config {
        /// File, and line where there is one.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The command line, or what it names, makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The engine refused, or a turn failed.
    #[error("{0}")]
    Engine(#[from] WireError),
    /// Stdout could not be taken for the protocol.
    #[error("{0}")]
    Guard(#[from] GuardError),
    /// The operating system refused something this program cannot go on without.
    #[error("{step}: {source}")]
    Os {
        /// What was attempted.
        step: &'static str,
        /// What came of it.
        source: io::Error,
    },
    /// The host, or the sockets, cannot be used.
    #[error("{0}")]
    Host(#[from] HostError),
    /// The log refused.
    #[error("{0}")]
    Log(#[from] LogError),
    /// The store cannot be used.
    #[error("{0}")]
    Store(String),
    /// A command has shown that something is not as it must be, and said so on stdout already.
    #[error("{0}")]
    Found(String),
}

impl Failure {
    /// Wraps what the operating system said about a step.
    pub(crate) fn os(step: &'static str) -> impl FnOnce(io::Error) -> Failure {
        move |source| Failure::Os { step, source }
    }

    /// The stable name of the cause.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Failure::Config { .. } => "config",
            Failure::Usage(_) => "usage",
            Failure::Engine(_) => "engine",
            Failure::Guard(error) => error.code(),
            Failure::Os { .. } => "os",
            Failure::Host(error) => error.code(),
            Failure::Log(error) => error.code(),
            Failure::Store(_) => "storage",
            Failure::Found(_) => "found",
        }
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> i32 {
        match self {
            Failure::Config { .. } | Failure::Usage(_) => 2,
            Failure::Engine(error) => error.code.exit_code(),
            Failure::Log(LogError::Busy { .. } | LogError::Fenced(_)) => 75,
            Failure::Log(LogError::NotFound(_) | LogError::Exists(_)) => 1,
            Failure::Log(_) | Failure::Store(_) => 74,
            Failure::Host(HostError::Running) => 75,
            Failure::Host(_) | Failure::Guard(_) | Failure::Os { .. } | Failure::Found(_) => 1,
        }
    }
}
