//! The life of a connection.

use std::time::Duration;

use sessiond_protocol::{
    ClientFrame, ErrorCode, OnDisconnect, Op, Receipt, ServerFrame, Submission, SubmissionId,
    Verdict, WireError,
};
use sessiond_wire::{Connection, Line, OutQueue};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::error::FaceError;
use crate::intake::{Inbound, read};
use crate::submissions::{Known, Submissions};
use crate::validate::refusal;

/// Lines that are taken up while the client leaves its output full: an interrupt may be among them,
/// and stop what fills it. Each makes at most one frame.
const LINES_WHILE_FULL: u32 = 16;

/// Frames of the engine that are passed on together, so that they are written together: the queue to
/// the client has room for so many beyond where this face waits for it.
const BATCH: usize = 128;

/// How long what was submitted before the end may take to get its receipt: mostly one fsync, for a
/// close the grace of a turn that is cancelled too. More would keep a process whose client has gone
/// (WIRE-13).
const RECEIPTS: Duration = Duration::from_millis(1500);

/// How a connection ended well: the client said `bye`, or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// What the client wanted of running turns when it goes. Not [`OnDisconnect::Cancel`] if it said
    /// so of any session: the engine has work then.
    pub wish: OnDisconnect,
}

/// Serves one client until it is gone: `lines` is what it sends, `out` what it is sent.
///
/// When `lines` ends, the client says `bye`, or a line cannot be the protocol, what was submitted
/// before still gets its receipts; then the engine is told that the client is gone. What was pushed
/// to `out` may still have to be written; closing it, after a last `bye` frame, is the caller's.
/// When `out` is closed because nobody reads it, nothing more is sent (WIRE-13).
///
/// # Errors
/// [`FaceError::Fatal`] when the connection was ended with a fatal error frame, which is the last in
/// `out`; [`FaceError::EngineGone`] when the engine is.
pub async fn serve(
    mut lines: mpsc::Receiver<Line>,
    out: OutQueue<ServerFrame>,
    waist: Connection,
) -> Result<Served, FaceError> {
    let mut face = Face {
        out,
        waist,
        submissions: Submissions::default(),
        greeting: Greeting::Awaited,
        wish: OnDisconnect::Cancel,
    };
    let ended = face.run(&mut lines).await;
    // What is not read any more must not keep the thread that reads it.
    drop(lines);
    let ended = match ended {
        Ok(()) => face.settle().await,
        Err(End::Broken(error)) => face.settle().await.and_then(|()| {
            let fatal = ServerFrame::Error {
                error: error.clone(),
                fatal: true,
            };
            face.out.push(fatal);
            Err(FaceError::Fatal(error))
        }),
        Err(End::Engine(FaceError::EngineGone)) => {
            let message = "the session runtime is gone";
            let error = WireError::new(ErrorCode::Internal, message);
            face.out.push(ServerFrame::Error { error, fatal: true });
            Err(FaceError::EngineGone)
        }
        Err(End::Engine(error)) => Err(error),
    };
    // If the engine is gone too there is nobody to tell.
    let _gone = face.waist.send(ClientFrame::Bye {}).await;
    ended.map(|()| Served { wish: face.wish })
}

/// Why a connection ends otherwise than by the client's going.
enum End {
    /// A line that cannot be the protocol.
    Broken(WireError),
    /// The engine ended it.
    Engine(FaceError),
}

impl<E: Into<FaceError>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Engine(error.into())
    }
}

/// Whether the client said hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Greeting {
    Awaited,
    Said,
}

/// Whether the client stays after a frame of its.
#[derive(Debug, PartialEq, Eq)]
enum Client {
    Stays,
    Leaves,
}

struct Face {
    out: OutQueue<ServerFrame>,
    waist: Connection,
    submissions: Submissions,
    greeting: Greeting,
    wish: OnDisconnect,
}

impl Face {
    async fn run(&mut self, lines: &mut mpsc::Receiver<Line>) -> Result<(), End> {
        let mut lines_left = LINES_WHILE_FULL;
        let mut frames = Vec::with_capacity(BATCH);
        loop {
            let is_full = self.out.is_full();
            if !is_full {
                lines_left = LINES_WHILE_FULL;
            }
            let listens = lines_left > 0 && self.submissions.has_room();
            tokio::select! {
                () = self.out.closed() => return Ok(()),
                count = self.waist.recv_many(&mut frames, BATCH), if !is_full => {
                    if count == 0 {
                        return Err(FaceError::EngineGone.into());
                    }
                    let out = self.out.clone();
                    let _together = out.batch();
                    frames.drain(..).try_for_each(|frame| self.forward(frame))?;
                }
                line = next_line(&self.waist, lines), if listens => {
                    let Some(line) = line else { return Ok(()) };
                    lines_left = lines_left.saturating_sub(1);
                    if self.line(line).await? == Client::Leaves {
                        return Ok(());
                    }
                }
                () = self.out.ready(), if is_full => {}
            }
        }
    }

