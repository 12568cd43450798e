//! A program that is talked to line by line: the process, under a guard, and the two ways between it
//! and us. What its lines say is its reader's business.

mod incoming;
mod rpc;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub use incoming::{Incoming, Judged, Weight};
pub use rpc::{RpcOver, RpcProgram, judge_rpc};

use crate::lines::Line;
use crate::process::{AgentCommand, Paced};
use crate::queue::{Coalesce, OutQueue};
use crate::stdio::Encode;

/// Frames that are written with one call.
const WRITE_BATCH: usize = 64;

/// Lines of its stderr that go to the diagnostics; later ones are only counted.
const STDERR_LINES: u64 = 1000;

/// Longest part of a line of its stderr that goes to the diagnostics, in bytes.
const STDERR_BYTES: usize = 500;

/// How long the rest of its stderr is waited for when it has failed.
const COMPLAINTS_LIMIT: Duration = Duration::from_millis(200);

/// What is kept until a process has ended.
type Kept = Arc<Mutex<Vec<Box<dyn Send>>>>;

/// A running program that takes frames `F`. Dropping it ends the process with all that it started.
pub struct Program<F: Coalesce> {
    queue: OutQueue<F>,
    over: Arc<AtomicBool>,
    /// Lines of stderr so far.
    complaints: Arc<AtomicU64>,
    /// What must not end before the process has.
    kept: Kept,
    tasks: [JoinHandle<()>; 2],
    listener: JoinHandle<()>,
}

impl<F: Coalesce> fmt::Debug for Program<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("is_over", &self.is_over())
            .finish_non_exhaustive()
    }
}

impl<F: Coalesce + Encode + Send + 'static> Program<F> {
    /// Starts a program in a directory; `judge` says what its lines are.
    ///
    /// # Errors
    /// Why it could not be started. That the program cannot be run is told by the end of what comes.
    pub fn open<M: Send + 'static>(
        command: &AgentCommand,
        cwd: &Path,
        judge: fn(Line) -> Judged<M>,
    ) -> Result<(Self, mpsc::Receiver<Incoming<M>>), String> {
        let mut child = command.spawn(cwd).map_err(|error| error.to_string())?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("it has no standard streams".to_owned());
        };
        let stdout = Paced::new(stdout).map_err(|error| error.to_string())?;
        let kept = Kept::default();
        child.keep(kept.clone());
        let (queue, complaints) = (OutQueue::new(), Arc::<AtomicU64>::default());
        let (sender, receiver) = incoming::channel();
        let tasks = [
            tokio::spawn(incoming::read(stdout, child, (judge, sender))),
            tokio::spawn(write(stdin, queue.clone())),
        ];
        let listener = tokio::spawn(listen(stderr, complaints.clone()));
        let program = Self {
            queue,
            over: Arc::default(),
            complaints,
            kept,
            tasks,
            listener,
        };
        Ok((program, receiver))
    }
}

impl<F: Coalesce> Program<F> {
    /// The way to it.
    #[must_use]
    pub fn queue(&self) -> &OutQueue<F> {
        &self.queue
    }

    /// Whether the process has ended, or is being ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Something that sees that it has ended.
    #[must_use]
    pub fn over(&self) -> Over<F> {
        Over {
            over: self.over.clone(),
            queue: self.queue.clone(),
        }
    }

    /// How many lines it wrote to its stderr; all of them where it has ended.
    pub async fn complaints(&mut self) -> u64 {
        if !self.listener.is_finished() {
            // Not for ever: it may go on, or something of it may hold the other end.
            let _late = tokio::time::timeout(COMPLAINTS_LIMIT, &mut self.listener).await;
        }
        self.complaints.load(Ordering::Relaxed)
    }

    /// Something that is kept until the process has ended, unless it is released before.
    pub fn keeper(&self, hold: impl Send + 'static) -> Keeper {
        Keeper {
            kept: self.kept.clone(),
            hold: Some(Box::new(hold)),
        }
    }
}

impl<F: Coalesce> Drop for Program<F> {
    fn drop(&mut self) {
        self.over().end();
        // The reader owns the process; with it goes its tree.
        for task in self.tasks.iter().chain([&self.listener]) {
            task.abort();
        }
    }
}

/// The mark that a program has ended.
pub struct Over<F: Coalesce> {
    over: Arc<AtomicBool>,
    queue: OutQueue<F>,
}

impl<F: Coalesce> Clone for Over<F> {
    fn clone(&self) -> Self {
        Self {
            over: self.over.clone(),
            queue: self.queue.clone(),
        }
    }
}

impl<F: Coalesce> fmt::Debug for Over<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Over").field(&self.is_over()).finish()
    }
}

impl<F: Coalesce> Over<F> {
    /// Whether it has.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// It has: nothing more goes to it.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.queue.abandon();
    }
}

/// Keeps something until the process has ended, unless the turn came to its own end (TASK-4).
pub struct Keeper {
    kept: Kept,
    hold: Option<Box<dyn Send>>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeper")
    }
}

impl Keeper {
    /// The turn came to its own end; the process goes on.
    pub fn release(mut self) {
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

async fn write<F: Coalesce + Encode>(mut stdin: ChildStdin, queue: OutQueue<F>) {
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
