//! What to run, and what it is connected to.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// The standard input of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that we write.
    Piped,
}

/// The standard output of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that we read.
    Piped,
}

/// The standard error of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorOutput {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe of its own that we read.
    Piped,
    /// Where its standard output goes, in the order written.
    Merged,
    /// Our own standard error.
    Inherited,
}

/// A program to be run under a guard. All its standard streams are explicit (WIRE-11).
#[derive(Debug, Clone)]
pub struct GuardedCommand {
    /// The program: a path, or a name looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory; ours if none.
    pub cwd: Option<PathBuf>,
    /// Variables beside, or instead of, those it inherits from us.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that it does not inherit.
    pub env_remove: Vec<OsString>,
    /// Its standard input.
    pub stdin: Input,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: ErrorOutput,
    /// The binary that becomes the guard.
    pub exe: SupervisorExe,
}

impl GuardedCommand {
    /// `program` without arguments, in our directory and environment, connected to nothing.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            env_remove: Vec::new(),
            stdin: Input::Null,
            stdout: Output::Null,
            stderr: ErrorOutput::Null,
            exe: SupervisorExe::default(),
        }
    }
}

/// The binary that becomes the guard: it hands `__guard` to [`guard_main`](super::guard_main).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SupervisorExe(Option<PathBuf>);

impl SupervisorExe {
    /// Another binary than the running one.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Some(path.into()))
    }

    /// Where the binary is. On Linux the running one is found even after an upgrade has replaced
    /// its file.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        if let Some(path) = &self.0 {
            return Ok(path.clone());
        }
        let path = std::env::current_exe()?;
        if cfg!(target_os = "linux") && !path.exists() {
            return Ok("/proc/self/exe".into());
        }
        Ok(path)
    }
}
