//! The life of a process: what comes in, in the order in which it comes, up to the exit code.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use sessiond_protocol::{
    AgentInfo, DriftClass, ItemId, ServerFrame, SessionId, TurnId, Usage, WireError,
};
use sessiond_wire::{Connection, Line, OutQueue};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::arguments::Arguments;
use super::engine::Engine;
use super::hooks::Hooks;
use super::mirror::Mirror;
use super::mode::Mode;
use super::open::Asks;
use super::outcome::Outcome;
use super::output::Output;
use super::outside::{self, Answered, Outside};
use super::prompt::Prompt;
use super::rules::{Rules, Verdict};
use super::schema::Schema;
use super::servers::Servers;
use super::session::Refusal;
use super::tools::Shown;
use super::turn::Turn;
use crate::line::OutFrame;

/// Lines that are taken up while the program leaves its output full: an interrupt may be among
/// them. Each makes at most a few small frames.
const LINES_WHILE_FULL: u32 = 64;

/// How long a prompt waits for servers that live in the program to be greeted. The SDKs answer in
/// milliseconds; one that does not is called without.
const GREETING: Duration = Duration::from_secs(10);

/// How the face is set up.
#[derive(Debug)]
pub struct Options {
    /// The command line.
    pub arguments: Arguments,
    /// The configured name of the agent that new sessions get.
    pub agent: String,
    /// The working directory, absolute.
    pub cwd: String,
    /// Where sessions are stored; hooks are told.
    pub store: PathBuf,
    /// The folder below which the original would keep its transcripts.
    pub transcripts: PathBuf,
    /// What is accepted of what has changed since a session was recorded (RESUME-16).
    pub accept: Vec<DriftClass>,
    /// Whether the SDK reads the state of the session.
    pub states: States,
    /// Says something to people, on stderr (WIRE-12).
    pub note: fn(&str),
}

/// Whether what the session is at is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum States {
    /// By `session_state_changed` frames.
    Told,
    /// Not at all.
    Untold,
}

/// What the system asks of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: stop the turn, say so, and end with 0.
    Interrupt,
    /// SIGTERM: stop the turn, say so, and end with 143; soon, whatever the turn does.
    Terminate,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code: 0 where the last result was good.
    pub exit: i32,
    /// Whether turns of it may still run: nobody reads what they say.
    pub is_abandoned: bool,
}

impl Ended {
    fn with(exit: i32) -> Self {
        Self {
            exit,
            is_abandoned: false,
        }
    }
}

/// The exit code of SIGTERM, as the original has it.
const TERMINATED: i32 = 143;

/// How long a turn may take to end after SIGTERM: half of what an SDK waits before it kills.
const LAST_RESULT: Duration = Duration::from_secs(1);

/// What the program's input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Open,
    Ended,
}

/// The face of one process.
#[derive(Debug)]
pub(super) struct Face {
    pub(super) out: Output,
    pub(super) engine: Engine,
    pub(super) options: Options,
    pub(super) input: Input,
    pub(super) place: Place,
    pub(super) agent: AgentInfo,
    /// The agent's mode in force.
    pub(super) agent_mode: Option<String>,
    pub(super) mode: Mode,
    pub(super) rules: Rules,
    pub(super) hooks: Hooks,
    pub(super) servers: Servers,
    /// What `initialize` gave beside that.
    pub(super) wishes: Wishes,
    pub(super) asks: Asks,
    /// The way to a tool that decides and does not live in the program, once it was asked.
    pub(super) outside: Option<Outside>,
    /// What hooks said about calls that will be asked about.
    pub(super) opinions: HashMap<ItemId, Verdict>,
    /// Calls of the turn that have ended, as they were shown.
    pub(super) ended: HashMap<ItemId, Shown>,
    pub(super) turn: Option<Turn>,
    pub(super) mirror: Option<Mirror>,
    /// Prompts that the engine has, in order, with their turns.
    pub(super) queued: VecDeque<(TurnId, Prompt)>,
    /// Prompts that it has not got yet.
    pub(super) held: VecDeque<Prompt>,
    /// Whether the next prompt that begins is interrupted at once: the interrupt came before.
    pub(super) interrupts_next: bool,
    /// Requests `initialize` that wait for the session.
    pub(super) initializing: Vec<String>,
    /// Until when prompts, and the session that is named, wait for servers of the program.
    pub(super) greeting_ends: Option<Instant>,
    pub(super) usage: Option<Usage>,
    pub(super) results: u64,
    /// The exit code that the last result stands for.
    pub(super) exit: i32,
    /// The exit code of the signal that was caught.
    pub(super) leaves: Option<i32>,
    /// When it leaves though its turn has not ended.
    pub(super) leave_by: Option<Instant>,
    /// Places of the log that could not be read, until that is told.
    pub(super) damage: u64,
}

