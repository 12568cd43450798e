//! A process that holds sessions, as one connection of ours sees it.

use std::io;
use std::path::{Path, PathBuf};

use sessiond_protocol::{ClientFrame, Hello, ServerFrame};
use sessiond_wire::socket::connect;
use sessiond_wire::{Connection, Gone};
use tokio::sync::mpsc;

use crate::relay::relay;

/// Frames for a holder that may wait for it: it is another engine, which takes them up at once.
const WAITING: usize = 16;

/// What a holder said; no frame at its end.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) from: PathBuf,
    pub(super) frame: Option<ServerFrame>,
}

/// The way to a holder. Dropping it is the client's going, also where the holder is stuck.
#[derive(Debug)]
pub(super) struct Remote {
    frames: mpsc::Sender<ClientFrame>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Remote {
    /// Connects to the holder at `path` and greets it; what it says goes to `said`.
    pub(super) async fn reach(
        path: &Path,
        hello: Hello,
        said: mpsc::Sender<Said>,
    ) -> io::Result<Self> {
        let waist = relay(connect(path).await?);
        let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let hello = ClientFrame::Hello(hello);
        waist.send(hello).await.map_err(|_| gone())?;
        match waist.recv().await {
            Some(ServerFrame::Welcome(_)) => {}
            _ => return Err(gone()),
        }
        let (frames, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(carry(waist, receiver, said, path.to_owned()));
        Ok(Self { frames, task })
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// [`Gone`] when the holder is, or is stuck and does not take what it was sent before.
    pub(super) fn send(&self, frame: ClientFrame) -> Result<(), Gone> {
        self.frames.try_send(frame).map_err(|_| Gone)
    }
}

async fn carry(
    waist: Connection,
    mut frames: mpsc::Receiver<ClientFrame>,
    said: mpsc::Sender<Said>,
    from: PathBuf,
) {
    // Neither way waits for the other: an interrupt gets through to a holder whose words nobody reads.
    let (mut outgoing, mut incoming) = (None, None);
    loop {
        tokio::select! {
            frame = frames.recv(), if outgoing.is_none() => match frame {
                Some(frame) => outgoing = Some(frame),
                // The client is gone.
                None => return,
            },
            _ = waist.writable(), if outgoing.is_some() => {
                if let Some(frame) = outgoing.take()
                    && waist.send(frame).await.is_err()
                {
                    break;
                }
            }
            frame = waist.recv(), if incoming.is_none() => match frame {
                Some(frame) => incoming = Some(frame),
                None => break,
            },
            permit = said.reserve(), if incoming.is_some() => match permit {
                Ok(permit) => {
                    let (from, frame) = (from.clone(), incoming.take());
                    permit.send(Said { from, frame });
                }
                Err(_gone) => return,
            },
        }
    }
    // What it said before its end counts; then its end. Nobody to tell means that the client is gone.
    let mut rest = incoming;
    loop {
        let frame = match rest.take() {
            Some(frame) => Some(frame),
            None => waist.recv().await,
        };
        let (from, is_end) = (from.clone(), frame.is_none());
        if said.send(Said { from, frame }).await.is_err() || is_end {
            return;
        }
    }
}
