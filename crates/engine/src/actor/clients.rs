//! Clients of a session: attach with replay, submissions, answers, and their going.

use sessiond_protocol::{Accepted, ErrorCode, EventFrame, Replay, Verdict, WireError};

use super::{Actor, Attach, Command, not_open};
use crate::{
    audit::{Action, Decision},
    core::{Cause, Input},
    drift::Arrival,
    past::Past,
};

impl Actor {
    pub(super) async fn command(&mut self, command: Command) {
        match command {
            Command::Attach(attach) => self.attach(attach).await,
            Command::Submit { outlet, id, op } => {
                if self.clients.contains_key(&outlet.conn) {
                    let cause = Cause {
                        conn: outlet.conn,
                        id,
                    };
                    self.input(Input::Submitted { cause, op });
                } else {
                    Self::reject(&outlet, id, not_open(self.parts.session));
                }
            }
            Command::Answer {
                outlet,
                request,
                digest,
                outcome,
            } => {
                self.input(Input::Answered {
                    conn: outlet.conn,
                    request,
                    digest,
                    outcome,
                });
            }
            Command::Lend(borrower) => {
                // Who no longer waits for it has given up the fork.
                let _gone = borrower.send(self.parts.lease.clone());
            }
            Command::Disconnect(conn) => {
                self.clients.remove(&conn);
                self.input(Input::Disconnected { conn });
            }
        }
    }

    /// Shows a client what was, then what is, and lets it control the session from then on: in one
    /// order, without a gap and without a duplicate (SQEQ-6).
    pub(super) async fn attach(&mut self, attach: Attach) {
        let shown = self.show(&attach).await;
        let decision = Decision::on(self.parts.session, Action::Attach, &shown);
        decision.written(&self.parts.store).await;
        if shown.is_ok() {
            let surroundings = self.parts.surroundings.clone();
            self.arrived(Arrival::again(surroundings, attach.found_by), None);
        }
        self.admit(attach, shown);
    }

    /// Shows a client what was and what is. Nothing happens to the session until it is admitted.
    pub(super) async fn show(&mut self, attach: &Attach) -> Result<(), WireError> {
        if self.core.controlled_by_other(attach.outlet.conn) {
            let message = "another client of this process controls the session";
            let mut error = WireError::new(ErrorCode::Busy, message).about(self.parts.session);
            let host = sessiond_log::Owner::current();
            error.holder = Some(sessiond_protocol::Holder {
                pid: host.pid,
                host: host.host,
            });
            return Err(error);
        }
        self.settle().await;
        if self.core.is_closed() {
            let message = "the session is being closed; try again";
            return Err(WireError::new(ErrorCode::Busy, message).about(self.parts.session));
        }
        self.replay(attach).await
    }

    /// Lets a client that has been shown everything control the session.
    pub(super) fn admit(&mut self, attach: Attach, shown: Result<(), WireError>) {
        if let Err(error) = shown {
            return Self::reject(&attach.outlet, attach.id, error);
        }
        let conn = attach.outlet.conn;
        let view = Accepted::Session(Box::new(self.core.view()));
        attach.outlet.verdict(attach.id, Verdict::Accepted(view));
        self.clients.insert(conn, attach.outlet);
        let (answers, on_disconnect) = (attach.answers, attach.on_disconnect);
        self.input(Input::Attached {
            conn,
            answers,
            on_disconnect,
        });
    }

    /// Waits until all that was recorded is in the log and all that hung on it is released.
    async fn settle(&mut self) {
        while !self.held.is_empty() && !self.stopping {
            let acknowledged = super::front_ticket(&mut self.held).await;
            self.acknowledged(acknowledged).await;
        }
    }

    async fn replay(&mut self, attach: &Attach) -> Result<(), WireError> {
        let after = match attach.replay {
            Replay::None => return Ok(()),
            Replay::All => self.core.before_base(),
            Replay::After(cursor) => cursor,
        };
        let session = self.parts.session;
        if after > self.core.cursor() {
            let message = format!("the newest event has cursor {}", self.core.cursor());
            return Err(WireError::new(ErrorCode::Invalid, message).about(session));
        }
        let mut past = Past::read(session, self.parts.lease.clone(), after);
        while let Some(frames) = past.next().await {
            for frame in frames {
                push(attach, frame).await;
            }
        }
        past.end().await?;
        for frame in self.core.snapshot() {
            push(attach, frame).await;
        }
        Ok(())
    }

    /// Sends an event to every client of the session.
    pub(super) fn deliver(&self, frame: EventFrame) {
        let mut clients = self.clients.values();
        let Some(last) = clients.next() else { return };
        clients.for_each(|client| client.event(frame.clone()));
        last.event(frame);
    }
}

/// Replay is bulk: it waits for a reader that is behind, and gives up on one that is gone.
async fn push(attach: &Attach, frame: EventFrame) {
    let queue = &attach.outlet.queue;
    if queue.is_full() {
        tokio::select! {
            () = queue.ready() => {}
            () = queue.closed() => return,
        }
    }
    attach.outlet.event(frame);
}
