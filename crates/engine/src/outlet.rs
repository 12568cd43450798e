//! The way from a session to one connection.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sessiond_protocol::{
    ClosedBecause, EventFrame, Receipt, RequestFrame, RequestId, ServerFrame, SessionId,
    SubmissionId, Verdict, WireError,
};
use sessiond_wire::OutQueue;

use crate::{
    acks::Acks,
    core::{ConnId, Refusal},
};

/// One connection's outbound side, and which session asked which of its open requests: an answer
/// names only the request.
#[derive(Debug, Clone)]
pub(crate) struct Outlet {
    pub(crate) conn: ConnId,
    pub(crate) queue: OutQueue<ServerFrame>,
    pub(crate) acks: Arc<Acks>,
    requests: Arc<Mutex<HashMap<RequestId, SessionId>>>,
    /// How many answers of this connection were refused.
    refused: Arc<AtomicU64>,
}

impl Outlet {
    pub(crate) fn new(conn: ConnId, queue: OutQueue<ServerFrame>) -> Self {
        Self {
            conn,
            queue,
            acks: Arc::default(),
            requests: Arc::default(),
            refused: Arc::default(),
        }
    }

    pub(crate) fn event(&self, frame: EventFrame) {
        if let Some(cursor) = frame.cursor {
            self.acks.sent(frame.session, cursor);
        }
        self.queue.push(ServerFrame::Event(frame));
    }

    /// Whether bulk should wait: for the reader, or for what it has to acknowledge.
    pub(crate) fn is_behind(&self, session: SessionId) -> bool {
        self.queue.is_full() || self.acks.is_full(session)
    }

    /// Whether a feed should wait, which is in nobody's way: it does not ask for the reader's pace.
    pub(crate) fn takes_no_more(&self, session: SessionId) -> bool {
        self.queue.is_at_bound() || self.acks.is_full(session)
    }

    /// Waits until a feed may go on, or the client is gone.
    pub(crate) async fn takes_more(&self, session: SessionId) {
        let room = async {
            while self.takes_no_more(session) {
                self.queue.below_bound().await;
                self.acks.room(session).await;
            }
        };
        tokio::select! {
            () = room => {}
            () = self.queue.closed() => {}
        }
    }

    /// Waits until the client has acknowledged so much that it pays to go on, and reads; for ever
    /// where it is gone: somebody else hears of that.
    pub(crate) async fn has_acknowledged(&self, session: SessionId) {
        self.acks.half(session).await;
        self.queue.ready().await;
        if self.queue.is_closed() {
            std::future::pending().await
        }
    }

    pub(crate) fn receipt(&self, receipt: Receipt) {
        self.queue.push(ServerFrame::Receipt(receipt));
    }

    pub(crate) fn verdict(&self, id: SubmissionId, result: Verdict) {
        self.receipt(Receipt { id, result });
    }

    pub(crate) fn error(&self, error: WireError) {
        self.queue.push(ServerFrame::Error {
            error,
            fatal: false,
        });
    }

    /// An answer changed nothing; the client is told, and it is counted (WIRE-7).
    pub(crate) fn refused(&self, session: Option<SessionId>, why: Refusal) {
        let count = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(why = why.code(), count, "an answer of a client was refused");
        let error = why.error();
        self.error(match session {
            Some(session) => error.about(session),
            None => error,
        });
    }

    pub(crate) fn request(&self, frame: RequestFrame) {
        self.lock().insert(frame.id, frame.session);
        self.queue.push(ServerFrame::Request(frame));
    }

    pub(crate) fn request_closed(&self, session: SessionId, id: RequestId, reason: ClosedBecause) {
        self.lock().remove(&id);
        self.queue.push(ServerFrame::RequestClosed {
            session,
            id,
            reason,
        });
    }

    /// The session that asked, while the request is open.
    pub(crate) fn asked_by(&self, request: RequestId) -> Option<SessionId> {
        self.lock().get(&request).copied()
    }

    /// The open requests of a session.
    pub(crate) fn asked_for(&self, session: SessionId) -> Vec<RequestId> {
        let of_session =
            |(request, asker): (&RequestId, &SessionId)| (*asker == session).then_some(*request);
        self.lock().iter().filter_map(of_session).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, SessionId>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
