//! What was written to fd 1 by anyone but the protocol: counted, never shown (WIRE-10, SEC-1).

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Read buffer of the drain, in bytes: the capacity of a Linux pipe.
const DRAIN_BUFFER: usize = 64 * 1024;

/// Reads in a row: enough for all that a pipe may hold (1 MiB on Linux), and an end for the case
/// that a tool writes to it without pause while we want to shut down.
const READS_AT_ONCE: usize = 16;

/// Counts what was diverted from stdout. Clones count the same.
#[derive(Clone)]
pub struct DivertedCounter {
    drain: Arc<Mutex<Drain>>,
}

impl fmt::Debug for DivertedCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DivertedCounter").finish_non_exhaustive()
    }
}

/// The read end of fd 1 and what came through it.
struct Drain {
    pipe: File,
    buffer: Box<[u8]>,
    counts: Counts,
    announced: bool,
    summed_up: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    bytes: u64,
    lines: u64,
    /// Whether the last byte was no LF: that text is a line at the next flush.
    open_line: bool,
}

impl Counts {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        if let Some(last) = bytes.last() {
            self.open_line = *last != b'\n';
        }
    }

    fn lines(self) -> u64 {
        self.lines + u64::from(self.open_line)
    }
}

impl DivertedCounter {
    /// Bytes diverted so far.
    pub fn bytes(&self) -> u64 {
        self.lock().take_in().bytes
    }

    /// Lines diverted so far; a last one without LF counts.
    pub fn lines(&self) -> u64 {
        self.lock().take_in().lines()
    }

    /// Reads what is left in the pipe and, the first time, sums up on stderr in one line if
    /// anything was diverted. To be called once output has ended: at shutdown, on abort, on EPIPE.
    pub fn finish(&self) {
        let mut drain = self.lock();
        let counts = drain.take_in();
        if counts.bytes > 0 && !std::mem::replace(&mut drain.summed_up, true) {
            let (lines, bytes) = (counts.lines(), counts.bytes);
            report(format_args!(
                "{lines} lines, {bytes} bytes diverted from stdout in total"
            ));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Drain> {
        self.drain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drain {
    /// Empties the pipe without blocking, unless it is filled faster than it is read.
    fn take_in(&mut self) -> Counts {
        for _ in 0..READS_AT_ONCE {
            match self.pipe.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(size) => self.counts.add(self.buffer.get(..size).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.counts
    }

    /// One line on stderr at the first diversion: more would let a tool flood it through us.
    fn announce(&mut self) {
        let counts = self.take_in();
        if counts.bytes > 0 && !std::mem::replace(&mut self.announced, true) {
            report(format_args!(
                "output of another program was kept off stdout (counted, not shown)"
            ));
        }
    }
}

/// A stderr that is gone must not end us, as it would through `eprintln!`.
fn report(what: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "sessiond: {what}");
}

/// Starts the thread that keeps the pipe empty, so that no writer to fd 1 ever blocks.
pub(super) fn spawn(pipe: OwnedFd) -> io::Result<DivertedCounter> {
    // The flag sits on this end alone: writers to fd 1 keep blocking semantics.
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
    let watched = pipe.try_clone()?;
    let drain = Drain {
        pipe: File::from(pipe),
        buffer: vec![0; DRAIN_BUFFER].into_boxed_slice(),
        counts: Counts::default(),
        announced: false,
        summed_up: false,
    };
    let counter = DivertedCounter {
        drain: Arc::new(Mutex::new(drain)),
    };
    let drained = counter.clone();
    std::thread::Builder::new()
        .name("stdout-drain".into())
        .spawn(move || {
            while wait_for_input(&watched) {
                drained.lock().announce();
            }
        })?;
    Ok(counter)
}

/// Blocks until the pipe has content; `false` when it has ended or can not be watched.
fn wait_for_input(pipe: &OwnedFd) -> bool {
    loop {
        let mut watched = [PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) => {
                return watched
                    .iter()
                    .any(|fd| fd.revents().contains(PollFlags::IN));
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests;
