//! The life of a connection: what comes in, in the order in which it comes.

use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use sessiond_protocol::{ClientFrame, Hello, OnDisconnect, Party, ServerFrame, VERSION, Welcome};
use sessiond_wire::rpc::{INTERNAL_ERROR, RpcFrame, error};
use sessiond_wire::{Connection, Line, OutQueue};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::error::FaceError;
use crate::questions::Answered;
use crate::router::Router;

/// Lines that are taken up while the client leaves the output queue full. Each makes at most a few
/// small frames, so memory stays bounded (WIRE-4), and a `session/cancel` still gets through to
/// stop what fills the queue.
const LINES_WHILE_FULL: usize = 256;

/// Frames of the engine that are taken up together, so that they are written together. Each of a
/// stream makes one frame for the client: the queue to it has room for so many beyond where this
/// face waits for it.
const BATCH: usize = 128;

/// How long prompts have to be answered once the process is to end: longer than an agent has to
/// stop, and short enough that all of the exit takes less than two seconds (WIRE-13).
const LAST_ANSWERS: Duration = Duration::from_millis(1500);

/// How the face is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The configured name of the agent that new sessions get; the engine's default otherwise.
    pub agent: Option<String>,
    /// Where sessions are stored, as `initialize` shows it to the user (LOG-16).
    pub store: Option<String>,
    /// What becomes of a running turn when the client goes.
    pub on_disconnect: OnDisconnect,
    /// The versions of the protocol that are spoken.
    pub versions: Versions,
    /// What is accepted of what has changed since a session was recorded, beside what the client
    /// accepts itself (RESUME-16).
    pub accept: Vec<sessiond_protocol::DriftClass>,
}

/// The versions of the protocol that a face speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Versions {
    /// Version 1, whatever the client asks for.
    V1,
    /// Version 2; a client that cannot speak it is refused.
    V2,
    /// The highest one that the client can speak.
    #[default]
    Auto,
}

/// What happened next.
#[derive(Debug)]
enum Input {
    Line(Line),
    /// There are frames of the engine.
    Frames,
    Answered(Box<Answered>),
    /// The process is to end.
    Stop,
    /// It was to end, and prompts had their time.
    TooLate,
    /// It is time to look again: output waits to be shown, or the queue has room.
    Look,
    ClientGone,
    EngineGone,
}

/// Serves one ACP client until it is gone: `lines` is what it sends, `out` what it is sent.
///
/// When `lines` ends, or `out` is closed because nobody reads it, nothing more is sent; the engine
/// is told with a last frame, and stops what runs for this client as it was told at attach
/// (WIRE-13). What was pushed to `out` before may still be written; closing it is the caller's.
///
/// # Errors
/// [`FaceError`] when the engine is gone, or ends the connection: what was unanswered got an error.
pub async fn serve(
    lines: mpsc::Receiver<Line>,
    out: OutQueue<RpcFrame>,
    waist: Connection,
    options: Options,
) -> Result<(), FaceError> {
    serve_until(lines, out, waist, options, pending()).await
}

/// The same until `stop` is done: then nothing more is read, turns that would not outlive this
/// client are cancelled, their prompts answered, and every other request told that the process ends.
///
/// # Errors
/// As [`serve()`].
pub async fn serve_until(
    mut lines: mpsc::Receiver<Line>,
    out: OutQueue<RpcFrame>,
    waist: Connection,
    options: Options,
    stop: impl Future<Output = ()>,
) -> Result<(), FaceError> {
    let welcome = greet(&waist).await?;
    let wish = options.on_disconnect;
    let mut face = Router::new(out, &welcome, options);
    let ended = run(&mut face, &mut lines, (&waist, wish), stop).await;
    // Nobody answers questions any more; taking them back is not said either.
    face.client().peer().close();
    let unanswered = match &ended {
        Ok(Ended::ClientGone) => None,
        Ok(Ended::Stopped) => Some("sessiond is ending"),
        Err(_) => Some("The session runtime is gone"),
    };
    if let Some(why) = unanswered {
        face.client_mut().fail_all(&error(INTERNAL_ERROR, why));
    }
    // If the engine is gone too there is nobody to tell.
    let _gone = waist.send(ClientFrame::Bye {}).await;
    ended.map(drop)
}

