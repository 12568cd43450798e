//! The way of a session's events to a client that sets its own pace: past, snapshot and live
//! events in one order, without a gap and without a duplicate (SQEQ-6), never slowing the session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sessiond_protocol::{
    Accepted, Cursor, ErrorCode, EventFrame, Gap, ServerFrame, SessionId, SessionView,
    SubmissionId, Verdict, WireError,
};
use sessiond_wire::OutQueue;

use crate::{outlet::Outlet, past::Past};

/// Live events taken from the feed in one go.
const BATCH: usize = 64;

/// What an attach shows before the live events.
pub(crate) struct Beginning {
    /// The submission that attached; its receipt comes after all of this.
    pub(crate) id: SubmissionId,
    /// The durable events that the client asked for.
    pub(crate) past: Option<Past>,
    /// What is in flight.
    pub(crate) snapshot: Vec<EventFrame>,
    /// The session as the receipt tells it.
    pub(crate) view: SessionView,
}

/// The feed of one client. The session pushes live events; [`Feed::run`] carries them on.
#[derive(Debug)]
pub(crate) struct Feed {
    session: SessionId,
    outlet: Outlet,
    /// Live events. What bounds it is that the feed ends when it is full.
    live: OutQueue<ServerFrame>,
    sent: Mutex<Sent>,
}

/// How far the client is.
#[derive(Debug)]
struct Sent {
    /// The newest durable event that it was sent, or that it said it had.
    cursor: Cursor,
    /// The newest event of the session.
    newest: Cursor,
    /// The submission whose receipt is still to come.
    owed: Option<SubmissionId>,
    end: End,
}

#[derive(Debug, Clone)]
enum End {
    /// The feed goes on.
    Not,
    /// Nothing of the session is sent any more.
    Silent,
    /// The same, and this is why.
    Because(WireError),
}

impl Feed {
    /// A feed for a client that has all events up to `cursor`.
    pub(crate) fn new(
        session: SessionId,
        outlet: Outlet,
        (cursor, receipt): (Cursor, SubmissionId),
    ) -> Arc<Self> {
        let sent = Sent {
            cursor,
            newest: cursor,
            owed: Some(receipt),
            end: End::Not,
        };
        Arc::new(Self {
            session,
            outlet,
            live: OutQueue::new(),
            sent: Mutex::new(sent),
        })
    }

    pub(crate) fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// Takes a live event. A client that is too far behind gets a `gap` instead, and nothing more:
    /// what it lacks is in the log.
    pub(crate) fn push(&self, frame: EventFrame, newest: Cursor) {
        self.lock().newest = newest;
        if !self.live.is_full() {
            return self.live.push(ServerFrame::Event(frame));
        }
        self.break_off("reads too slowly");
    }

    fn break_off(&self, what: &str) {
        let lacks = {
            let sent = self.lock();
            let (newest, after) = (sent.newest, sent.cursor);
            Gap { newest, after }
        };
        let message = format!("this client {what}; resume after the cursor `gap.after`");
        self.end(End::Because(gap(self.session, message, lacks)));
    }

    /// Nothing of the session is sent after this.
    pub(crate) fn stop(&self) {
        self.end(End::Silent);
    }

    /// The session is let go: the client hears of it after all that happened, or at once where it
    /// is still being shown what was.
    pub(crate) fn finish(&self, error: WireError) {
        if self.lock().owed.is_some() {
            return self.end(End::Because(error));
        }
        self.live.push(ServerFrame::Error {
            error,
            fatal: false,
        });
        self.live.close();
    }

    fn end(&self, end: End) {
        self.lock().end = end;
        self.live.abandon();
    }

    /// Carries events to the client until one of both is gone.
    pub(crate) async fn run(self: Arc<Self>, beginning: Beginning) {
        if let Err(error) = self.begin(beginning).await {
            self.end(End::Because(error));
        }
        let mut frames = Vec::with_capacity(BATCH);
        while self.live.recv_many(&mut frames, BATCH).await > 0 {
            for frame in frames.drain(..) {
                self.carry(frame).await;
            }
        }
        self.say_why();
    }

    async fn begin(&self, beginning: Beginning) -> Result<(), WireError> {
        if let Some(mut past) = beginning.past {
            while let Some(frames) = past.next().await {
                for frame in frames {
                    self.carry(ServerFrame::Event(frame)).await;
                }
                if self.is_over() {
                    return Ok(());
                }
            }
            past.end().await?;
        }
        for frame in beginning.snapshot {
            self.carry(ServerFrame::Event(frame)).await;
        }
        let mut sent = self.lock();
        if matches!(sent.end, End::Not) {
            sent.owed = None;
            let view = Accepted::Session(Box::new(beginning.view));
            self.outlet.verdict(beginning.id, Verdict::Accepted(view));
        }
        Ok(())
    }

    /// Sends a frame as soon as there is room; gives up where the client or the feed is gone.
    async fn carry(&self, frame: ServerFrame) {
        let is_durable = matches!(
            &frame,
            ServerFrame::Event(EventFrame {
                cursor: Some(_),
                ..
            })
        );
        if is_durable && self.is_live() && self.outlet.acks.is_full(self.session) {
            return self.break_off("acknowledges too slowly");
        }
        let queue = &self.outlet.queue;
        if self.outlet.takes_no_more(self.session) && !self.live.is_closed() {
            tokio::select! {
                () = self.outlet.takes_more(self.session) => {}
                () = queue.closed() => return self.end(End::Silent),
                () = self.live.closed() => {}
            }
        }
        let mut sent = self.lock();
        if !matches!(sent.end, End::Not) {
            return;
        }
        // Under the lock: nothing is sent behind the back of who has just ended the feed.
        match frame {
            ServerFrame::Event(frame) => {
                sent.cursor = frame.cursor.unwrap_or(sent.cursor);
                self.outlet.event(frame);
            }
            frame => queue.push(frame),
        }
    }

    fn say_why(&self) {
        let mut sent = self.lock();
        let end = std::mem::replace(&mut sent.end, End::Silent);
        let owed = sent.owed.take();
        drop(sent);
        match (owed, end) {
            (Some(id), End::Because(error)) => self.outlet.verdict(id, Verdict::Error(error)),
            (None, End::Because(error)) => self.outlet.error(error),
            (Some(id), End::Not | End::Silent) => {
                let message = "the client left the session meanwhile";
                let error = WireError::new(ErrorCode::NotFound, message).about(self.session);
                self.outlet.verdict(id, Verdict::Error(error));
            }
            (None, End::Not | End::Silent) => {}
        }
    }

    /// Whether what was is shown.
    fn is_live(&self) -> bool {
        self.lock().owed.is_none()
    }

    fn is_over(&self) -> bool {
        !matches!(self.lock().end, End::Not)
    }

    fn lock(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events that cannot be sent, and how to go on.
pub(crate) fn gap(session: SessionId, message: impl Into<String>, gap: Gap) -> WireError {
    let mut error = WireError::new(ErrorCode::Gap, message).about(session);
    error.gap = Some(gap);
    error
}
