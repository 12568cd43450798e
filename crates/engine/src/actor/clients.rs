//! Clients of a session: attach with replay, submissions, answers, and their going.

use sessiond_log::Generation;
use sessiond_protocol::{
    Accepted, AttachMode, ClosedBecause, Cursor, ErrorCode, EventFrame, Loaded, Op, Replay,
    SessionOpened, SubmissionId, Verdict, WireError,
};

use super::{Actor, Attach, Command, being_closed, lag::Lag, not_open, refusal};
use crate::{
    audit::{Action, Decision},
    core::{Cause, ConnId, Digests, Input},
    drift::Arrival,
    outlet::Outlet,
    past::Past,
};

impl Actor {
    pub(super) async fn command(&mut self, command: Command) {
        match command {
            Command::Attach(attach) => self.attach(attach).await,
            Command::Submit {
                outlet,
                id,
                op: Op::SessionDetach {},
            } if self.is_attached(outlet.conn) => self.detach(&outlet, id).await,
            Command::Submit {
                outlet,
                id,
                op:
                    Op::Extension {
                        method,
                        params,
                        answer,
                    },
            } if self.clients.contains_key(&outlet.conn) => {
                self.pass_on((outlet, id), (method, params), answer);
            }
            Command::Submit {
                outlet,
                id,
                op: Op::SessionRewind { to },
            } if self.is_attached(outlet.conn) => self.rewind(&outlet, id, to).await,
            Command::Submit {
                outlet,
                id,
                op: Op::SessionCompact {},
            } if !self.parts.factory.can_compact() => {
                let error = WireError::new(ErrorCode::Unsupported, "the agent cannot compact");
                Self::reject(&outlet, id, error.about(self.parts.session));
            }
            Command::Submit { outlet, id, op } => {
                if self.is_attached(outlet.conn) {
                    self.prepare(&op).await;
                    let cause = Cause {
                        conn: outlet.conn,
                        id,
                    };
                    self.input(Input::Submitted { cause, op });
                } else {
                    Self::reject(&outlet, id, not_open(self.parts.session));
                }
            }
            Command::Call { outlet, id, body } => {
                let conn = outlet.conn;
                self.callers.insert(conn, outlet);
                let cause = Cause { conn, id };
                self.input(Input::Called { cause, body });
            }
            Command::Withdraw(cause) => {
                self.passing.withdraw(&cause);
                self.input(Input::Withdrawn(cause));
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
                self.forget(conn);
                self.input(Input::Disconnected { conn });
            }
        }
    }

    pub(super) fn is_attached(&self, conn: ConnId) -> bool {
        self.clients.contains_key(&conn) || self.viewers.contains_key(&conn)
    }

    /// Reads what the core needs for an operation: the keys for the digest that stands for input.
    async fn prepare(&mut self, op: &Op) {
        let keyed = |op: &Op| match op {
            Op::TurnStart {
                idempotency_key, ..
            } => idempotency_key.is_some(),
            _ => false,
        };
        let Some(ids) = self.core.digest_keys_wanted().filter(|_| keyed(op)) else {
            return;
        };
        let store = self.parts.store.clone();
        let read = tokio::task::spawn_blocking(move || Digests::read(&store, &ids));
        match read.await {
            Ok(Ok(digests)) => self.core.learn(digests),
            // The core refuses what it has no key for.
            Ok(Err(error)) => {
                tracing::warn!(code = error.code(), "the store's keys are unreadable")
            }
            Err(error) => tracing::error!(%error, "reading the store's keys broke down"),
        }
    }

    pub(super) fn forget(&mut self, conn: ConnId) {
        self.clients.remove(&conn);
        self.callers.remove(&conn);
        self.lag.take_if(|lag| lag.conn == conn);
        if let Some(feed) = self.viewers.remove(&conn) {
            feed.stop();
        }
    }

    /// A client leaves and its connection stays. It gets the receipts that it is owed before.
    async fn detach(&mut self, outlet: &Outlet, id: SubmissionId) {
        self.settle().await;
        let conn = outlet.conn;
        self.input(Input::Disconnected { conn });
        self.settle().await;
        self.forget(conn);
        outlet.acks.end(self.parts.session);
        for request in outlet.asked_for(self.parts.session) {
            let why = ClosedBecause::ControllerLeft;
            outlet.request_closed(self.parts.session, request, why);
        }
        outlet.verdict(id, Verdict::Accepted(Accepted::Done {}));
    }

