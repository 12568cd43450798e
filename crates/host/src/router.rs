//! One connection whose sessions are here or with other processes.
//!
//! All goes to the local engine first. What that refuses because another process holds the session
//! goes to this process, if it can be reached in time; from then on all about the session does
//! (contract.md, "the second process relays to it").

mod remote;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use sessiond_engine::Engine;
use sessiond_protocol::{
    Accepted, Answer, ClientFrame, ErrorCode, FoundBy, Hello, Op, Receipt, RequestId, ServerFrame,
    SessionId, Submission, SubmissionId, Verdict, WireError,
};
use sessiond_wire::{Connection, ServerEnd, pair};
use tokio::sync::mpsc;

use remote::{Remote, Said};

/// How long a holder may take to answer a hello; after that its session is busy.
const REACH_LIMIT: Duration = Duration::from_secs(2);

/// Frames of holders that wait to be passed on: the reader's own queue is the real buffer.
const AHEAD: usize = 16;

/// Frames of the engine here that are passed on together: the queue to the client has room for so
/// many beyond where this router waits for it.
const BATCH: usize = 128;

/// Who holds sessions that are not here.
pub trait Holders: Send + Sync + 'static {
    /// The socket of the process that holds a session, when it is another one of this machine that
    /// takes clients. Blocks: it looks into the store.
    fn endpoint(&self, session: SessionId) -> Option<PathBuf>;
}

impl Holders for Engine {
    fn endpoint(&self, session: SessionId) -> Option<PathBuf> {
        self.endpoint_of(session)
    }
}

/// A connection to the engine behind `local` and to the processes that hold what it does not.
#[must_use]
pub fn route(local: Connection, holders: impl Holders) -> Connection {
    let (client, server) = pair();
    let (said, heard) = mpsc::channel(AHEAD);
    let router = Router {
        local,
        server,
        holders: std::sync::Arc::new(holders),
        hello: None,
        remotes: HashMap::new(),
        sessions: HashMap::new(),
        requests: HashMap::new(),
        pending: HashMap::new(),
        submitted: 0,
        said,
    };
    tokio::spawn(router.run(heard));
    client
}

/// A submission whose receipt is awaited.
struct Pending {
    /// Receipts that the router itself gives come in the order of their submissions.
    number: u64,
    /// Where it was sent: to the holder at this socket, or to the engine here.
    at: Option<PathBuf>,
    /// What it was, if it can be sent again to a holder: no turn is, only what finds a session.
    again: Option<Submission>,
}

struct Router<H> {
    local: Connection,
    server: ServerEnd,
    holders: std::sync::Arc<H>,
    /// What the client said first, to be said to holders as well.
    hello: Option<Hello>,
    remotes: HashMap<PathBuf, Remote>,
    /// Which holder has which session.
    sessions: HashMap<SessionId, PathBuf>,
    /// Which holder asked what.
    requests: HashMap<RequestId, PathBuf>,
    pending: HashMap<SubmissionId, Pending>,
    submitted: u64,
    said: mpsc::Sender<Said>,
}

/// Whether the connection goes on.
#[derive(Debug, PartialEq, Eq)]
enum Life {
    On,
    Over,
}

impl<H: Holders> Router<H> {
    async fn run(mut self, mut heard: mpsc::Receiver<Said>) {
        let out = self.server.out.clone();
        let mut frames = Vec::with_capacity(BATCH);
        loop {
            let is_full = out.is_full();
            let life = tokio::select! {
                frame = self.server.recv() => match frame {
                    Some(frame) => self.client(frame).await,
                    None => Life::Over,
                },
                count = self.local.recv_many(&mut frames, BATCH), if !is_full => match count {
                    0 => Life::Over,
                    _ => self.here(&mut frames).await,
                },
                // The router holds a sender: the channel does not end.
                Some(said) = heard.recv(), if !is_full => {
                    self.there(said);
                    Life::On
                }
                () = out.ready(), if is_full => Life::On,
                () = out.closed() => Life::Over,
            };
            if life == Life::Over {
                // Dropping the connections tells all of them that the client is gone.
                return;
            }
        }
    }

    /// A frame of the client, to where it belongs.
    async fn client(&mut self, frame: ClientFrame) -> Life {
        let at = match &frame {
            ClientFrame::Hello(hello) => {
                self.hello = Some(hello.clone());
                None
            }
            ClientFrame::Submission(submission) => {
                let session = named(submission);
                let at = session.and_then(|session| self.sessions.get(&session).cloned());
                let again = may_be_sent_again(&submission.op).then(|| submission.clone());
                self.await_receipt(submission.id.clone(), at.clone(), again);
                at
            }
            ClientFrame::Answer(Answer { request, .. }) => self.requests.get(request).cloned(),
            ClientFrame::Ack { session, .. } => self.sessions.get(session).cloned(),
            // Wherever it may wait; the others pass it over.
            ClientFrame::Withdraw { .. } => {
                for at in self.remotes.keys().cloned().collect::<Vec<_>>() {
                    self.send_there(&at, frame.clone());
                }
                None
            }
            ClientFrame::Bye {} => None,
        };
        match at.filter(|at| self.remotes.contains_key(at)) {
            Some(at) => self.send_there(&at, frame),
            None if self.local.send(frame).await.is_err() => return Life::Over,
            None => {}
        }
        Life::On
    }

