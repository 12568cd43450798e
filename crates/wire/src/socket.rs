//! Unix sockets between processes of one user: lines both ways, and who is at the other end.
//!
//! What keeps others out is the directory a socket lies in (0700); the credentials of the peer are
//! checked besides, because a directory may be opened up later (SQEQ-8).

use std::io;
use std::path::Path;

use rustix::process::geteuid;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::lines::{AsyncLines, Line};
use crate::queue::{Coalesce, OutQueue};
use crate::stdio::{Encode, READ_AHEAD};

/// Frames that are written in one go.
const BURST: usize = 64;

/// Connects to the socket at `path`.
///
/// # Errors
/// Of the system: `NotFound` or `ConnectionRefused` where nobody listens; `PermissionDenied` where
/// another user does.
pub async fn connect(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    check_peer(&stream)?;
    Ok(stream)
}

/// Whether this user is at the other end.
///
/// # Errors
/// `PermissionDenied` where another one is; of the system where that cannot be told.
pub fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = stream.peer_cred()?.uid();
    if peer == geteuid().as_raw() {
        return Ok(());
    }
    let why = "the process at the other end of the socket is another user's";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Reads lines of at most `limit` bytes in a task of its own. The end of the channel is the end of
/// the input; an input that fails has ended. The task ends with its input, or when the receiver is
/// dropped.
pub fn spawn_lines<R>(input: R, limit: usize) -> mpsc::Receiver<Line>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let (lines, receiver) = mpsc::channel(READ_AHEAD);
    tokio::spawn(async move {
        let mut reader = AsyncLines::new(input, limit);
        loop {
            let line = tokio::select! {
                line = reader.next_line() => line,
                () = lines.closed() => break,
            };
            match line {
                Ok(Some(line)) => {
                    if lines.send(line).await.is_err() {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::info!(kind = ?error.kind(), "input failed");
                    break;
                }
            }
        }
    });
    receiver
}

/// Writes what `queue` gets to `output`, in order, until the queue is closed and empty or the output
/// fails, which abandons the queue (WIRE-13).
pub fn spawn_frames<W, T>(mut output: W, queue: OutQueue<T>) -> JoinHandle<()>
where
    W: AsyncWrite + Unpin + Send + 'static,
    T: Coalesce + Encode + Send + 'static,
{
    tokio::spawn(async move {
        let (mut frames, mut bytes) = (Vec::new(), Vec::new());
        while queue.recv_many(&mut frames, BURST).await > 0 {
            for frame in frames.drain(..) {
                frame.encode(&mut bytes);
            }
            if let Err(error) = output.write_all(&bytes).await {
                tracing::info!(kind = ?error.kind(), "output ended");
                break;
            }
            bytes.clear();
        }
        queue.abandon();
        // The other end sees that nothing more comes, also while this one still reads.
        let _gone = output.shutdown().await;
    })
}

#[cfg(test)]
mod tests;
