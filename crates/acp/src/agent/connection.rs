//! The process of an agent and the two ways between it and us.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sessiond_engine::{AgentError, Hold};
use sessiond_wire::OutQueue;
use sessiond_wire::process::Paced;
use sessiond_wire::rpc::{Peer, RpcFrame};
use sessiond_wire::stdio::Encode;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::command::AgentCommand;
use super::incoming::{self, Incoming};

/// Frames that are written with one call.
const WRITE_BATCH: usize = 64;

/// Lines of its stderr that go to the diagnostics; later ones are only counted.
const STDERR_LINES: u64 = 1000;

/// Longest part of a line of its stderr that goes to the diagnostics, in bytes.
const STDERR_BYTES: usize = 500;

/// How long the rest of its stderr is waited for when it has failed.
const COMPLAINTS_LIMIT: Duration = Duration::from_millis(200);

/// A running agent. Dropping it ends the process with all that it started.
#[derive(Debug)]
pub(super) struct Connection {
    /// Our side of the conversation.
    pub(super) peer: Peer,
    over: Arc<AtomicBool>,
    /// Lines of stderr so far.
    complaints: Arc<AtomicU64>,
    /// What must not end before the process has.
    kept: Arc<Mutex<Vec<Hold>>>,
    tasks: [JoinHandle<()>; 2],
    listener: JoinHandle<()>,
}

impl Connection {
    /// Starts an agent in a directory.
    ///
    /// # Errors
    /// [`AgentError`]: unavailable. That the program cannot be run is told by the end of what comes.
    pub(super) fn open(
        command: &AgentCommand,
        cwd: &Path,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), AgentError> {
        let failed = |why: &str| {
            let name = &command.name;
            AgentError::unavailable(format!("the agent `{name}` could not be started: {why}"))
        };
        let mut child = command
            .spawn(cwd)
            .map_err(|error| failed(&error.to_string()))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no standard streams"));
        };
        let stdout = Paced::new(stdout).map_err(|error| failed(&error.to_string()))?;
        let kept = Arc::<Mutex<Vec<Hold>>>::default();
        child.keep(kept.clone());
        let (queue, complaints) = (OutQueue::new(), Arc::<AtomicU64>::default());
        let (sender, receiver) = incoming::channel();
        let tasks = [
            tokio::spawn(incoming::read(stdout, child, sender)),
            tokio::spawn(write(stdin, queue.clone())),
        ];
        let listener = tokio::spawn(listen(stderr, complaints.clone()));
        let connection = Self {
            peer: Peer::new(queue),
            over: Arc::default(),
            complaints,
            kept,
            tasks,
            listener,
        };
        Ok((connection, receiver))
    }

    /// Whether the process has ended, or is being ended.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Something that sees that it has ended.
    pub(super) fn over(&self) -> Over {
        Over {
            over: self.over.clone(),
            peer: self.peer.clone(),
        }
    }

    /// How many lines it wrote to its stderr; all of them where it has ended.
    pub(super) async fn complaints(&mut self) -> u64 {
        if !self.listener.is_finished() {
            // Not for ever: it may go on, or something of it may hold the other end.
            let _late = tokio::time::timeout(COMPLAINTS_LIMIT, &mut self.listener).await;
        }
        self.complaints.load(Ordering::Relaxed)
    }

    /// Something of a turn that is kept until the process has ended, where the turn is left before.
    pub(super) fn keeper(&self, hold: Hold) -> Keeper {
        Keeper {
            kept: self.kept.clone(),
            hold: Some(hold),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.over().end();
        // The reader owns the process; with it goes its tree.
        for task in self.tasks.iter().chain([&self.listener]) {
            task.abort();
        }
    }
}

/// The mark that an agent's process has ended.
#[derive(Debug, Clone)]
pub(super) struct Over {
    over: Arc<AtomicBool>,
    peer: Peer,
}

impl Over {
    /// Whether it has.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// It has: what it was asked is not answered any more.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.peer.close();
        self.peer.queue().abandon();
    }
}

/// Keeps a turn from ending before the process has, unless the turn came to its own end (TASK-4).
#[derive(Debug)]
pub(super) struct Keeper {
    kept: Arc<Mutex<Vec<Hold>>>,
    hold: Option<Hold>,
}

impl Keeper {
    /// The turn came to its own end; the process goes on.
    pub(super) fn release(mut self) {
        self.hold = None;
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(hold) = self.hold.take() {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(hold);
        }
    }
}

async fn write(mut stdin: ChildStdin, queue: OutQueue<RpcFrame>) {
    let (mut frames, mut bytes) = (Vec::new(), Vec::new());
    while queue.recv_many(&mut frames, WRITE_BATCH).await > 0 {
        for frame in frames.drain(..) {
            frame.encode(&mut bytes);
        }
        // An agent that does not read any more is ending; its stdout says how.
        if stdin.write_all(&bytes).await.is_err() {
            return queue.abandon();
        }
        bytes.clear();
    }
}

/// Takes what the agent writes to its stderr, so that it never waits for that.
async fn listen(stderr: impl AsyncRead + Unpin, complaints: Arc<AtomicU64>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match read_part(&mut stderr, &mut line).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
        if complaints.fetch_add(1, Ordering::Relaxed) < STDERR_LINES {
            tracing::debug!(line = %String::from_utf8_lossy(&line), "an agent's stderr");
        }
    }
}

/// Reads a line, of which [`STDERR_BYTES`] are kept; false at the end.
async fn read_part(
    stderr: &mut BufReader<impl AsyncRead + Unpin>,
    line: &mut Vec<u8>,
) -> std::io::Result<bool> {
    let mut any = false;
    loop {
        let buffer = stderr.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
        let room = STDERR_BYTES.saturating_sub(line.len());
        line.extend(part.iter().take(room));
        let taken = part.len() + usize::from(end.is_some());
        stderr.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}
