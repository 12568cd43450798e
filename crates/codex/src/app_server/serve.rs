//! The life of a connection: what comes in, in the order in which it comes.

use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use sessiond_protocol::{
    ClientFrame, DriftClass, Hello, OnDisconnect, Party, ServerFrame, VERSION, WireError,
};
use sessiond_wire::rpc::RpcFrame;
use sessiond_wire::{Connection, Gone, Line, OutQueue};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::face::Face;
use crate::settings::Settings;

/// Frames of the engine that are taken up together, so that they are written together.
const BATCH: usize = 128;

/// Lines that are taken up while the client leaves the output queue full, or an answer with turns is
/// being written: each makes a few small
/// frames at most, so that memory stays bounded (WIRE-4), and a `turn/interrupt` still gets through
/// to stop what fills the queue. Beyond them nothing is read: no answer is ever dropped.
const LINES_WHILE_FULL: usize = 256;

/// How long moving ephemeral threads to the trash may take at the end: half of what the SDK waits
/// before it kills.
const FORGETTING: Duration = Duration::from_secs(1);

/// How long turns may take to end when the process is told to: half of what the SDK waits before it
/// kills.
const LAST_ENDS: Duration = Duration::from_secs(1);

/// How the face is set up.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The configured name of the agent that new threads get.
    pub agent: String,
    /// Where threads are stored, as `initialize` tells it: absolute.
    pub home: String,
    /// The directory of threads whose client names none: absolute.
    pub cwd: String,
    /// What becomes of a running turn when the client goes.
    pub on_disconnect: OnDisconnect,
    /// What is accepted of what has changed since a thread was recorded (RESUME-16).
    pub accept: Vec<DriftClass>,
    /// Configuration of the command line, which a request's own goes over.
    pub settings: Settings,
    /// Reads a picture of the user; none where the file cannot be read or is no picture.
    pub picture: Option<fn(&str) -> Option<sessiond_protocol::Content>>,
}

/// Why a face has ended before its client did.
#[derive(Debug, thiserror::Error)]
pub enum FaceError {
    /// The engine ended the connection.
    #[error("the session runtime is gone")]
    EngineGone,
    /// The engine does not serve this face.
    #[error("{0}")]
    Refused(WireError),
}

impl FaceError {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EngineGone => "engine_gone",
            Self::Refused(_) => "engine_refused",
        }
    }
}

impl From<Gone> for FaceError {
    fn from(_: Gone) -> Self {
        Self::EngineGone
    }
}

/// Serves one client of the app-server until it is gone: `lines` is what it sends, `out` what it is
/// sent.
///
/// When `lines` ends, or `out` is closed because nobody reads it, nothing more is sent; the engine
/// is told with a last frame, and stops what runs for this client as it was told at attach
/// (WIRE-13).
///
/// # Errors
/// [`FaceError`] when the engine is gone, or ends the connection.
pub async fn serve(
    lines: mpsc::Receiver<Line>,
    out: OutQueue<RpcFrame>,
    waist: Connection,
    options: Options,
) -> Result<(), FaceError> {
    serve_until(lines, out, waist, options, pending()).await
}

/// The same until `stop` is done: then nothing more is read, and turns that would not outlive this
/// client are interrupted and told as ended.
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
    greet(&waist).await?;
    let wish = options.on_disconnect;
    let mut face = Face::new(out, options);
    let ended = run(&mut face, &mut lines, (&waist, wish), stop).await;
    if ended.is_ok() && face.forget() > 0 {
        let forgotten = tokio::time::timeout(FORGETTING, settle(&mut face, &waist)).await;
        if !matches!(forgotten, Ok(Ok(()))) {
            tracing::warn!("ephemeral threads stay");
        }
    }
    // If the engine is gone too there is nobody to tell.
    let _gone = waist.send(ClientFrame::Bye {}).await;
    ended
}

/// Opens the waist. The engine learns which face it is; it records that with new sessions.
async fn greet(waist: &Connection) -> Result<(), FaceError> {
    let client = Party {
        name: "codex-app-server".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let hello = Hello {
        versions: vec![VERSION],
        client,
        ack: false,
    };
    waist.send(ClientFrame::Hello(hello)).await?;
    loop {
        match waist.recv().await {
            Some(ServerFrame::Welcome(_)) => return Ok(()),
            Some(ServerFrame::Error { error, fatal: true }) => {
                return Err(FaceError::Refused(error));
            }
            Some(_) => {}
            None => return Err(FaceError::EngineGone),
        }
    }
}

/// Waits until what is still submitted is done.
async fn settle(face: &mut Face, waist: &Connection) -> Result<(), FaceError> {
    loop {
        for frame in face.take_outbox() {
            waist.send(frame).await?;
        }
        if face.is_settled() {
            return Ok(());
        }
        let frame = waist.recv().await.ok_or(FaceError::EngineGone)?;
        face.frame(frame);
    }
}

async fn run(
    face: &mut Face,
    lines: &mut mpsc::Receiver<Line>,
    (waist, wish): (&Connection, OnDisconnect),
    stop: impl Future<Output = ()>,
) -> Result<(), FaceError> {
    let out = face.client.queue().clone();
    let mut stop = pin!(stop);
    let mut last = None;
    let mut frames = Vec::with_capacity(BATCH);
    let mut lines_left = LINES_WHILE_FULL;
    loop {
        if last.is_some() && !face.has_turns() {
            return Ok(());
        }
        let is_full = out.is_full();
        if !is_full && !face.client.is_writing() {
            lines_left = LINES_WHILE_FULL;
        }
        tokio::select! {
            () = out.closed() => return Ok(()),
            () = &mut stop, if last.is_none() => match wish {
                OnDisconnect::Cancel => {
                    last = Some(Instant::now() + LAST_ENDS);
                    face.interrupt_all();
                }
                // What runs goes on without this process.
                OnDisconnect::Finish | OnDisconnect::Detach => return Ok(()),
            },
            () = sleep_until(last.unwrap_or_else(Instant::now)), if last.is_some() => return Ok(()),
            line = lines.recv(), if lines_left > 0 && last.is_none() => match line {
                Some(Line::Text(line)) => {
                    lines_left = lines_left.saturating_sub(1);
                    face.line(&line);
                }
                Some(Line::Bad(bad)) => tracing::warn!(code = bad.code(), "a bad line"),
                None => return Ok(()),
            },
            count = waist.recv_many(&mut frames, BATCH), if !is_full => {
                if count == 0 {
                    return Err(FaceError::EngineGone);
                }
                let _together = out.batch();
                frames.drain(..).for_each(|frame| face.frame(frame));
            }
            () = out.ready(), if is_full => {}
        }
        for frame in face.take_outbox() {
            waist.send(frame).await?;
        }
    }
}
