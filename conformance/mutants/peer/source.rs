//! Stdin of a face that leaves at a signal as at the end of its input.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};

use crate::fault::{on, on_signal};
use crate::wire::Wire;

/// Whether a signal has come.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Whether the input ended because a signal said so.
pub(crate) fn told_to_leave() -> bool {
    TOLD.load(Ordering::SeqCst)
}

/// Stdin, until a signal comes.
pub(crate) struct Source {
    stdin: File,
    /// Readable once a signal has come.
    bell: OwnedFd,
}

impl Source {
    /// From now on SIGTERM and SIGINT end the input.
    pub(crate) fn new(wire: &Wire) -> io::Result<Self> {
        let stdin = File::from(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?);
        let (bell, rope) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let wire = wire.clone();
        on_signal(move |_| {
            if on("signal-cuts") {
                wire.raw(b"{\"jsonrpc\":\"2.0\",\"method\":");
            }
            if on("signal-cuts") || on("signal-unanswered") {
                std::process::exit(0);
            }
            TOLD.store(true, Ordering::SeqCst);
            let _ = rustix::io::write(&rope, b"!");
        });
        Ok(Self { stdin, bell })
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut either = [
                PollFd::new(&self.bell, PollFlags::IN),
                PollFd::new(&self.stdin, PollFlags::IN),
            ];
            match poll(&mut either, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if !either[0].revents().is_empty() => return Ok(0),
                Ok(_) => return self.stdin.read(buffer),
            }
        }
    }
}
