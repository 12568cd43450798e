//! What a client has acknowledged, where it said that it would: never more than
//! [`limits::ACK_WINDOW`] events are on their way to it (SQEQ-9).

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use sessiond_protocol::{Cursor, ErrorCode, SessionId, WireError, limits};
use tokio::sync::Notify;

/// The windows of one connection, one a session. Events are sent only when the log has
/// acknowledged them, so what a client acknowledges is durable.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    /// Whether the client acknowledges at all.
    wanted: AtomicBool,
    windows: Mutex<HashMap<SessionId, Window>>,
    moved: Notify,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    acked: Cursor,
    sent: Cursor,
}

impl Acks {
    /// The client said that it would acknowledge what it gets.
    pub(crate) fn want(&self) {
        self.wanted.store(true, Ordering::Release);
    }

    fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// The client attached to a session and has its events up to `after`.
    pub(crate) fn begin(&self, session: SessionId, after: Cursor) {
        if self.is_wanted() {
            let (acked, sent) = (after, after);
            self.lock().insert(session, Window { acked, sent });
            self.moved.notify_waiters();
        }
    }

    /// The client left a session.
    pub(crate) fn end(&self, session: SessionId) {
        self.lock().remove(&session);
        self.moved.notify_waiters();
    }

    /// A durable event was sent.
    pub(crate) fn sent(&self, session: SessionId, cursor: Cursor) {
        if self.is_wanted()
            && let Some(window) = self.lock().get_mut(&session)
        {
            window.sent = window.sent.max(cursor);
        }
    }

    /// The client acknowledges all events of a session up to one. Again is as good as once.
    ///
    /// # Errors
    /// `invalid` where it did not say in its hello that it would, or was not sent that event;
    /// `not_found` where it is not attached to the session.
    pub(crate) fn ack(&self, session: SessionId, cursor: Cursor) -> Result<(), WireError> {
        let error = |code, message: &str| Err(WireError::new(code, message).about(session));
        if !self.is_wanted() {
            return error(ErrorCode::Invalid, "say `ack` in the hello first");
        }
        let mut windows = self.lock();
        let Some(window) = windows.get_mut(&session) else {
            return error(
                ErrorCode::NotFound,
                "this connection is not attached to the session",
            );
        };
        if cursor > window.sent {
            return error(ErrorCode::Invalid, "no event of that cursor was sent");
        }
        window.acked = window.acked.max(cursor);
        drop(windows);
        self.moved.notify_waiters();
        Ok(())
    }

    /// Whether nothing durable of the session may be sent before the client acknowledges more.
    pub(crate) fn is_full(&self, session: SessionId) -> bool {
        self.is_wanted() && self.unacknowledged(session) >= limits::ACK_WINDOW
    }

    /// Waits until something may be sent.
    pub(crate) async fn room(&self, session: SessionId) {
        self.below(session, limits::ACK_WINDOW).await;
    }

    /// Waits until half a window may be sent: what a client lacks is read from the log, and not
    /// for each event anew.
    pub(crate) async fn half(&self, session: SessionId) {
        self.below(session, limits::ACK_WINDOW / 2 + 1).await;
    }

    /// The newest durable event of the session that the client was sent.
    pub(crate) fn newest_sent(&self, session: SessionId) -> Option<Cursor> {
        self.lock().get(&session).map(|window| window.sent)
    }

    async fn below(&self, session: SessionId, most: u64) {
        loop {
            // Enabled before the check: an acknowledgement between check and wait is not missed.
            let mut moved = std::pin::pin!(self.moved.notified());
            moved.as_mut().enable();
            if self.unacknowledged(session) < most {
                return;
            }
            moved.await;
        }
    }

    fn unacknowledged(&self, session: SessionId) -> u64 {
        let windows = self.lock();
        let window = windows.get(&session);
        window.map_or(0, |window| window.sent.0.saturating_sub(window.acked.0))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
