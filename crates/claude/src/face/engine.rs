//! The face's end of the waist: it asks for one thing after the other, and keeps what comes
//! meanwhile in order.

use std::collections::VecDeque;

use serde_json::Value;
use sessiond_protocol::{
    Accepted, Answer, Cursor, ErrorCode, Op, Outcome, RequestFrame, ServerFrame, SessionId,
    WireError,
};
use sessiond_wire::Connection;
use sessiond_wire::waist::{Waist, unexpected};

/// The engine, as the face sees it.
#[derive(Debug)]
pub(super) struct Engine {
    waist: Waist,
    /// What came while a receipt was waited for. Bounded by what the engine may send ahead.
    kept: VecDeque<ServerFrame>,
}

impl Engine {
    /// Says hello. The engine records the name with sessions that are made here.
    ///
    /// # Errors
    /// What the engine refuses with, or that it is gone.
    pub(super) async fn greet(connection: Connection) -> Result<Self, WireError> {
        Ok(Self {
            waist: Waist::open(connection, "claude").await?,
            kept: VecDeque::new(),
        })
    }

    /// Submits an op and waits for what its receipt says. What comes before stays in order.
    ///
    /// # Errors
    /// The receipt's, or that the engine is gone.
    pub(super) async fn call(
        &mut self,
        session: Option<SessionId>,
        op: Op,
    ) -> Result<Accepted, WireError> {
        let kept = &mut self.kept;
        let keep = |frame| kept.push_back(frame);
        self.waist.call(session, op, keep).await
    }

    /// One page of a session's durable events, those after a cursor, and the cursor of the next page.
    ///
    /// # Errors
    /// As for [`Engine::call`].
    pub(super) async fn page(
        &mut self,
        session: SessionId,
        after: Cursor,
    ) -> Result<(Vec<Value>, Option<Cursor>), WireError> {
        let op = Op::SessionRead {
            after,
            before: None,
            limit: None,
            extent: Default::default(),
        };
        match self.call(Some(session), op).await? {
            Accepted::Events { events, next } => Ok((events, next)),
            _ => Err(unexpected()),
        }
    }

    /// Answers a request, bound to it (WIRE-8).
    ///
    /// # Errors
    /// The engine is gone.
    pub(super) async fn answer(
        &self,
        request: &RequestFrame,
        outcome: Outcome,
    ) -> Result<(), WireError> {
        let answer = Answer {
            request: request.id,
            digest: request.digest.clone(),
            outcome,
        };
        self.waist.answer(answer).await
    }

    /// What comes next. A wait that is dropped loses nothing.
    ///
    /// # Errors
    /// The engine is gone.
    pub(super) async fn next(&mut self) -> Result<ServerFrame, WireError> {
        match self.kept.pop_front() {
            Some(frame) => Ok(frame),
            None => self.waist.receive().await,
        }
    }

    /// Says goodbye. If the engine is gone there is nobody to tell.
    pub(super) async fn leave(self) {
        self.waist.close().await;
    }
}

/// The engine is gone.
pub(super) fn gone() -> WireError {
    WireError::new(ErrorCode::Internal, "the session runtime is gone")
}