/// How far the face has come to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing was looked at.
    Unmet,
    /// The session is made with its first prompt; its agent is known.
    Known,
    Attached,
}

/// What `initialize` asks for.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    pub(super) instructions: Option<String>,
    pub(super) more_instructions: Option<String>,
    pub(super) title: Option<String>,
    pub(super) schema: Option<Schema>,
}

/// What happened next.
enum Next {
    Line(Line),
    InputEnded,
    Frame(Box<ServerFrame>),
    EngineGone(WireError),
    ReaderGone,
    Signal(Signal),
    /// A tool outside of the program has answered.
    Outside(Answered),
    /// It is time to look again.
    Look,
}

/// Why the face ends before its input does.
pub(super) enum End {
    /// What the program sent cannot be followed.
    Broken(String),
    /// The session could not be had.
    Refused(Refusal),
    /// The engine failed.
    Engine(WireError),
}

impl From<WireError> for End {
    fn from(error: WireError) -> Self {
        Self::Engine(error)
    }
}

/// Serves a program until its input has ended and its turns have, or it is gone: `lines` is what it
/// sends, `out` what it is sent, `signals` what the system asks. What was pushed to `out` may still
/// have to be written; closing it is the caller's.
pub async fn serve(
    mut lines: mpsc::Receiver<Line>,
    out: OutQueue<OutFrame>,
    waist: Connection,
    mut signals: mpsc::Receiver<Signal>,
    options: Options,
) -> Ended {
    let note = options.note;
    let session = options.arguments.session;
    let session = session.unwrap_or_else(|| SessionId::new(Uuid::now_v7()));
    let output = Output::new(out, session, options.states);
    let mut face = match Face::begin(output, waist, options).await {
        Ok(face) => face,
        Err(error) => {
            note(&error.message);
            return Ended::with(Outcome::failed(&error).exit);
        }
    };
    let ended = face.run(&mut lines, &mut signals).await;
    // What is not read any more must not keep the thread that reads it.
    drop(lines);
    let ended = ended.unwrap_or_else(|end| face.end_early(end));
    face.engine.leave().await;
    ended
}

