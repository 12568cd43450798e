//! Who is attached: a controller, viewers, or for a while nobody.

use sessiond_protocol::{ClosedBecause, ErrorCode, OnDisconnect, Queued, RequestKind, WireError};

use super::{ConnId, Core, Stepping, Urgent};

/// The client that controls the session.
#[derive(Debug)]
pub(super) struct Controller {
    pub(super) conn: ConnId,
    answers: Vec<RequestKind>,
    on_disconnect: OnDisconnect,
}

impl Core {
    /// Who may attach as controller: nobody while another connection controls.
    pub(crate) fn controlled_by_other(&self, conn: ConnId) -> bool {
        self.controller
            .as_ref()
            .is_some_and(|controller| controller.conn != conn)
    }

    /// Goes on with the clients of another core, after its log failed.
    pub(crate) fn take_clients_from(&mut self, other: Core) {
        self.controller = other.controller;
        self.viewers = other.viewers;
    }

    /// Whether nobody is attached to the session.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.controller.is_none() && self.viewers.is_empty()
    }

    /// The kinds of request that the controller answers.
    pub(crate) fn answered(&self) -> Vec<RequestKind> {
        let controller = self.controller.as_ref();
        controller.map_or_else(Vec::new, |controller| controller.answers.clone())
    }

    /// Whether somebody answers a kind of request: the controller, or the next one where the last
    /// left the turn to itself.
    pub(super) fn answers(&self, kind: RequestKind) -> bool {
        match &self.controller {
            Some(controller) => controller.answers.contains(&kind),
            None => self.awaited.contains(&kind),
        }
    }
}

impl Stepping<'_> {
    /// Who controls from now on is asked what waits for an answer.
    pub(super) fn attached(
        &mut self,
        conn: ConnId,
        answers: Vec<RequestKind>,
        on_disconnect: OnDisconnect,
    ) {
        self.core.viewers.remove(&conn);
        self.core.awaited.clear();
        self.core.controller = Some(Controller {
            conn,
            answers,
            on_disconnect,
        });
        self.ask_again();
    }

    /// Why a connection may not change anything.
    pub(super) fn only_looks_on(&self, conn: ConnId) -> Option<WireError> {
        let message = "this connection looks on; resume the session with mode control first";
        let looks_on = self.core.viewers.contains(&conn);
        looks_on.then(|| WireError::new(ErrorCode::ViewOnly, message))
    }

    pub(super) fn controller_conn(&self) -> Option<ConnId> {
        self.core
            .controller
            .as_ref()
            .map(|controller| controller.conn)
    }

    pub(super) fn disconnected(&mut self, conn: ConnId) {
        self.caller_gone(conn);
        if self.core.viewers.remove(&conn) {
            return self.stop_if_done();
        }
        if self.controller_conn() != Some(conn) {
            return;
        }
        let Some(controller) = self.core.controller.take() else {
            return;
        };
        match controller.on_disconnect {
            OnDisconnect::Cancel => {
                // For those who look on the session stays open.
                if self.core.viewers.is_empty() {
                    self.step.urgent.push(Urgent::Closing);
                }
                self.interrupt(None, Queued::Cancel);
                // What tidies up a turn that is being stopped is not answered any more either.
                self.settle_all_asks(ClosedBecause::ControllerLeft);
            }
            OnDisconnect::Finish => self.settle_all_asks(ClosedBecause::ControllerLeft),
            OnDisconnect::Detach => {
                let mut awaited = controller.answers;
                awaited.retain(|kind| super::asks::is_question(*kind));
                self.core.awaited = awaited;
                self.leave_asks();
            }
        }
        self.stop_if_done();
    }
}
