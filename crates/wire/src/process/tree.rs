//! The processes below this one: finding, signalling and reaping them.

use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
use tokio::signal::unix::Signal as SignalStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::status::{ExitStatus, Failure, FailureKind};

/// Time from SIGTERM to SIGKILL: enough to write a last line, and far below the second in which a
/// tree must be gone.
const GRACE: Duration = Duration::from_millis(100);

/// Longest time between two looks at a tree that is being killed; an exit wakes us earlier.
const RESCAN: Duration = Duration::from_millis(20);

/// Longest time spent on killing: what is left then belongs to another user or hangs in the
/// kernel, and no signal will end it.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Everything below this process. The guard has no children but the program and, as a subreaper,
/// the orphans of the program's tree.
#[derive(Debug)]
pub(super) struct Tree {
    program: Pid,
    status: Option<ExitStatus>,
    exits: SignalStream,
}

impl Tree {
    /// The tree of `program`; `exits` delivers SIGCHLD and was opened before it was started.
    pub(super) fn new(program: Pid, exits: SignalStream) -> Self {
        Self {
            program,
            status: None,
            exits,
        }
    }

    /// Waits until the program has exited, reaping orphans meanwhile. A wait that is dropped loses
    /// nothing.
    pub(super) async fn program_exit(&mut self) {
        while self.status.is_none() && self.reap() && self.status.is_none() {
            self.exits.recv().await;
        }
    }

    /// Asks the tree to end, and waits a short time for it.
    pub(super) async fn terminate(&mut self) {
        let deadline = Instant::now() + GRACE;
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        while self.reap() {
            if timeout_at(deadline, self.exits.recv()).await.is_err() {
                break;
            }
        }
    }

    /// Kills and reaps the tree and says how the program ended.
    pub(super) async fn kill(&mut self) -> ExitStatus {
        let deadline = Instant::now() + KILL_LIMIT;
        while self.reap() && Instant::now() < deadline {
            self.freeze();
            self.signal(Signal::KILL);
            // Elapsed or not: look again.
            let _ = timeout(RESCAN, self.exits.recv()).await;
        }
        self.status
            .unwrap_or(ExitStatus::Failed(Failure::new(FailureKind::Unkillable)))
    }

    /// Stops the tree until no process appears that was not stopped before: from then on nothing
    /// in it can fork while it is being killed.
    fn freeze(&self) {
        let mut stopped = Vec::new();
        loop {
            let found = descendants();
            let mut grown = false;
            for pid in found {
                if !stopped.contains(&pid) {
                    stopped.push(pid);
                    grown |= kill_process(pid, Signal::STOP).is_ok();
                }
            }
            if !grown {
                return;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        // An error says that the process is gone or not ours to signal; kill() looks again.
        for pid in descendants() {
            let _ = kill_process(pid, signal);
        }
        if self.status.is_none() {
            // Covers systems where the tree can not be listed. The group's number can not have
            // been given to another while the program is not reaped.
            let _ = kill_process_group(self.program, signal);
        }
    }

    /// Reaps what has exited; `false` when no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => {
                    self.status = status
                        .exit_status()
                        .map(ExitStatus::Code)
                        .or_else(|| status.terminating_signal().map(ExitStatus::Signal));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}

/// The processes below this one, parents before children. A list of a running tree may miss what
/// is being forked; that of a stopped one is complete.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Pid> {
    let mut found = children(std::process::id().cast_signed());
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let below = children(pid.as_raw_nonzero().get());
        next += 1;
        found.extend(below);
    }
    found
}

#[cfg(target_os = "linux")]
fn children(parent: i32) -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else {
        return found;
    };
    for thread in threads.flatten() {
        let list = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(
            list.split_ascii_whitespace()
                .filter_map(|pid| Pid::from_raw(pid.parse().ok()?)),
        );
    }
    found
}

#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Pid> {
    Vec::new()
}