    /// Takes in a line of the client.
    async fn line(&mut self, line: Line) -> Result<Client, End> {
        let frame = match read(line) {
            Inbound::Frame(frame) => frame,
            Inbound::Refused { id, error } => {
                self.refuse(id, error);
                return Ok(Client::Stays);
            }
            Inbound::Broken(error) => return Err(End::Broken(error)),
        };
        match &frame {
            ClientFrame::Bye {} => return Ok(Client::Leaves),
            ClientFrame::Hello(_) if self.greeting == Greeting::Said => {
                self.error(refusal(ErrorCode::Invalid, "hello is said once", "/type"));
                return Ok(Client::Stays);
            }
            ClientFrame::Hello(_) => self.greeting = Greeting::Said,
            _ if self.greeting == Greeting::Awaited => {
                self.error(refusal(ErrorCode::Protocol, "say hello first", "/type"));
                return Ok(Client::Stays);
            }
            ClientFrame::Submission(submission) => {
                if self.submissions.begin(&submission.id) == Err(Known) {
                    self.error(used_id());
                    return Ok(Client::Stays);
                }
                self.note_wish(submission);
            }
            ClientFrame::Answer(_) | ClientFrame::Withdraw { .. } | ClientFrame::Ack { .. } => {}
        }
        self.waist.send(frame).await?;
        Ok(Client::Stays)
    }

    /// Answers what is no frame: a submission by its receipt, anything else by an error.
    fn refuse(&mut self, id: Option<SubmissionId>, error: WireError) {
        let submission = id.filter(|_| self.greeting == Greeting::Said);
        let Some(id) = submission else {
            return self.error(error);
        };
        if self.submissions.begin(&id) == Err(Known) {
            return self.error(used_id());
        }
        self.submissions.answer(&id);
        let result = Verdict::Error(error);
        self.out.push(ServerFrame::Receipt(Receipt { id, result }));
    }

    fn error(&self, error: WireError) {
        let fatal = false;
        self.out.push(ServerFrame::Error { error, fatal });
    }

    fn note_wish(&mut self, submission: &Submission) {
        let said = match &submission.op {
            Op::SessionNew(new) => new.on_disconnect,
            Op::SessionResume(resume) => resume.on_disconnect,
            _ => return,
        };
        if said != OnDisconnect::Cancel {
            self.wish = said;
        }
    }

    /// Passes a frame of the engine on.
    ///
    /// # Errors
    /// The fatal error that it is: it was passed on too.
    fn forward(&mut self, frame: ServerFrame) -> Result<(), FaceError> {
        if let ServerFrame::Receipt(receipt) = &frame {
            self.submissions.answer(&receipt.id);
        }
        let fatal = match &frame {
            ServerFrame::Error { error, fatal: true } => Some(error.clone()),
            _ => None,
        };
        self.out.push(frame);
        fatal.map_or(Ok(()), |error| Err(FaceError::Fatal(error)))
    }

    /// Waits until what was submitted has its receipts, at most for [`RECEIPTS`].
    async fn settle(&mut self) -> Result<(), FaceError> {
        let end = Instant::now() + RECEIPTS;
        while !self.submissions.all_answered() && !self.out.is_closed() {
            match timeout_at(end, self.next_frame()).await {
                Ok(Some(frame)) => self.forward(frame)?,
                Ok(None) => return Err(FaceError::EngineGone),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// The engine's next frame, once there is room for it.
    async fn next_frame(&self) -> Option<ServerFrame> {
        self.out.ready().await;
        self.waist.recv().await
    }
}

/// The client's next line, once the engine can take a frame: no frame of the engine ever waits for
/// one of the client. A wait that is dropped loses nothing.
async fn next_line(waist: &Connection, lines: &mut mpsc::Receiver<Line>) -> Option<Line> {
    if waist.writable().await.is_err() {
        // The end is told by what is received.
        std::future::pending::<()>().await;
    }
    lines.recv().await
}

fn used_id() -> WireError {
    let message = "the id of another submission of this connection; this one was not taken";
    refusal(ErrorCode::Invalid, message, "/id")
}
