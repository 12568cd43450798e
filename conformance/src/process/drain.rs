//! Whether everything that a target has written is recorded: what it does next must not come before it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// How long is waited for a reader; one that a case has paused reads nothing.
const LIMIT: Duration = Duration::from_secs(5);
/// Time between two looks.
const LOOK: Duration = Duration::from_micros(100);

/// The end of a pipe that somebody reads. Without a pipe there is nothing to wait for.
#[derive(Debug, Clone, Default)]
pub(super) struct Drain {
    pipe: Option<Arc<OwnedFd>>,
    /// Whether the reader has, or is about to take, bytes that it has not recorded.
    busy: Arc<AtomicBool>,
}

/// While it lives, the reader works.
pub(super) struct Working<'a>(&'a AtomicBool);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl Drain {
    /// That of a pipe, which it keeps open.
    pub(super) fn of(pipe: impl AsFd) -> io::Result<Self> {
        Ok(Self {
            pipe: Some(Arc::new(pipe.as_fd().try_clone_to_owned()?)),
            busy: Arc::default(),
        })
    }

    /// Waits until there is something to read; says so before it is read.
    pub(super) fn work(&self) -> Working<'_> {
        if let Some(pipe) = &self.pipe {
            let mut readable = [PollFd::new(pipe, PollFlags::IN)];
            // An error is one of reading too.
            let _ = poll(&mut readable, None);
            self.busy.store(true, Ordering::SeqCst);
        }
        Working(&self.busy)
    }

    /// Waits until nothing is left to read and what was read is recorded; whether it came to that.
    pub(super) fn wait(&self) -> bool {
        self.within(LIMIT)
    }

    fn within(&self, limit: Duration) -> bool {
        let Some(pipe) = &self.pipe else { return true };
        let until = Instant::now() + limit;
        // In this order: what has left the pipe is the reader's.
        while rustix::io::ioctl_fionread(pipe).unwrap_or_default() > 0
            || self.busy.load(Ordering::SeqCst)
        {
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }
}

#[cfg(test)]
#[path = "drain_tests.rs"]
mod tests;
