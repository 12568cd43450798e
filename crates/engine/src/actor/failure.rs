//! When the log fails (LOG-6): nothing that hung on the append is released, the turns that clients
//! know of fail with the reason, and the session goes on from what the log really holds.

use std::collections::BTreeMap;

use sessiond_log::LogError;
use sessiond_protocol::{
    ClosedBecause, Cursor, Event, EventFrame, Receipt, Setup, SubmissionId, TurnEnded, TurnId,
    TurnOutcome, Verdict, WireError,
};

use super::Actor;
use crate::{
    core::{Cause, Core, Effect, Input, REAP_LIMIT},
    drift::Arrival,
    record::log_error,
    recovered::Recovered,
};

impl Actor {
    pub(super) async fn log_failed(&mut self, error: &LogError) {
        tracing::error!(
            code = error.code(),
            "the log failed; its writer is given up"
        );
        let error = log_error(error).about(self.parts.session);
        self.running.drop_agent();
        self.waiters.clear();
        self.running.gone(REAP_LIMIT).await;
        self.writer = None;
        let open = self.core.open_turns().into_iter();
        let mut failed: BTreeMap<TurnId, Option<SubmissionId>> =
            open.map(|turn| (turn, self.core.cause_of(turn))).collect();
        for effect in std::mem::take(&mut self.held)
            .into_iter()
            .flat_map(|held| held.effects)
        {
            match effect {
                Effect::Receipt(conn, Receipt { id, .. }) => {
                    let result = Verdict::Error(error.clone());
                    self.with(conn, |client| client.receipt(Receipt { id, result }));
                }
                Effect::Refused(conn, why) => {
                    self.with(conn, |client| client.refused(Some(self.parts.session), why));
                }
                Effect::RequestClosed(conn, id, why) => {
                    let session = self.parts.session;
                    self.with(conn, |client| client.request_closed(session, id, why));
                }
                Effect::Deliver(EventFrame {
                    event: Event::TurnEnded(_),
                    turn: Some(turn),
                    cause,
                    ..
                }) => {
                    failed.insert(turn, cause);
                }
                // Nothing else may be said: it depends on what was not written.
                Effect::Deliver(_)
                | Effect::Request(..)
                | Effect::StartAgent { .. }
                | Effect::StartCompaction { .. }
                | Effect::Started(..)
                | Effect::StartedWith(..)
                | Effect::Denied(..)
                | Effect::Reply(..)
                | Effect::Steered
                | Effect::Settings
                | Effect::StopCall(_)
                | Effect::Steers(..)
                | Effect::RecordDone(_)
                | Effect::Stop => {}
            }
        }
        for (turn, cause) in failed {
            let frame = turn_failed(self.parts.session, turn, &error);
            self.deliver(EventFrame { cause, ..frame });
        }
        for Cause { conn, id } in self.core.callers() {
            let result = Verdict::Error(error.clone());
            self.with(conn, |client| client.receipt(Receipt { id, result }));
        }
        for request in self.core.open_requests() {
            let session = self.parts.session;
            self.clients.values().for_each(|client| {
                client.request_closed(session, request, ClosedBecause::LogFailed);
            });
        }
        self.start_over().await;
    }

    /// A new core over what the log holds; what is open there is closed by the next append, which
    /// goes to a new segment.
    async fn start_over(&mut self) {
        let lease = self.parts.lease.clone();
        let session = self.parts.session;
        let read = tokio::task::spawn_blocking(move || Recovered::read(session, &lease));
        let Ok(Ok(recovered)) = read.await else {
            tracing::error!("the log cannot be read any more; the session is let go");
            self.stopping = true;
            return;
        };
        self.noting.start_over(recovered.next_seq);
        self.since_checkpoint = recovered.since_checkpoint;
        let (epoch, standing) = (recovered.generation.epoch + 1, recovered.standing);
        if standing.header.is_none() {
            self.stopping = true;
            return;
        }
        let (cwd, info) = (self.parts.surroundings.cwd.clone(), self.parts.info.clone());
        let stands = (self.parts.persistence, epoch, standing);
        let fresh = Core::new(self.parts.session, cwd, info, stands);
        let old = std::mem::replace(&mut self.core, fresh);
        self.core.take_clients_from(old);
        let arrival = Arrival::recovery(self.parts.surroundings.clone());
        self.arrived(arrival, Some(recovered.loaded));
        // What the client gave may not have come to be recorded; what it chose since stays chosen.
        let given = Setup {
            mcp_servers: Vec::new(),
            mode: None,
            options: Vec::new(),
            ..self.parts.setup.clone()
        };
        self.input(Input::Given(Box::new(given)));
        if self.core.is_abandoned() {
            self.stopping = true;
        }
    }
}

fn turn_failed(
    session: sessiond_protocol::SessionId,
    turn: TurnId,
    error: &WireError,
) -> EventFrame {
    let ended = TurnEnded {
        outcome: TurnOutcome::Failed,
        stop: None,
        usage: None,
        bookmark: Cursor::START,
        error: Some(error.clone()),
    };
    EventFrame {
        turn: Some(turn),
        ..EventFrame::new(session, Event::TurnEnded(ended))
    }
}
