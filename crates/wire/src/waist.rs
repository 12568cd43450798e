//! A small client of the waist, for what waits for one receipt after the other. A face that must
//! never wait has [`Submissions`](crate::Submissions).

use sessiond_protocol::{
    Accepted, Answer, ClientFrame, ErrorCode, Hello, Op, Party, Receipt, ServerFrame, SessionId,
    SessionList, Submission, SubmissionId, Summary, VERSION, Verdict, WireError,
};

use crate::Connection;

/// A connection that has been greeted.
#[derive(Debug)]
pub struct Waist {
    connection: Connection,
    submitted: u64,
}

impl Waist {
    /// Says hello. `face` is what sessions made here record as their source.
    ///
    /// # Errors
    /// What the engine refuses with; internal where it is gone.
    pub async fn open(connection: Connection, face: &str) -> Result<Waist, WireError> {
        let client = Party {
            name: face.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let waist = Waist {
            connection,
            submitted: 0,
        };
        waist
            .send(ClientFrame::Hello(Hello {
                versions: vec![VERSION],
                client,
                ack: false,
            }))
            .await?;
        match waist.receive().await? {
            ServerFrame::Welcome(_) => Ok(waist),
            ServerFrame::Error { error, .. } => Err(error),
            _ => Err(WireError::new(
                ErrorCode::Protocol,
                "the engine did not say welcome",
            )),
        }
    }

    /// Submits an op and waits for its receipt; what comes before it goes to `other`.
    ///
    /// # Errors
    /// The receipt's; internal where the engine is gone.
    pub async fn call(
        &mut self,
        session: Option<SessionId>,
        op: Op,
        mut other: impl FnMut(ServerFrame),
    ) -> Result<Accepted, WireError> {
        let submission = self.submit(session, op).await?;
        loop {
            match self.receive().await? {
                ServerFrame::Receipt(Receipt { id, result }) if id == submission => {
                    return match result {
                        Verdict::Accepted(accepted) => Ok(accepted),
                        Verdict::Error(error) => Err(error),
                    };
                }
                frame => other(frame),
            }
        }
    }

    /// All sessions that pass the filters of `list`, newest first: one page after the other.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn list(&mut self, mut list: SessionList) -> Result<Vec<Summary>, WireError> {
        let mut summaries = Vec::new();
        loop {
            let op = Op::SessionList(list.clone());
            let Accepted::Sessions { sessions, next } = self.call(None, op, drop).await? else {
                return Err(unexpected());
            };
            summaries.extend(sessions);
            list.after = next;
            if list.after.is_none() {
                return Ok(summaries);
            }
        }
    }

    /// Submits an op; its receipt comes among the other frames.
    ///
    /// # Errors
    /// Internal where the engine is gone.
    pub async fn submit(
        &mut self,
        session: Option<SessionId>,
        op: Op,
    ) -> Result<SubmissionId, WireError> {
        self.submitted += 1;
        let id = SubmissionId::try_from(format!("s{}", self.submitted))
            .map_err(|error| WireError::new(ErrorCode::Internal, error.to_string()))?;
        self.send(ClientFrame::Submission(Submission {
            id: id.clone(),
            session,
            op,
        }))
        .await?;
        Ok(id)
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Internal where the engine is gone.
    pub async fn answer(&self, answer: Answer) -> Result<(), WireError> {
        self.send(ClientFrame::Answer(answer)).await
    }

    /// The next frame. A wait that is dropped loses nothing.
    ///
    /// # Errors
    /// Internal where the engine has ended the connection.
    pub async fn receive(&self) -> Result<ServerFrame, WireError> {
        self.connection.recv().await.ok_or_else(gone)
    }

    /// Says goodbye.
    pub async fn close(self) {
        let _gone_already = self.send(ClientFrame::Bye {}).await;
    }

    async fn send(&self, frame: ClientFrame) -> Result<(), WireError> {
        self.connection.send(frame).await.map_err(|_| gone())
    }
}

fn gone() -> WireError {
    WireError::new(ErrorCode::Internal, "the engine ended the connection")
}

/// What a receipt holds is not what this op is answered with.
pub fn unexpected() -> WireError {
    WireError::new(
        ErrorCode::Protocol,
        "the engine's receipt is of another kind",
    )
}
