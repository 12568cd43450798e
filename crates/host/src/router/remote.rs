//! A process that holds sessions, as one connection of ours sees it.

use std::io;
use std::path::{Path, PathBuf};

use sessiond_protocol::{ClientFrame, Hello, ServerFrame};
use sessiond_wire::Connection;
use sessiond_wire::socket::connect;
use tokio::sync::mpsc;

use crate::relay::relay;

/// Frames for a holder that may wait for it: it is another engine, which takes them up at once.
const WAITING: usize = 64;

/// What a holder said; no frame at its end.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) from: PathBuf,
    pub(super) frame: Option<ServerFrame>,
}

/// The way to a holder. Dropping it is the client's going.
#[derive(Debug)]
pub(super) struct Remote {
    frames: mpsc::Sender<ClientFrame>,
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
        tokio::spawn(carry(waist, receiver, said, path.to_owned()));
        Ok(Self { frames })
    }

    /// Sends a frame. One that finds the holder stuck ends the connection to it: its submissions get
    /// an answer that says so.
    pub(super) fn send(&self, frame: ClientFrame) {
        if self.frames.try_send(frame).is_err() {
            tracing::warn!("a holder does not take what it is sent");
        }
    }
}

async fn carry(
    waist: Connection,
    mut frames: mpsc::Receiver<ClientFrame>,
    said: mpsc::Sender<Said>,
    from: PathBuf,
) {
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(frame) => {
                    if waist.send(frame).await.is_err() {
                        break;
                    }
                }
                // The client is gone.
                None => return,
            },
            frame = waist.recv() => match frame {
                Some(frame) => {
                    let (from, frame) = (from.clone(), Some(frame));
                    if said.send(Said { from, frame }).await.is_err() {
                        return;
                    }
                }
                None => break,
            },
        }
    }
    // Nobody to tell means that the client is gone too.
    let _gone = said.send(Said { from, frame: None }).await;
}
