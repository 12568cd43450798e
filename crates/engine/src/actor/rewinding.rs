//! Going back in the conversation: the log says to where that is possible.

use sessiond_protocol::{Course, Cursor, ErrorCode, SubmissionId, WireError};

use super::{Actor, refusal};
use crate::{
    catalog::course,
    core::{Cause, Input},
    outlet::Outlet,
};

impl Actor {
    /// Reads the course of the log, where the core would listen to it, and lets the core decide.
    /// No turn runs meanwhile, so there is nothing else to be done.
    pub(super) async fn rewind(&mut self, outlet: &Outlet, id: SubmissionId, to: Cursor) {
        self.settle().await;
        let (session, conn) = (self.parts.session, outlet.conn);
        let mut known = Course::default();
        if self.core.is_changeable_by(conn) {
            let lease = self.parts.lease.clone();
            let read = tokio::task::spawn_blocking(move || course(session, &lease)).await;
            let read = match read {
                Ok(read) => read.map_err(|error| refusal(session, &error)),
                Err(_) => {
                    let message = "reading the log broke down";
                    Err(WireError::new(ErrorCode::Internal, message))
                }
            };
            match read {
                Ok(course) => known = course,
                Err(error) => return Self::reject(outlet, id, error),
            }
        }
        self.input(Input::Rewind {
            cause: Cause { conn, id },
            to,
            course: Box::new(known),
        });
    }
}
