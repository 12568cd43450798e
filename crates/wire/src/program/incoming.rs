//! What comes from a program: its lines, judged, and how its stream ends (WIRE-14).

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::lines::{AsyncLines, DEFAULT_LINE_LIMIT, Line};
use crate::process::{ExitStatus, Supervised};

/// Whole bad lines that are tolerated without a good one between them (WIRE-14).
const BAD_LINES: u32 = 16;

/// How many messages a program may be ahead of its reader: a burst costs few wake-ups, and the rest
/// waits in the program's pipe.
const AHEAD: usize = 128;

/// Lines up to this length, in bytes, are not weighed: [`AHEAD`] of them are little.
const LIGHT: usize = 16 * 1024;

/// What heavier lines that wait may weigh together, in KiB: one of the longest kind.
const HEAVY_KIB: usize = DEFAULT_LINE_LIMIT / 1024;

/// How long a program that has closed its stdout has to end by itself.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

/// What comes from a program, in the order in which it wrote it.
#[derive(Debug)]
pub enum Incoming<M> {
    /// A message.
    Message(M, Weight),
    /// A line that is none, the first after a good one.
    Bad,
    /// Nothing more comes: how it ended, as a clause.
    End(String),
}

/// The room that a heavy line takes up until it is dealt with.
#[derive(Debug)]
pub struct Weight {
    _taken: Option<OwnedSemaphorePermit>,
}

/// What a line is.
#[derive(Debug)]
pub enum Judged<M> {
    /// A message of the protocol.
    Message(M),
    /// None; it is passed over.
    Bad,
    /// A message was cut, or two were glued together: whatever it said is lost.
    Broken,
}

/// Why nothing more is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Closed,
    Broken,
    Polluted,
}

/// What says what a line is.
type Judge<M> = fn(Line) -> Judged<M>;

/// The way from the reader to whoever runs the program.
pub(super) fn channel<M>() -> (mpsc::Sender<Incoming<M>>, mpsc::Receiver<Incoming<M>>) {
    mpsc::channel(AHEAD)
}

/// Reads what a program writes until its stream ends or breaks, then ends the program. Dropping this
/// kills it.
pub(super) async fn read<M>(
    stdout: impl AsyncRead + Unpin,
    mut child: Supervised,
    (judge, sender): (Judge<M>, mpsc::Sender<Incoming<M>>),
) {
    let Some(stopped) = forward(stdout, judge, &sender).await else {
        return;
    };
    let ended = match stopped {
        Stopped::Closed => tokio::time::timeout(LEAVE_LIMIT, child.wait()).await.ok(),
        Stopped::Broken | Stopped::Polluted => None,
    };
    let ended = match ended {
        Some(status) => describe(status),
        None => {
            child.kill().await;
            match stopped {
                Stopped::Closed => "closed its stdout and was stopped".to_owned(),
                Stopped::Broken => {
                    "wrote a message that was cut off, or glued to something, and was stopped"
                        .to_owned()
                }
                Stopped::Polluted => {
                    format!(
                        "wrote {BAD_LINES} lines in a row that are no messages, and more; it was stopped"
                    )
                }
            }
        }
    };
    // Whoever listens no longer needs no end.
    let _gone = sender.send(Incoming::End(ended)).await;
}

/// Why reading stopped; none where nobody listens any more.
async fn forward<M>(
    stdout: impl AsyncRead + Unpin,
    judge: Judge<M>,
    sender: &mpsc::Sender<Incoming<M>>,
) -> Option<Stopped> {
    let mut lines = AsyncLines::new(stdout, DEFAULT_LINE_LIMIT);
    let room = Arc::new(Semaphore::new(HEAVY_KIB));
    let mut bad = 0;
    loop {
        // A read that fails says no more than that nothing comes.
        let Ok(Some(line)) = lines.next_line().await else {
            return Some(Stopped::Closed);
        };
        let weight = weigh(&line, &room).await;
        match judge(line) {
            Judged::Message(message) => {
                bad = 0;
                sender.send(Incoming::Message(message, weight)).await.ok()?;
            }
            Judged::Bad => {
                bad += 1;
                if bad > BAD_LINES {
                    return Some(Stopped::Polluted);
                }
                if bad == 1 {
                    sender.send(Incoming::Bad).await.ok()?;
                }
            }
            Judged::Broken => return Some(Stopped::Broken),
        }
    }
}

async fn weigh(line: &Line, room: &Arc<Semaphore>) -> Weight {
    let heavy = match line {
        Line::Text(text) if text.len() > LIGHT => text.len().div_ceil(1024).min(HEAVY_KIB),
        _ => return Weight { _taken: None },
    };
    let heavy = u32::try_from(heavy).unwrap_or(u32::MAX);
    // An error would say that the semaphore is closed, which nobody does.
    let _taken = room.clone().acquire_many_owned(heavy).await.ok();
    Weight { _taken }
}

fn describe(status: ExitStatus) -> String {
    match status {
        ExitStatus::Code(code) => format!("ended with exit code {code}"),
        ExitStatus::Signal(signal) => format!("was ended by signal {signal}"),
        ExitStatus::Failed(failure) => format!("could not be run: {failure}"),
    }
}
