//! A program's output that is not watched for a moment while it comes piece by piece and fast.
//!
//! A program that writes each line by itself wakes its reader for each, and everybody behind that
//! one. A reader that looks once a millisecond finds many lines at once, which costs both sides of
//! a busy machine a fraction of it. Not to look is not enough: a pipe that the runtime watches
//! wakes the process at every write, whoever waits. So the pipe is taken from the runtime while a
//! stream runs.

mod pace;

use std::fs::File;
use std::future::Future;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::Receiver;
use tokio::process::ChildStdout;
use tokio::time::{Instant, Sleep, sleep};

use pace::{Next, Pace};

/// How long the pipe is left alone: the shortest that timers know, and nothing to a person.
const REST: Duration = Duration::from_millis(1);

/// The output of a program, to be read inside of a runtime with I/O and time. What is read is what
/// the program wrote, whatever the pace.
#[derive(Debug)]
pub struct Paced {
    source: Source,
    pace: Pace,
}

#[derive(Debug)]
enum Source {
    /// The runtime tells when there is something.
    Watched(Receiver),
    /// Looked into when the rest is over, where there is one.
    Resting(File, Option<Pin<Box<Sleep>>>),
    /// It could not be passed from one to the other.
    Lost,
}

impl Paced {
    /// Takes over a program's stdout.
    ///
    /// # Errors
    /// What the system says where the pipe cannot be taken over.
    pub fn new(stdout: ChildStdout) -> io::Result<Self> {
        Self::of(stdout.into_owned_fd()?)
    }

    fn of(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            source: Source::Watched(Receiver::from_owned_fd(pipe)?),
            pace: Pace::default(),
        })
    }

    /// Does what follows a read.
    fn go_on(&mut self, next: Next) -> io::Result<()> {
        let rest = (next == Next::Rest).then(|| Box::pin(sleep(REST)));
        self.source = match (std::mem::replace(&mut self.source, Source::Lost), next) {
            (Source::Watched(pipe), Next::Rest | Next::Look) => {
                Source::Resting(pipe.into_nonblocking_fd()?.into(), rest)
            }
            (Source::Resting(pipe, _), Next::Rest | Next::Look) => Source::Resting(pipe, rest),
            (Source::Resting(pipe, _), Next::Wait) => {
                Source::Watched(Receiver::from_owned_fd(pipe.into())?)
            }
            (source, _) => source,
        };
        Ok(())
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let before = into.filled().len();
            match &mut self.source {
                Source::Watched(pipe) => ready!(Pin::new(pipe).poll_read(context, into))?,
                Source::Resting(pipe, rest) => {
                    if let Some(rest) = rest {
                        ready!(rest.as_mut().poll(context));
                    }
                    match pipe.read(into.initialize_unfilled()) {
                        Ok(count) => into.advance(count),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            let next = self.pace.paused();
                            self.go_on(next)?;
                            continue;
                        }
                        Err(error) => return Poll::Ready(Err(error)),
                    }
                }
                Source::Lost => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            }
            let next = self.pace.read(into.filled().len() - before, Instant::now());
            self.go_on(next)?;
            return Poll::Ready(Ok(()));
        }
    }
}

#[cfg(test)]
mod tests;
