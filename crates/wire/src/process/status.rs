//! How a program ended: what the guard writes on the lifeline as its one line.

use std::io;

use serde::{Deserialize, Serialize};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It exited with this code.
    #[serde(rename = "exit")]
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It never ran, or nobody knows how it ended.
    Failed(Failure),
}

/// Why there is no exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}")]
pub struct Failure {
    /// What went wrong.
    #[source]
    pub kind: FailureKind,
    /// The system's error number, where it gave one.
    pub errno: Option<i32>,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// There is no such program.
    #[error("program not found")]
    ProgramNotFound,
    /// The program may not be executed.
    #[error("program not executable")]
    NotPermitted,
    /// The working directory does not exist or can not be entered.
    #[error("working directory not usable")]
    BadCwd,
    /// The program could not be started for another reason.
    #[error("program could not be started")]
    NotStarted,
    /// It could not be killed, such as one that runs as another user.
    #[error("program could not be killed")]
    Unkillable,
    /// The guard itself was killed: how the program ended, or whether, is unknown.
    #[error("guard lost")]
    GuardLost,
}

impl Failure {
    /// A failure without an error number.
    pub(super) fn new(kind: FailureKind) -> Self {
        Self { kind, errno: None }
    }

    pub(super) fn from_cwd(error: &io::Error) -> Self {
        Self {
            kind: FailureKind::BadCwd,
            errno: error.raw_os_error(),
        }
    }

    pub(super) fn from_spawn(error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => FailureKind::ProgramNotFound,
            io::ErrorKind::PermissionDenied => FailureKind::NotPermitted,
            _ => FailureKind::NotStarted,
        };
        Self {
            kind,
            errno: error.raw_os_error(),
        }
    }

    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self.kind {
            FailureKind::ProgramNotFound => "program_not_found",
            FailureKind::NotPermitted => "program_not_permitted",
            FailureKind::BadCwd => "bad_cwd",
            FailureKind::NotStarted => "program_not_started",
            FailureKind::Unkillable => "program_unkillable",
            FailureKind::GuardLost => "guard_lost",
        }
    }
}
