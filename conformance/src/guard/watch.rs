//! The tracer of a watched target: says of each call that makes something durable what it is about, and
//! lets it go on when the runner has noted it.
//!
//! A filter of the kernel's stops the target's tree at these calls and at no others. A call is told at its
//! entry: it has not returned yet, and may still fail. Not seen are writes that are durable each by itself
//! (`RWF_DSYNC`, `openat2`); that a ring for such calls was made (`io_uring_setup`) is told as a call.
//!
//! All of it is one thread's: the kernel knows a tracer by its thread, and a filter is its thread's and
//! what that thread starts.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{Receiver, SyncSender};

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal as Sent;
use nix::unistd::Pid as Traced;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait, waitpid};

use super::{RESCAN, ended, say};

mod call;
mod filter;

/// First argument by which this binary is the stage that becomes the target once it is traced.
pub(crate) const STAGE: &str = "__stage";
/// Waits for threads as for processes.
const WALL: u32 = 0x4000_0000;
/// What the kernel calls a stop of the group under `PTRACE_SEIZE`.
const EVENT_STOP: i32 = 128;

/// Stops until it is traced, then becomes the command line.
pub(crate) fn stage(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let Some(program) = arguments.next() else {
        return ExitCode::from(2);
    };
    if kill_process(rustix::process::getpid(), Signal::STOP).is_ok() {
        let error = Command::new(&program).args(arguments).exec();
        eprintln!("{}: {error}", program.display());
    }
    ExitCode::from(127)
}

/// Starts the command below a tracer, says its process, and stays its tracer until there is nothing left.
/// An error says that nobody may watch here; nothing was started then.
pub(super) fn trace(
    mut command: Command,
    started: &SyncSender<io::Result<Pid>>,
    noted: Receiver<()>,
    socket: UnixStream,
) {
    match start(&mut command) {
        Ok(root) => {
            if started.send(Ok(root)).is_ok() {
                let mut tracer = Tracer {
                    root,
                    noted,
                    socket,
                    held: Vec::new(),
                };
                tracer.serve();
            }
        }
        Err(error) => {
            let _ = started.send(Err(error));
        }
    }
}

fn start(command: &mut Command) -> io::Result<Pid> {
    filter::install().map_err(io::Error::other)?;
    let root = Pid::from_child(&command.spawn()?);
    // Whoever ends before it stops is no stage.
    match waitpid(Some(root), WaitOptions::UNTRACED)? {
        Some((_, status)) if status.stopped() => {}
        _ => return Err(io::Error::other("the stage ended")),
    }
    let options = Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    let seized = ptrace::seize(traced(root), options);
    if let Err(error) = seized {
        let _ = kill_process(root, Signal::KILL);
        return Err(error.into());
    }
    kill_process(root, Signal::CONT)?;
    Ok(root)
}

fn traced(pid: Pid) -> Traced {
    Traced::from_raw(pid.as_raw_nonzero().get())
}

/// What holds the target's tree.
struct Tracer {
    root: Pid,
    /// One for each sync that the runner has noted; its end is the runner's.
    noted: Receiver<()>,
    socket: UnixStream,
    /// Threads that are stopped with their group.
    held: Vec<Pid>,
}

impl Tracer {
    /// Until the guard itself ends.
    fn serve(&mut self) {
        let every = WaitOptions::from_bits_retain(WALL);
        loop {
            // The kernel tells a tracer of the end of a stop only in a way that takes unsafe code; so it is looked for.
            let options = if self.held.is_empty() {
                every
            } else {
                every | WaitOptions::NOHANG
            };
            match wait(options) {
                Ok(Some((pid, status))) => self.take(pid, status),
                Ok(None) => {
                    self.release();
                    std::thread::sleep(RESCAN);
                }
                Err(Errno::CHILD) => std::thread::sleep(RESCAN),
                Err(_) => {}
            }
        }
    }

    fn take(&mut self, pid: Pid, status: WaitStatus) {
        let Some(signal) = status.stopping_signal() else {
            self.held.retain(|held| *held != pid);
            if pid == self.root {
                ended(status, &self.socket);
            }
            return;
        };
        // The signal of a stop stands in the second byte, the event above it.
        match status.as_raw() >> 16 {
            libc::PTRACE_EVENT_SECCOMP => {
                self.tell(pid);
                go_on(pid, None);
            }
            EVENT_STOP => {
                let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
                if stops.contains(&signal) {
                    self.held.push(pid);
                } else {
                    go_on(pid, None);
                }
            }
            0 => match Sent::try_from(signal) {
                Ok(signal) => go_on(pid, Some(signal)),
                // Of these there is no name by which they could be handed on.
                Err(_) => {
                    say(
                        &self.socket,
                        &format!("unwatched signal {signal} is lost on a traced target"),
                    );
                    go_on(pid, None);
                }
            },
            _ => go_on(pid, None),
        }
    }

    /// Says which call this is, and waits until that is noted, so that the recording has it before
    /// whatever the target does after it.
    fn tell(&self, pid: Pid) {
        let Some((name, path)) = call::of(pid) else {
            // Who was killed meanwhile has no event; whoever has one hides.
            if ptrace::getevent(traced(pid)).is_ok() {
                say(
                    &self.socket,
                    "unwatched a process of it does not show what it calls",
                );
            }
            return;
        };
        let told = serde_json::json!([name, path]);
        if say(&self.socket, &format!("synced {told}")) {
            // An error says that the runner is gone, and with it who wanted to know.
            let _ = self.noted.recv();
        }
    }

    /// Lets those go on whose group was told to.
    fn release(&mut self) {
        let going: BTreeSet<i32> = self
            .held
            .iter()
            .filter(|pid| call::continued(**pid))
            .filter_map(|pid| call::group(*pid))
            .collect();
        let on;
        (on, self.held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|pid: &Pid| call::group(*pid).is_none_or(|group| going.contains(&group)));
        for pid in on {
            go_on(pid, None);
        }
    }
}

/// An error says that it is gone.
fn go_on(pid: Pid, signal: Option<Sent>) {
    let _ = ptrace::cont(traced(pid), signal);
}