    /// Sends a frame to a holder. One that is stuck is left: what it was asked gets an answer.
    fn send_there(&mut self, at: &PathBuf, frame: ClientFrame) {
        let sent = self.remotes.get(at).map(|remote| remote.send(frame));
        if let Some(Err(_gone)) = sent {
            tracing::warn!("a holder does not take what it is sent; it is left");
            self.lost(at);
        }
    }

    /// Frames of the engine here.
    async fn here(&mut self, frames: &mut Vec<ServerFrame>) -> Life {
        for frame in frames.drain(..) {
            if let ServerFrame::Receipt(receipt) = &frame {
                let pending = self.pending.remove(&receipt.id);
                if is_held(receipt)
                    && let Some(submission) = pending.and_then(|pending| pending.again)
                    && self.hand_over(submission).await
                {
                    continue;
                }
            }
            self.server.out.push(frame);
        }
        Life::On
    }

    /// Sends a submission to the process that holds its session; whether there is such a process.
    async fn hand_over(&mut self, mut submission: Submission) -> bool {
        let Some(session) = named(&submission) else {
            return false;
        };
        let holders = std::sync::Arc::clone(&self.holders);
        let found = tokio::task::spawn_blocking(move || holders.endpoint(session)).await;
        let (Ok(Some(path)), Some(hello)) = (found, self.hello.clone()) else {
            return false;
        };
        if !self.remotes.contains_key(&path) {
            let reached = Remote::reach(&path, hello, self.said.clone());
            let reached = tokio::time::timeout(REACH_LIMIT, reached).await;
            match reached {
                Ok(Ok(remote)) => self.remotes.insert(path.clone(), remote),
                Ok(Err(error)) => {
                    tracing::info!(kind = ?error.kind(), "a holder could not be reached");
                    return false;
                }
                Err(_) => {
                    tracing::info!("a holder did not answer in time");
                    return false;
                }
            };
        }
        let id = submission.id.clone();
        if let Op::SessionResume(resume) = &mut submission.op {
            resume.found_by = FoundBy::Relay;
        }
        self.await_receipt(id, Some(path.clone()), None);
        self.send_there(&path, ClientFrame::Submission(submission));
        true
    }

    fn await_receipt(&mut self, id: SubmissionId, at: Option<PathBuf>, again: Option<Submission>) {
        let number = self.submitted;
        self.submitted += 1;
        self.pending.insert(id, Pending { number, at, again });
    }

    /// Something a holder said, or its end.
    fn there(&mut self, said: Said) {
        let Said { from, frame } = said;
        let Some(frame) = frame else {
            return self.lost(&from);
        };
        match &frame {
            ServerFrame::Welcome(_) | ServerFrame::Bye {} => return,
            ServerFrame::Receipt(receipt) => {
                self.pending.remove(&receipt.id);
                if let Verdict::Accepted(Accepted::Session(view)) = &receipt.result {
                    self.sessions.insert(view.session, from);
                }
            }
            ServerFrame::Request(request) => {
                self.requests.insert(request.id, from);
            }
            ServerFrame::RequestClosed { id, .. } => {
                self.requests.remove(id);
            }
            // Its end follows; what the client is told then names its sessions.
            ServerFrame::Error { fatal: true, .. } => return,
            ServerFrame::Error { .. } | ServerFrame::Event(_) => {}
        }
        self.server.out.push(frame);
    }

    /// A holder is gone: what it was asked gets an answer, and its sessions are for anyone to resume.
    fn lost(&mut self, from: &PathBuf) {
        self.remotes.remove(from);
        self.requests.retain(|_, at| at != from);
        let gone = |session: Option<SessionId>| {
            let message = "the process that held the session is gone; resume it again";
            let error = WireError::new(ErrorCode::LeaseLost, message);
            match session {
                Some(session) => error.about(session),
                None => error,
            }
        };
        let open = self.pending.extract_if(|_, p| p.at.as_ref() == Some(from));
        let mut open: Vec<_> = open.map(|(id, pending)| (pending.number, id)).collect();
        open.sort_unstable_by_key(|(number, _)| *number);
        for (_, id) in open {
            let result = Verdict::Error(gone(None));
            self.server
                .out
                .push(ServerFrame::Receipt(Receipt { id, result }));
        }
        for (session, _) in self.sessions.extract_if(|_, at| at == from) {
            let (error, fatal) = (gone(Some(session)), false);
            self.server.out.push(ServerFrame::Error { error, fatal });
        }
    }
}

/// The session that a submission is about. What is about the store or the process is for the engine
/// here, whatever session it names: a holder would take its client for the user itself (SEC-4).
fn named(submission: &Submission) -> Option<SessionId> {
    match &submission.op {
        Op::SessionResume(resume) => Some(resume.session),
        Op::SessionNew(_)
        | Op::SessionList(_)
        | Op::SessionImport { .. }
        | Op::AgentOptions { .. }
        | Op::Shutdown {} => None,
        _ => submission.session,
    }
}

/// Whether an operation may be sent to a holder after it was refused here: nothing of it was done.
/// What goes to a session that is attached is not refused for its lease.
fn may_be_sent_again(op: &Op) -> bool {
    !matches!(
        op,
        Op::TurnStart { .. } | Op::SessionList(_) | Op::SessionNew(_) | Op::SessionRead { .. }
    )
}

/// Whether a receipt says that another process has the session.
fn is_held(receipt: &Receipt) -> bool {
    matches!(&receipt.result, Verdict::Error(error) if error.code == ErrorCode::Busy && error.holder.is_some())
}