impl Face {
    async fn run(
        &mut self,
        lines: &mut mpsc::Receiver<Line>,
        signals: &mut mpsc::Receiver<Signal>,
    ) -> Result<Ended, End> {
        let mut lines_left = LINES_WHILE_FULL;
        loop {
            self.come_in().await?;
            if self.input == Input::Ended && self.is_idle() {
                return Ok(Ended::with(self.leaves.unwrap_or(self.exit)));
            }
            if self.leave_by.is_some_and(|by| by <= Instant::now()) {
                return Ok(Ended::with(TERMINATED));
            }
            let is_full = self.out.queue.is_full();
            if !is_full {
                lines_left = LINES_WHILE_FULL;
            }
            let room = (is_full, lines_left);
            match self.next((lines, signals), room).await {
                Next::Line(line) => {
                    lines_left = lines_left.saturating_sub(1);
                    self.line(line).await?;
                }
                Next::InputEnded => self.input_ended().await?,
                Next::Frame(frame) => self.frame(*frame).await?,
                Next::Outside((id, answer)) => {
                    if let Some(asked) = self.asks.take(&id) {
                        self.answered_by(asked, answer).await?;
                    }
                }
                Next::Look => self.look().await?,
                Next::EngineGone(error) => return Err(error.into()),
                Next::ReaderGone => {
                    return Ok(Ended {
                        exit: self.exit,
                        is_abandoned: true,
                    });
                }
                Next::Signal(Signal::Terminate) => {
                    self.leaves = Some(TERMINATED);
                    self.leave_by = Some(Instant::now() + LAST_RESULT);
                    self.stop_all().await?;
                    self.input_ended().await?;
                }
                Next::Signal(Signal::Interrupt) => {
                    self.leaves = Some(0);
                    self.stop_all().await?;
                    self.input_ended().await?;
                }
            }
        }
    }

    /// Waits for what comes next. What the engine sends waits while the program does not read.
    async fn next(
        &mut self,
        (lines, signals): (&mut mpsc::Receiver<Line>, &mut mpsc::Receiver<Signal>),
        (is_full, lines_left): (bool, u32),
    ) -> Next {
        let queue = self.out.queue.clone();
        let listens = self.input == Input::Open && lines_left > 0;
        let due = self.greeting_ends.into_iter().chain(self.leave_by).min();
        tokio::select! {
            () = queue.closed() => Next::ReaderGone,
            Some(signal) = signals.recv() => Next::Signal(signal),
            line = lines.recv(), if listens => line.map_or(Next::InputEnded, Next::Line),
            frame = self.engine.next(), if !is_full => match frame {
                Ok(frame) => Next::Frame(Box::new(frame)),
                Err(error) => Next::EngineGone(error),
            },
            answer = outside::answered(&mut self.outside) => Next::Outside(answer),
            () = queue.ready(), if is_full => Next::Look,
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => Next::Look,
        }
    }

    /// Whether nothing runs, waits, or is asked for.
    fn is_idle(&self) -> bool {
        self.turn.is_none() && self.queued.is_empty() && self.held.is_empty()
    }

    /// What waits for a time that has come.
    async fn look(&mut self) -> Result<(), WireError> {
        if self.greeting_ends.is_some_and(|end| end <= Instant::now()) {
            self.greeting_ends = None;
            self.submit_prompts().await?;
        }
        Ok(())
    }

    /// There will be no further line: what runs and waits comes to its end, and nobody can be asked.
    pub(super) async fn input_ended(&mut self) -> Result<(), WireError> {
        self.input = Input::Ended;
        self.fail_closed().await?;
        self.submit_prompts().await
    }

    /// How long prompts wait for servers, from now.
    pub(super) fn await_greeting(&mut self) {
        if self.greeting_ends.is_none() {
            self.greeting_ends = Some(Instant::now() + GREETING);
        }
    }

    /// Ends with a result where the program waits for one, or where it is to learn why.
    fn end_early(&mut self, end: End) -> Ended {
        match end {
            End::Broken(problem) => {
                (self.options.note)(&problem);
                if !self.is_idle() {
                    self.tell_result(&Outcome::unreadable(problem));
                }
                Ended::with(1)
            }
            End::Refused(refusal) => {
                (self.options.note)(&refusal.error.message);
                let outcome = Outcome::failed(&refusal.error);
                if let Some(session) = refusal.session {
                    self.out.session = session;
                }
                self.tell_result(&outcome);
                Ended::with(outcome.exit)
            }
            End::Engine(error) => {
                (self.options.note)(&error.message);
                let outcome = Outcome::failed(&error);
                if !self.is_idle() {
                    self.tell_result(&outcome);
                }
                Ended::with(outcome.exit)
            }
        }
    }
}
