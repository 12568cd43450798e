//! The server's side of a guarded program.

use std::any::Any;
use std::fmt;
use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::command::{ErrorOutput, GuardedCommand, Input, Output};
use super::status::{ExitStatus, Failure, FailureKind};
use super::{GUARD_COMMAND, descriptor, guard};

/// The guard could not be started; the program was not run.
///
/// That the program itself can not be run is no such error but [`ExitStatus::Failed`].
#[derive(Debug, thiserror::Error)]
#[error("the guard process could not be started")]
pub struct SpawnError {
    /// What the system said.
    #[from]
    source: io::Error,
}

impl SpawnError {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        "guard_not_started"
    }
}

/// A program under its guard. Dropping it kills the program and its whole tree.
///
/// Must be made and used inside a tokio runtime with I/O enabled.
#[derive(Debug)]
pub struct Supervised {
    /// The program's standard input, if piped.
    pub stdin: Option<ChildStdin>,
    /// The program's standard output, if piped; with its standard error, if merged.
    pub stdout: Option<ChildStdout>,
    /// The program's standard error, if it has a pipe of its own.
    pub stderr: Option<ChildStderr>,
    /// None only once it is dropped.
    guard: Option<Child>,
    lifeline: tokio::net::UnixStream,
    killer: Killer,
    reply: Vec<u8>,
    kept: Kept,
}

/// What is dropped when nothing of the tree is left.
#[derive(Default)]
struct Kept(Vec<Box<dyn Any + Send>>);

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.0.len()).finish()
    }
}

/// Kills a program and its tree from elsewhere than where it is waited for.
#[derive(Debug, Clone)]
pub struct Killer {
    lifeline: Arc<UnixStream>,
}

impl Killer {
    /// Tells the guard to end the tree: SIGTERM, a short grace, SIGKILL. Does not wait; calling it
    /// again, or after the end, changes nothing.
    pub fn kill(&self) {
        // An error says that the guard is gone already.
        let _ = self.lifeline.shutdown(Shutdown::Write);
    }
}

impl Supervised {
    /// Starts `command` under a guard. What became of it, [`wait`](Self::wait) tells.
    ///
    /// # Errors
    /// When the guard could not be started.
    pub fn spawn(command: GuardedCommand) -> Result<Self, SpawnError> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut guard = Command::new(command.exe.path()?);
        guard.arg(GUARD_COMMAND).stdin(OwnedFd::from(theirs));
        if let Some(cwd) = &command.cwd {
            guard.arg(guard::CWD).arg(cwd);
        }
        let stdin = match command.stdin {
            Input::Null => None,
            Input::Piped => {
                let (read, write) = io::pipe()?;
                descriptor::send(&ours, &read)?;
                guard.arg(guard::STDIN_PASSED);
                Some(ChildStdin::from_std(OwnedFd::from(write).into())?)
            }
        };
        let (stdout, stderr) = connect_outputs(&mut guard, &command)?;
        guard
            .arg(guard::PROGRAM)
            .arg(&command.program)
            .args(&command.args);
        guard.envs(command.env.iter().map(|(name, value)| (name, value)));
        command.env_remove.iter().for_each(|name| {
            guard.env_remove(name);
        });
        let child = guard.spawn()?;
        let killer = Killer {
            lifeline: Arc::new(ours.try_clone()?),
        };
        ours.set_nonblocking(true)?;
        let lifeline = tokio::net::UnixStream::from_std(ours)?;
        Ok(Self {
            stdin,
            stdout,
            stderr,
            guard: Some(child),
            lifeline,
            killer,
            reply: Vec::new(),
            kept: Kept::default(),
        })
    }

    /// A handle that can kill the program while something else waits for it.
    pub fn killer(&self) -> Killer {
        self.killer.clone()
    }

    /// Keeps something until the program has ended and nothing of its tree is left, also where this
    /// is dropped before.
    pub fn keep(&mut self, thing: impl Send + 'static) {
        self.kept.0.push(Box::new(thing));
    }

    /// Waits until the program has ended and nothing of its tree is left; closes its stdin first,
    /// if that was not taken. A wait that is dropped loses nothing.
    pub async fn wait(&mut self) -> ExitStatus {
        drop(self.stdin.take());
        loop {
            match self.lifeline.read_buf(&mut self.reply).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        // The guard has closed the lifeline, so it is gone or about to be. Its own exit code says
        // no more than the missing line does.
        if let Some(guard) = &mut self.guard {
            let _ = guard.wait().await;
        }
        serde_json::from_slice(&self.reply)
            .unwrap_or(ExitStatus::Failed(Failure::new(FailureKind::GuardLost)))
    }

    /// Kills the program and its tree, and waits for it.
    pub async fn kill(&mut self) -> ExitStatus {
        self.killer.kill();
        self.wait().await
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // Not left to the closing of the descriptor: a killer may still hold a copy of it.
        self.killer.kill();
        let (Some(mut guard), kept) = (self.guard.take(), std::mem::take(&mut self.kept)) else {
            return;
        };
        let running = matches!(guard.try_wait(), Ok(None));
        // Without a runtime nobody is left to whom it matters.
        if running && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // The guard exits when its tree is gone, or when it cannot be killed (KILL_LIMIT).
                let _ = guard.wait().await;
                drop(kept);
            });
        }
    }
}

/// Connects the guard's outputs, which the program inherits, and returns our ends.
fn connect_outputs(
    guard: &mut Command,
    command: &GuardedCommand,
) -> io::Result<(Option<ChildStdout>, Option<ChildStderr>)> {
    let (out_sink, stdout) = match command.stdout {
        Output::Null => (null()?, None),
        Output::Piped => {
            let (read, write) = io::pipe()?;
            (
                write.into(),
                Some(ChildStdout::from_std(OwnedFd::from(read).into())?),
            )
        }
    };
    let (error_sink, stderr) = match command.stderr {
        ErrorOutput::Null => (Stdio::null(), None),
        ErrorOutput::Merged => (out_sink.try_clone()?.into(), None),
        ErrorOutput::Inherited => (Stdio::inherit(), None),
        ErrorOutput::Piped => {
            let (read, write) = io::pipe()?;
            (
                write.into(),
                Some(ChildStderr::from_std(OwnedFd::from(read).into())?),
            )
        }
    };
    guard.stdout(out_sink).stderr(error_sink);
    Ok((stdout, stderr))
}

fn null() -> io::Result<OwnedFd> {
    Ok(std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?
        .into())
}
