//! The guard: what the binary does when it is started as `__guard`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, getppid, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};

use super::descriptor;
use super::status::{ExitStatus, Failure, FailureKind};
use super::tree::Tree;

/// Option: the program's working directory follows.
pub(super) const CWD: &str = "--cwd";
/// Option: the program's stdin comes over the lifeline; otherwise it is `/dev/null`.
pub(super) const STDIN_PASSED: &str = "--stdin-passed";
/// What follows is the program and its arguments.
pub(super) const PROGRAM: &str = "--";

/// The guard could not do its own work (EX_OSERR).
const EXIT_OS: i32 = 71;
/// The guard was started by hand (EX_USAGE).
const EXIT_USAGE: i32 = 64;

/// Runs a program as its guard; `args` are what follows `__guard`. Returns this process's own exit
/// code; how the program ended goes over the lifeline.
pub fn guard_main(args: impl IntoIterator<Item = OsString>) -> i32 {
    let Some(job) = Job::parse(args.into_iter()) else {
        return EXIT_USAGE;
    };
    match job.run() {
        Ok(()) => 0,
        Err(_) => EXIT_OS,
    }
}

struct Job {
    cwd: Option<PathBuf>,
    stdin: StdinSource,
    program: OsString,
    args: Vec<OsString>,
}

enum StdinSource {
    Null,
    Lifeline,
}

/// Why the guard ends the tree.
#[derive(PartialEq, Eq)]
enum End {
    /// The program is done; what it left behind gets no grace.
    Exited,
    /// The server is gone or wants it.
    Told,
}

impl Job {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let (mut cwd, mut stdin) = (None, StdinSource::Null);
        loop {
            let arg = args.next()?;
            if arg == CWD {
                cwd = Some(PathBuf::from(args.next()?));
            } else if arg == STDIN_PASSED {
                stdin = StdinSource::Lifeline;
            } else if arg == PROGRAM {
                let program = args.next()?;
                return Some(Self {
                    cwd,
                    stdin,
                    program,
                    args: args.collect(),
                });
            } else {
                return None;
            }
        }
    }

    fn run(self) -> io::Result<()> {
        let lifeline = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // A guard that is started by a shell would lead its process group already; it is not.
        setsid()?;
        adopt_orphans()?;
        let null = File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let status = runtime.block_on(self.supervise(&lifeline, &null))?;
        // The server may be gone; then nobody asks.
        let mut line = serde_json::to_vec(&status)?;
        line.push(b'\n');
        lifeline.set_nonblocking(false)?;
        let _ = (&lifeline).write_all(&line);
        Ok(())
    }

    async fn supervise(self, lifeline: &UnixStream, null: &File) -> io::Result<ExitStatus> {
        // Before the program starts, so that no exit is missed.
        let exits = signal(SignalKind::child())?;
        let mut ends = Ends::new(lifeline)?;
        let program = match self.start(lifeline) {
            Ok(program) => program,
            Err(failure) => return Ok(ExitStatus::Failed(failure)),
        };
        // The program alone holds its output, so that closing it is seen. Should this fail, its end
        // is seen a little later; what runs must be supervised all the same.
        let _ = dup2_stdout(null);
        let _ = dup2_stderr(null);
        let mut tree = Tree::new(program, exits);
        let end = tokio::select! {
            () = tree.program_exit() => End::Exited,
            () = ends.told() => End::Told,
        };
        if end == End::Told {
            tree.terminate().await;
        }
        Ok(tree.kill().await)
    }

    fn start(self, lifeline: &UnixStream) -> Result<Pid, Failure> {
        if let Some(cwd) = &self.cwd {
            std::env::set_current_dir(cwd).map_err(|error| Failure::from_cwd(&error))?;
        }
        let stdin = match self.stdin {
            StdinSource::Null => Stdio::null(),
            StdinSource::Lifeline => descriptor::receive(lifeline)
                .map(Stdio::from)
                .map_err(|error| Failure::from_spawn(&error))?,
        };
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(stdin).process_group(0);
        let child = command
            .spawn()
            .map_err(|error| Failure::from_spawn(&error))?;
        Pid::from_raw(child.id().cast_signed()).ok_or(Failure::new(FailureKind::NotStarted))
    }
}

/// Everything but the program's exit that ends the tree.
struct Ends {
    lifeline: tokio::net::UnixStream,
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    parent_death: tokio::signal::unix::Signal,
    parent: Option<Pid>,
}

impl Ends {
    fn new(lifeline: &UnixStream) -> io::Result<Self> {
        let copy = lifeline.try_clone()?;
        copy.set_nonblocking(true)?;
        let ends = Self {
            lifeline: tokio::net::UnixStream::from_std(copy)?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            parent_death: signal(SignalKind::user_defined1())?,
            parent: getppid(),
        };
        signal_parent_death()?;
        Ok(ends)
    }

    /// Waits until the tree must end.
    async fn told(&mut self) {
        let mut byte = [0; 1];
        loop {
            tokio::select! {
                // The server says nothing on the lifeline but its end; an error is an end too.
                _ = self.lifeline.read(&mut byte) => return,
                _ = self.hangup.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.parent_death.recv() => {
                    // Also sent when only the thread ends that started us: then the parent stays.
                    if getppid() != self.parent {
                        return;
                    }
                }
            }
        }
    }
}

/// The lifeline tells of the server's death already; this is a second belt for the case that some
/// process has inherited the server's end of it.
#[cfg(target_os = "linux")]
fn signal_parent_death() -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    Ok(set_parent_process_death_signal(Some(Signal::USR1))?)
}

#[cfg(not(target_os = "linux"))]
fn signal_parent_death() -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(
        rustix::process::getpid(),
    ))?)
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}