/// How the life of a connection ended well.
#[derive(Debug)]
enum Ended {
    ClientGone,
    Stopped,
}

/// Opens the waist. The engine learns which face it is; it records that with new sessions.
async fn greet(waist: &Connection) -> Result<Welcome, FaceError> {
    let client = Party {
        name: "acp".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    waist
        .send(ClientFrame::Hello(Hello {
            versions: vec![VERSION],
            client,
            ack: false,
        }))
        .await?;
    loop {
        match waist.recv().await {
            Some(ServerFrame::Welcome(welcome)) => return Ok(welcome),
            Some(ServerFrame::Error { error, fatal: true }) => {
                return Err(FaceError::Refused(error));
            }
            Some(_) => {}
            None => return Err(FaceError::EngineGone),
        }
    }
}

async fn run(
    face: &mut Router,
    lines: &mut mpsc::Receiver<Line>,
    (waist, wish): (&Connection, OnDisconnect),
    stop: impl Future<Output = ()>,
) -> Result<Ended, FaceError> {
    let mut lines_left = LINES_WHILE_FULL;
    let mut frames = Vec::with_capacity(BATCH);
    let mut stop = pin!(stop);
    let mut last = None;
    loop {
        if last.is_some() && !face.has_prompts() {
            return Ok(Ended::Stopped);
        }
        let is_full = face.client().queue().is_full();
        if !is_full {
            lines_left = LINES_WHILE_FULL;
        }
        let room = Room {
            is_full,
            lines_left: if last.is_some() { 0 } else { lines_left },
        };
        let next = next(face, lines, (waist, &mut frames), room);
        let input = tokio::select! {
            () = &mut stop, if last.is_none() => Input::Stop,
            () = sleep_until(last.unwrap_or_else(Instant::now)), if last.is_some() => Input::TooLate,
            input = next => input,
        };
        match input {
            Input::Line(line) => {
                lines_left = lines_left.saturating_sub(1);
                face.line(line, Instant::now());
            }
            Input::Frames => take_up(face, &mut frames)?,
            Input::Answered(answered) => face.answered(*answered),
            Input::Look => face.tick(Instant::now()),
            Input::Stop if wish == OnDisconnect::Cancel => {
                last = Some(Instant::now() + LAST_ANSWERS);
                face.stop_all();
            }
            // What runs goes on without this process.
            Input::Stop | Input::TooLate => return Ok(Ended::Stopped),
            Input::ClientGone => return Ok(Ended::ClientGone),
            Input::EngineGone => return Err(FaceError::EngineGone),
        }
        for frame in face.take_outbox() {
            waist.send(frame).await?;
        }
    }
}

/// Takes up frames of the engine; what they lead to is written together.
fn take_up(face: &mut Router, frames: &mut Vec<ServerFrame>) -> Result<(), FaceError> {
    let out = face.client().queue().clone();
    let _together = out.batch();
    let now = Instant::now();
    frames
        .drain(..)
        .try_for_each(|frame| face.frame(frame, now))
}

/// How much room there is for what the client is sent.
struct Room {
    is_full: bool,
    lines_left: usize,
}

/// Waits for what comes next. What the engine sends waits while the client does not read.
async fn next(
    face: &mut Router,
    lines: &mut mpsc::Receiver<Line>,
    (waist, frames): (&Connection, &mut Vec<ServerFrame>),
    room: Room,
) -> Input {
    let out = face.client().queue().clone();
    let now = Instant::now();
    let due = face.due(now).filter(|_| !room.is_full);
    tokio::select! {
        () = out.closed() => Input::ClientGone,
        line = lines.recv(), if room.lines_left > 0 => line.map_or(Input::ClientGone, Input::Line),
        answered = face.answer() => Input::Answered(Box::new(answered)),
        count = waist.recv_many(frames, BATCH), if !room.is_full => match count {
            0 => Input::EngineGone,
            _ => Input::Frames,
        },
        () = out.ready(), if room.is_full => Input::Look,
        () = sleep_until(due.unwrap_or(now)), if due.is_some() => Input::Look,
    }
}
