//! A controller that acknowledges slowly: at the edge of its window it is sent no more events, the
//! session goes on, and what it lacks comes from the log when it has acknowledged enough (SQEQ-9).
//! Nothing is kept for it meanwhile but the place where it stands.

use std::collections::VecDeque;

use sessiond_protocol::{Cursor, EventFrame, Gap, InForce};

use super::Actor;
use crate::{
    core::{ConnId, Input},
    feed::gap,
    outlet::Outlet,
    past::Past,
};

/// Where such a client stands.
pub(super) struct Lag {
    pub(super) conn: ConnId,
    /// The newest durable event that it was sent.
    sent: Cursor,
    /// What of that it is shown, where it is not all of it.
    shown: Option<InForce>,
    /// What it lacks up to an event, while it is being sent.
    past: Option<(Past, Cursor)>,
    /// What was read of that and not sent yet: a batch at most.
    next: VecDeque<EventFrame>,
}

impl Lag {
    pub(super) fn after(conn: ConnId, sent: Cursor, shown: Option<InForce>) -> Self {
        Self {
            conn,
            sent,
            shown,
            past: None,
            next: VecDeque::new(),
        }
    }
}

impl Actor {
    /// Sends an event to who controls the session, unless that one is to acknowledge others first.
    pub(super) fn send_to_controller(&mut self, frame: EventFrame) {
        let Some(client) = self.clients.values().next() else {
            return;
        };
        if self.lag.is_some() {
            return;
        }
        match frame.cursor {
            Some(cursor) if client.acks.is_full(frame.session) => {
                let sent = Cursor(cursor.0.saturating_sub(1));
                self.lag = Some(Lag::after(client.conn, sent, None));
            }
            _ => client.event(frame),
        }
    }

    /// The client that lags, if it is there.
    pub(super) fn lagging(&self) -> Option<&Outlet> {
        self.clients.get(&self.lag.as_ref()?.conn)
    }

    /// Sends what a client lacks as far as its window goes, then what is in flight; from then on it
    /// gets events as they happen.
    pub(super) async fn catch_up(&mut self) {
        loop {
            self.settle().await;
            let Some(client) = self.lagging().cloned() else {
                self.lag = None;
                return;
            };
            let (session, upto) = (self.parts.session, self.core.cursor());
            let Some(lag) = self.lag.as_mut() else { return };
            while let Some(frame) = lag.next.pop_front() {
                if client.queue.is_closed() || client.is_behind(session) {
                    lag.next.push_front(frame);
                    return;
                }
                lag.sent = frame.cursor.unwrap_or(lag.sent);
                client.event(frame);
            }
            let Some((past, _)) = &mut lag.past else {
                if lag.sent >= upto {
                    self.lag = None;
                    let in_flight = self.core.snapshot();
                    return in_flight.into_iter().for_each(|frame| client.event(frame));
                }
                let lease = self.parts.lease.clone();
                let past = Past::read(session, lease, (lag.sent, upto), lag.shown.clone());
                lag.past = Some((past, upto));
                continue;
            };
            if let Some(frames) = past.next().await {
                // Broken places were shown when the log was opened.
                let durable = |frame: &EventFrame| frame.cursor.is_some();
                lag.next.extend(frames.into_iter().filter(durable));
            } else if let Some((past, upto)) = lag.past.take() {
                // Damaged records may have been the last ones.
                lag.sent = lag.sent.max(upto);
                if let Err(error) = past.end().await {
                    return self.left_behind(&client, error.message);
                }
            }
        }
    }

    /// What a client lacks cannot be read: it has to come anew.
    fn left_behind(&mut self, client: &Outlet, message: String) {
        let (newest, session) = (self.core.cursor(), self.parts.session);
        let after = self.lag.as_ref().map_or(Cursor::START, |lag| lag.sent);
        client.error(gap(session, message, Gap { newest, after }));
        let conn = client.conn;
        self.forget(conn);
        self.input(Input::Disconnected { conn });
    }
}
