//! The face's end of the waist: it asks for one thing after the other, and keeps what comes
//! meanwhile in order.

use std::collections::VecDeque;

use sessiond_protocol::{
    Accepted, Answer, ClientFrame, ErrorCode, Hello, Op, Outcome, Party, Receipt, RequestFrame,
    ServerFrame, SessionId, Submission, SubmissionId, VERSION, Verdict, WireError,
};
use sessiond_wire::Connection;

/// Frames of the engine that are taken up together, so that they are written together.
const BATCH: usize = 64;

/// The engine, as the face sees it.
#[derive(Debug)]
pub(super) struct Engine {
    connection: Connection,
    submitted: u64,
    /// What came while a receipt was waited for. Bounded by what the engine may send ahead.
    kept: VecDeque<ServerFrame>,
}

impl Engine {
    /// Says hello. The engine records the name with sessions that are made here.
    ///
    /// # Errors
    /// What the engine refuses with, or that it is gone.
    pub(super) async fn greet(connection: Connection) -> Result<Self, WireError> {
        let mut engine = Self {
            connection,
            submitted: 0,
            kept: VecDeque::new(),
        };
        let client = Party {
            name: "claude".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let hello = Hello {
            versions: vec![VERSION],
            client,
            ack: false,
        };
        engine.send(ClientFrame::Hello(hello)).await?;
        match engine.next().await {
            Some(ServerFrame::Welcome(_)) => Ok(engine),
            Some(ServerFrame::Error { error, .. }) => Err(error),
            _ => Err(gone()),
        }
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
        self.submitted += 1;
        let id = SubmissionId::try_from(format!("c{}", self.submitted))
            .map_err(|error| WireError::new(ErrorCode::Internal, error.to_string()))?;
        let submission = Submission {
            id: id.clone(),
            session,
            op,
        };
        self.send(ClientFrame::Submission(submission)).await?;
        loop {
            match self.connection.recv().await.ok_or_else(gone)? {
                ServerFrame::Receipt(Receipt { id: of, result }) if of == id => {
                    return match result {
                        Verdict::Accepted(accepted) => Ok(accepted),
                        Verdict::Error(error) => Err(error),
                    };
                }
                frame => self.kept.push_back(frame),
            }
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
        self.send(ClientFrame::Answer(answer)).await
    }

    /// What comes next; nothing where the engine is gone. A wait that is dropped loses nothing.
    pub(super) async fn next(&mut self) -> Option<ServerFrame> {
        match self.kept.pop_front() {
            Some(frame) => Some(frame),
            None => self.connection.recv().await,
        }
    }

    /// What comes next, several frames of it; none where the engine is gone. A wait that is dropped
    /// loses nothing.
    pub(super) async fn next_some(&mut self, into: &mut Vec<ServerFrame>) {
        if self.kept.is_empty() {
            self.connection.recv_many(into, BATCH).await;
        } else {
            into.extend(self.kept.drain(..));
        }
    }

    /// Says goodbye. If the engine is gone there is nobody to tell.
    pub(super) async fn leave(&self) {
        let _gone = self.send(ClientFrame::Bye {}).await;
    }

    async fn send(&self, frame: ClientFrame) -> Result<(), WireError> {
        self.connection.send(frame).await.map_err(|_| gone())
    }
}

/// The engine is gone.
pub(super) fn gone() -> WireError {
    WireError::new(ErrorCode::Internal, "the session runtime is gone")
}

/// A receipt holds something else than its op is answered with.
pub(super) fn unexpected() -> WireError {
    let message = "the engine's receipt is of another kind";
    WireError::new(ErrorCode::Protocol, message)
}
