//! The thread that owns the protocol's output.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::queue::{Coalesce, OutQueue};

/// Bytes of write buffer kept between writes; a burst may need more for its own time.
const KEPT_BUFFER: usize = 256 * 1024;

/// Bytes that are written at once, where more than one frame waits: a pipe holds as much or less, and
/// what was encoded is still in the cache.
const WRITE_BYTES: usize = 256 * 1024;

/// A frame that knows its own line.
pub trait Encode {
    /// Appends the frame as one line, LF included and no other (WIRE-1); a frame that is a piece of a
    /// line as that piece.
    fn encode(&self, line: &mut Vec<u8>);
}

/// The far side of a writer thread.
///
/// Dropping it leaves the thread running until its queue is closed and empty.
#[derive(Debug)]
pub struct Writer<T> {
    queue: OutQueue<T>,
    ended: oneshot::Receiver<()>,
}

/// Starts the thread that writes `queue` to `output`: all that waits in one `write_all`, or in some
/// where it is much.
///
/// When the output fails (EPIPE when the client is gone, WIRE-13) the queue is abandoned, which
/// [`OutQueue::closed`] announces. When the queue is closed the thread writes what waits, drops
/// the output and ends.
///
/// # Errors
/// When the thread could not be started.
pub fn spawn_writer<T>(
    output: impl Write + Send + 'static,
    queue: OutQueue<T>,
) -> io::Result<Writer<T>>
where
    T: Coalesce + Encode + Send + 'static,
{
    let (end, ended) = oneshot::channel();
    let source = queue.clone();
    std::thread::Builder::new()
        .name("wire-writer".into())
        .spawn(move || {
            if let Err(error) = write_frames(output, &source) {
                tracing::info!(kind = ?error.kind(), "output ended");
            }
            source.abandon();
            drop(end);
        })?;
    Ok(Writer { queue, ended })
}

fn write_frames<T: Coalesce + Encode>(
    mut output: impl Write,
    queue: &OutQueue<T>,
) -> io::Result<()> {
    let mut frames = VecDeque::new();
    let mut lines = Vec::new();
    while queue.take_all(&mut frames) {
        let count = frames.len() as u64;
        for frame in frames.drain(..) {
            frame.encode(&mut lines);
            if lines.len() >= WRITE_BYTES {
                output.write_all(&lines)?;
                lines.clear();
            }
        }
        output.write_all(&lines)?;
        output.flush()?;
        queue.settle(count);
        lines.clear();
        lines.shrink_to(KEPT_BUFFER);
    }
    Ok(())
}

impl<T: Coalesce> Writer<T> {
    /// Waits until every frame queued before the call is written, or can not be any more.
    pub async fn flush(&self) {
        self.queue.flushed().await;
    }

    /// Closes the queue and waits, at most for `deadline`, until what waits in it is written and
    /// the output is dropped. A client that does not read may make it take that long; the thread
    /// is then left behind.
    pub async fn shutdown(self, deadline: Duration) {
        self.queue.close();
        if tokio::time::timeout(deadline, self.ended).await.is_err() {
            self.queue.abandon();
            tracing::warn!("output not written within its deadline");
        }
    }
}

#[cfg(test)]
mod tests;
