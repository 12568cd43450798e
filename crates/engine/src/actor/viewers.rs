//! Clients that look on: any number, none of which the session waits for.

use std::sync::Arc;

use sessiond_log::Generation;
use sessiond_protocol::{Cursor, ErrorCode, Gap, InForce, Replay, WireError};

use super::{Actor, Attach, being_closed, not_open, refusal};
use crate::{
    audit::{Action, Decision},
    core::{ConnId, Input},
    drift::Arrival,
    feed::{Beginning, Feed, gap},
    past::Past,
};

/// The end of a feed: whose, and which.
pub(super) type FeedEnd = (ConnId, Arc<Feed>);

impl Actor {
    /// Lets a client look on.
    pub(super) async fn attach_viewer(&mut self, attach: Attach) {
        let after = self.may_view(&attach).await;
        let decision = Decision::on(self.parts.session, Action::View, &after);
        decision.written(&self.parts.store).await;
        self.view(attach, after);
    }

    /// The session was opened for a client that only looks on.
    pub(super) async fn attach_first_viewer(
        &mut self,
        attach: Attach,
        (arrival, read): (Arrival, Generation),
    ) {
        // That it may look on was decided with the lease of the session.
        let after = self.may_view(&attach).await;
        let confirmed = self.parts.lease.confirm(&read);
        let confirmed = confirmed.map_err(|error| refusal(self.parts.session, &error));
        let after = after.and_then(|after| confirmed.map(|()| after));
        if after.is_err() {
            let decision = Decision::on(self.parts.session, Action::View, &after);
            decision.written(&self.parts.store).await;
        } else {
            self.arrived(arrival, Some(self.loaded));
        }
        self.view(attach, after);
    }

    /// After which event to begin. Afterwards nothing is held back: the log, the core and what the
    /// clients have heard are at one point, and stay there until something is taken up.
    async fn may_view(&mut self, attach: &Attach) -> Result<Cursor, WireError> {
        if self.clients.contains_key(&attach.outlet.conn) {
            let message = "this connection controls the session; detach first";
            let error = WireError::new(ErrorCode::Invalid, message);
            return Err(error.about(self.parts.session));
        }
        self.settle().await;
        if self.stopping {
            return Err(not_open(self.parts.session));
        }
        if self.core.is_closed() {
            return Err(being_closed(self.parts.session));
        }
        self.replay_after(attach.replay)
    }

    fn view(&mut self, attach: Attach, after: Result<Cursor, WireError>) {
        let after = match after {
            Ok(after) => after,
            Err(error) => return Self::reject(&attach.outlet, attach.id, error),
        };
        let (session, upto) = (self.parts.session, self.core.cursor());
        let (past, snapshot) = match attach.replay {
            Replay::None => (None, self.core.in_flight()),
            Replay::All | Replay::After(_) => {
                let lease = self.parts.lease.clone();
                let past = Past::read(session, lease, (after, upto), self.shown(attach.replay));
                (Some(past), self.core.snapshot())
            }
        };
        let conn = attach.outlet.conn;
        if let Some(before) = self.viewers.remove(&conn) {
            before.stop();
        }
        attach.outlet.acks.begin(session, after);
        let feed = Feed::new(session, attach.outlet, (after, attach.id.clone()));
        self.viewers.insert(conn, feed.clone());
        let beginning = Beginning {
            id: attach.id,
            past,
            snapshot,
            view: self.core.view(),
        };
        self.feeds.spawn(async move {
            feed.clone().run(beginning).await;
            (conn, feed)
        });
        self.input(Input::Viewed { conn });
    }

    /// A client that looked on was too slow, or could not be shown what it wanted.
    pub(super) fn feed_ended(&mut self, (conn, feed): FeedEnd) {
        let is_current = |current: &Arc<Feed>| Arc::ptr_eq(current, &feed);
        if self.viewers.get(&conn).is_some_and(is_current) {
            self.viewers.remove(&conn);
            self.input(Input::Disconnected { conn });
        }
    }

    /// What of the past is shown, where it is not all of it.
    pub(super) fn shown(&self, replay: Replay) -> Option<InForce> {
        (replay == Replay::All).then(|| self.core.in_force())
    }

    /// Where the events that a client asks for begin.
    pub(super) fn replay_after(&self, replay: Replay) -> Result<Cursor, WireError> {
        let newest = self.core.cursor();
        match replay {
            Replay::None => Ok(newest),
            Replay::All => Ok(self.core.in_force().before()),
            Replay::After(cursor) if cursor <= newest => Ok(cursor),
            Replay::After(_) => {
                let message = format!("the newest event has cursor {newest}; begin anew");
                let after = Cursor::START;
                Err(gap(self.parts.session, message, Gap { newest, after }))
            }
        }
    }

    /// Tells those who look on that the session is let go.
    pub(super) fn let_viewers_go(&mut self) {
        for feed in self.viewers.values() {
            feed.finish(not_open(self.parts.session));
        }
        self.feeds.detach_all();
    }
}