    /// The session begins: its header is the first record.
    pub(crate) fn create(&mut self, attach: Attach, header: SessionOpened) {
        let conn = attach.outlet.conn;
        attach.outlet.acks.begin(self.parts.session, Cursor::START);
        self.clients.insert(conn, attach.outlet);
        let (answers, on_disconnect) = (attach.answers, attach.on_disconnect);
        self.input(Input::Attached {
            conn,
            answers,
            on_disconnect,
        });
        let given = attach.setup.unwrap_or_default();
        self.input(Input::Given(Box::new(given)));
        let cause = Cause {
            conn,
            id: attach.id,
        };
        self.input(Input::Created {
            cause,
            header: Box::new(header),
        });
    }

    /// The session was opened for this client.
    pub(crate) async fn attach_first(
        &mut self,
        attach: Attach,
        (arrival, read): (Arrival, Generation),
    ) {
        if attach.mode == AttachMode::View {
            self.attach_first_viewer(attach, (arrival, read)).await;
            self.stopping |= self.core.is_abandoned();
            return;
        }
        // That it may control the session was decided with its lease.
        let shown = self.show(&attach).await;
        // From the lookup to here the log was held at what was read, or the resume is off.
        let confirmed = self.parts.lease.confirm(&read);
        let admitted = shown.and(confirmed.map_err(|e| refusal(self.parts.session, &e)));
        if admitted.is_err() {
            let decision = Decision::on(self.parts.session, Action::Attach, &admitted);
            decision.written(&self.parts.store).await;
        } else {
            self.arrived(arrival, Some(self.loaded));
            if let Some(given) = attach.setup.clone() {
                self.input(Input::Given(Box::new(given)));
            }
        }
        self.admit(attach, admitted);
        self.stopping = self.core.is_abandoned();
    }

    /// A client has come to the session as it stands in the log.
    pub(super) fn arrived(&mut self, arrival: Arrival, loaded: Option<Loaded>) {
        let arrival = Box::new(arrival);
        self.input(Input::Resumed { arrival, loaded });
    }

    /// Shows a client what was, then what is, and lets it control the session from then on: in one
    /// order, without a gap and without a duplicate (SQEQ-6).
    pub(super) async fn attach(&mut self, attach: Attach) {
        if attach.mode == AttachMode::View {
            return self.attach_viewer(attach).await;
        }
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
        if let Some(feed) = self.viewers.get(&attach.outlet.conn) {
            // Who looked on until now says itself after which event to go on.
            feed.stop();
        }
        self.settle().await;
        if self.core.is_closed() {
            return Err(being_closed(self.parts.session));
        }
        self.replay(attach).await
    }

    /// Lets a client that has been shown everything control the session.
    pub(super) fn admit(&mut self, attach: Attach, shown: Result<(), WireError>) {
        let conn = attach.outlet.conn;
        let lag = self.lag.take_if(|lag| lag.conn == conn);
        if let Err(error) = shown {
            return Self::reject(&attach.outlet, attach.id, error);
        }
        self.forget(conn);
        self.lag = lag;
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
    pub(super) async fn settle(&mut self) {
        while !self.held.is_empty() && !self.stopping {
            let acknowledged = super::front_ticket(&mut self.held).await;
            self.acknowledged(acknowledged).await;
        }
    }

    async fn replay(&mut self, attach: &Attach) -> Result<(), WireError> {
        let (after, upto) = (self.replay_after(attach.replay)?, self.core.cursor());
        attach.outlet.acks.begin(self.parts.session, after);
        self.lag.take_if(|lag| lag.conn == attach.outlet.conn);
        if attach.replay == Replay::None {
            for frame in self.core.in_flight() {
                push(attach, frame).await;
            }
            return Ok(());
        }
        let lease = self.parts.lease.clone();
        let shown = self.shown(attach.replay);
        let mut past = Past::read(self.parts.session, lease, (after, upto), shown);
        while let Some(frames) = past.next().await {
            for frame in frames {
                if frame.cursor.is_some() && attach.outlet.acks.is_full(frame.session) {
                    // The rest follows when it is acknowledged, and waits for nothing else.
                    let sent = attach.outlet.acks.newest_sent(frame.session);
                    let shown = self.shown(attach.replay);
                    self.lag = sent.map(|sent| Lag::after(attach.outlet.conn, sent, shown));
                    return Ok(());
                }
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
    pub(super) fn deliver(&mut self, frame: EventFrame) {
        let newest = self.core.cursor();
        for feed in self.viewers.values() {
            feed.push(frame.clone(), newest);
        }
        self.send_to_controller(frame);
    }
}

/// Replay is bulk: it waits for a reader that is behind, and gives up on one that is gone.
async fn push(attach: &Attach, frame: EventFrame) {
    attach.outlet.queue.ready().await;
    attach.outlet.event(frame);
}
