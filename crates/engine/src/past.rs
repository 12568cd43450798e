//! The past of a session, read beside everything else and in pieces: of a log of any length only
//! a few batches are in memory.

use std::sync::Arc;

use sessiond_log::{Lease, LogError, Scan, Seen, Since};
use sessiond_protocol::{Cursor, ErrorCode, EventFrame, InForce, SessionId, WireError};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    actor::refusal,
    record::{damage_frame, to_frame},
};

/// Events that go from the reader to the session at once.
const BATCH: usize = 64;

/// Bytes of records from which on a batch goes sooner.
const BATCH_BYTES: usize = 256 * 1024;

/// Batches the reader may be ahead: enough that reading and sending overlap.
const AHEAD: usize = 4;

/// The durable events of a session between two cursors, and the broken places between them, in
/// order.
pub(crate) struct Past {
    session: SessionId,
    batches: mpsc::Receiver<Vec<EventFrame>>,
    reading: JoinHandle<Result<Scan, LogError>>,
}

impl Past {
    /// Begins to read what lies after one event, up to and with another one: what the log holds
    /// beyond that is not acknowledged, or is heard of otherwise. Where `shown` is given, only what
    /// that shows.
    pub(crate) fn read(
        session: SessionId,
        lease: Arc<Lease>,
        (after, upto): (Cursor, Cursor),
        shown: Option<InForce>,
    ) -> Self {
        let (sender, batches) = mpsc::channel(AHEAD);
        let reading = tokio::task::spawn_blocking(move || {
            let mut batch = Batch::new(sender);
            let scan = lease.visit(Since::Start, &mut |seen| match seen {
                Seen::Record(record)
                    if record.seq > after.0
                        && record.seq <= upto.0
                        && !batch.sender.is_closed() =>
                {
                    let frame = to_frame(session, record);
                    if shown.as_ref().is_none_or(|shown| shown.shows(&frame)) {
                        batch.push(frame, record.data.len());
                    }
                }
                Seen::Record(_) => {}
                Seen::Damage(place) => batch.push(damage_frame(session, place), 0),
            });
            batch.send();
            scan
        });
        Self {
            session,
            batches,
            reading,
        }
    }

    /// The next events; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Vec<EventFrame>> {
        self.batches.recv().await
    }

    /// Whether that was all of it.
    pub(crate) async fn end(self) -> Result<(), WireError> {
        match self.reading.await {
            Ok(read) => read
                .map(drop)
                .map_err(|error| refusal(self.session, &error)),
            Err(_) => {
                let message = "reading the log broke down";
                Err(WireError::new(ErrorCode::Internal, message))
            }
        }
    }
}

/// Events on their way.
struct Batch {
    frames: Vec<EventFrame>,
    bytes: usize,
    sender: mpsc::Sender<Vec<EventFrame>>,
}

impl Batch {
    fn new(sender: mpsc::Sender<Vec<EventFrame>>) -> Self {
        Self {
            frames: Vec::with_capacity(BATCH),
            bytes: 0,
            sender,
        }
    }

    fn push(&mut self, frame: EventFrame, bytes: usize) {
        self.frames.push(frame);
        self.bytes += bytes;
        if self.frames.len() >= BATCH || self.bytes >= BATCH_BYTES {
            self.send();
        }
    }

    fn send(&mut self) {
        self.bytes = 0;
        let frames = std::mem::replace(&mut self.frames, Vec::with_capacity(BATCH));
        // Who no longer listens has gone; the rest is not even parsed.
        let _gone = self.sender.blocking_send(frames);
    }
}
