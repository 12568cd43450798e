//! The `exec` face: one headless turn, as the TypeScript SDK of Codex starts it.
//!
//! Nobody is there to ask: what the sandbox does not hold is declined. The lines go out as the
//! turn goes; a turn that anybody stops ends with `turn.failed`, which the original leaves out.

mod line;
mod show;

use serde_json::Value;
use sessiond_protocol::{
    Accepted, Answer, AttachMode, Content, DriftClass, ErrorCode, Event, EventFrame, FoundBy,
    IfBusy, Item, ModePolicy, OnDisconnect, Op, Outcome, PermissionKind, Queued, Replay,
    RequestBody, RequestFrame, RequestKind, ServerFrame, SessionId, SessionNew, SessionResume,
    SessionView, Setup, TurnEnded, TurnId, TurnOutcome, Usage, WireError,
};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::RpcFrame;
use sessiond_wire::waist::{Waist, unexpected};
use tokio::sync::mpsc;

use crate::prompt;
use crate::refusal;
use crate::sandbox::{self, Sandbox};
use line::{Line, Message, Used};
use show::Show;

/// Which thread the turn is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thread {
    /// A new one.
    New,
    /// This one, and how it was found.
    Resume(SessionId, FoundBy),
    /// A copy of this one.
    Fork(SessionId),
}

/// Whether the thread is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// It can be resumed.
    #[default]
    Stored,
    /// It goes to the trash with the end of the turn.
    Ephemeral,
}

/// How a turn is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The thread.
    pub thread: Thread,
    /// Whether it is kept.
    pub keep: Keep,
    /// The agent of a new thread.
    pub agent: String,
    /// The working directory, absolute: of a new thread, and of a resumed one where it is chosen.
    pub cwd: Option<String>,
    /// What the agent works with.
    pub setup: Setup,
    /// What may run.
    pub sandbox: Sandbox,
    /// What is accepted of what has changed since the thread was recorded (RESUME-16).
    pub accept: Vec<DriftClass>,
    /// What the user says.
    pub input: Vec<Content>,
    /// The shape of the final answer.
    pub schema: Option<Value>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// There was no turn: nothing was said on stdout.
    #[error("{0}")]
    NoTurn(String),
    /// The turn failed or was stopped; that was said.
    #[error("{0}")]
    Turn(String),
}

impl ExecError {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTurn(_) => "exec_no_turn",
            Self::Turn(_) => "exec_turn",
        }
    }
}

/// Runs one turn and gives the agent's last message. `lines` is where event lines go, if they are
/// wanted; each `stop` interrupts the turn, and the second one leaves at once.
///
/// # Errors
/// [`ExecError`]; the process ends with 1.
pub async fn run(
    waist: &mut Waist,
    lines: Option<OutQueue<RpcFrame>>,
    stop: &mut mpsc::Receiver<()>,
    options: Options,
) -> Result<Option<String>, ExecError> {
    let view = open(waist, &options).await?;
    let mut turn = Turn {
        waist,
        lines,
        show: Show::default(),
        sandbox: options.sandbox,
        session: view.session,
        used: view.used,
        calls: Vec::new(),
        frames: Vec::new(),
        answer: None,
    };
    let ended = turn.run(&view, (options.input, options.schema), stop).await;
    if options.keep == Keep::Ephemeral {
        turn.forget().await;
    }
    ended.map(|()| turn.answer)
}

/// Opens the thread.
async fn open(waist: &mut Waist, options: &Options) -> Result<SessionView, ExecError> {
    let answers = vec![RequestKind::Permission];
    let on_disconnect = OnDisconnect::Cancel;
    let resume = |session, found_by| {
        Op::SessionResume(SessionResume {
            session,
            cwd: options.cwd.clone(),
            setup: Some(options.setup.clone()),
            found_by,
            accept: options.accept.clone(),
            replay: Replay::None,
            mode: AttachMode::Control,
            answers: answers.clone(),
            on_disconnect,
        })
    };
    let (op, thread) = match options.thread {
        Thread::New => (
            Op::SessionNew(SessionNew {
                id: None,
                cwd: options.cwd.clone().unwrap_or_default(),
                agent: Some(options.agent.clone()),
                setup: options.setup.clone(),
                answers: answers.clone(),
                on_disconnect,
            }),
            None,
        ),
        Thread::Resume(session, found_by) => (resume(session, found_by), Some(session)),
        Thread::Fork(parent) => {
            let forked = waist
                .call(Some(parent), Op::SessionFork { at: None, id: None }, drop)
                .await;
            let copy = view(forked).map_err(|error| no_turn(&error, Some(parent)))?;
            let session = copy.session;
            (resume(session, FoundBy::Id), Some(session))
        }
    };
    let opened = waist.call(None, op, drop).await;
    view(opened).map_err(|error| no_turn(&error, thread))
}

fn view(accepted: Result<Accepted, WireError>) -> Result<SessionView, WireError> {
    match accepted? {
        Accepted::Session(view) => Ok(*view),
        _ => Err(unexpected()),
    }
}

fn no_turn(error: &WireError, thread: Option<SessionId>) -> ExecError {
    ExecError::NoTurn(refusal::text(error, thread))
}

async fn receive(
    waist: &Waist,
    lines: Option<&OutQueue<RpcFrame>>,
) -> Result<ServerFrame, WireError> {
    if let Some(lines) = lines {
        lines.ready().await;
    }
    waist.receive().await
}

/// A turn under way.
struct Turn<'a> {
    waist: &'a mut Waist,
    lines: Option<OutQueue<RpcFrame>>,
    show: Show,
    sandbox: Sandbox,
    session: SessionId,
    used: Option<Usage>,
    /// The calls that are open: questions are about them.
    calls: Vec<EventFrame>,
    /// What came while something else was waited for.
    frames: Vec<ServerFrame>,
    answer: Option<String>,
}

impl Turn<'_> {
    async fn run(
        &mut self,
        view: &SessionView,
        (mut input, wanted): (Vec<Content>, Option<Value>),
        stop: &mut mpsc::Receiver<()>,
    ) -> Result<(), ExecError> {
        self.say(&Line::ThreadStarted {
            thread_id: self.session,
        });
        self.attested(view);
        self.ask_us(view).await?;
        input.extend(wanted.as_ref().map(prompt::schema));
        let op = Op::TurnStart {
            input,
            if_busy: IfBusy::Reject,
            idempotency_key: None,
        };
        let turn = match self.call(op).await {
            Ok(Accepted::Turn { turn }) => turn,
            Ok(_) => return Err(self.failed(&unexpected().message)),
            Err(error) => return Err(self.failed(&refusal::text(&error, Some(self.session)))),
        };
        let ended = self.until_ended(turn, stop).await?;
        if let Some(line) = self.show.finish() {
            self.say(&line);
        }
        self.used = Usage::in_all(self.used, ended.usage);
        match (ended.outcome, ended.error) {
            (TurnOutcome::Completed, _) => {
                if wanted.is_some() {
                    self.check_answer();
                }
                let usage = Used::from(crate::tokens::Tokens::from(self.used));
                self.say(&Line::TurnCompleted { usage });
                Ok(())
            }
            (_, Some(error)) => Err(self.failed(&error.message)),
            (TurnOutcome::Cancelled, None) => Err(self.failed("the turn was interrupted")),
            (_, None) => Err(self.failed("the turn failed")),
        }
    }

    /// What a resume found and the user should know (RESUME-5).
    fn attested(&mut self, view: &SessionView) {
        let loaded = view.attestation.as_ref().and_then(|a| a.loaded.as_ref());
        if let Some(damage) = loaded
            .map(|loaded| loaded.damage)
            .filter(|count| *count > 0)
        {
            let places = if damage == 1 { "place" } else { "places" };
            let text = format!("the thread's log is damaged: {damage} {places} cannot be read");
            let line = self.show.warning(text);
            self.say(&line);
        }
    }

    /// Has the agent ask, so that the sandbox decides and not the mode that somebody left behind.
    async fn ask_us(&mut self, view: &SessionView) -> Result<(), ExecError> {
        let asks = |policy| policy == ModePolicy::Ask;
        if asks(view.agent.policy(view.mode.as_deref())) {
            return Ok(());
        }
        let mode = view.agent.modes.iter().find(|mode| asks(mode.policy));
        let Some(mode) = mode.map(|mode| mode.id.clone()) else {
            return Ok(());
        };
        let set = self.call(Op::set_mode(mode)).await;
        set.map(drop)
            .map_err(|error| no_turn(&error, Some(self.session)))
    }

    async fn call(&mut self, op: Op) -> Result<Accepted, WireError> {
        let frames = &mut self.frames;
        self.waist
            .call(Some(self.session), op, |frame| frames.push(frame))
            .await
    }

    async fn until_ended(
        &mut self,
        turn: TurnId,
        stop: &mut mpsc::Receiver<()>,
    ) -> Result<TurnEnded, ExecError> {
        let mut interrupted = false;
        loop {
            for frame in std::mem::take(&mut self.frames) {
                if let Some(ended) = self.take(turn, frame).await? {
                    return Ok(ended);
                }
            }
            let lines = self.lines.clone();
            let reader_gone = async {
                match &lines {
                    Some(lines) => lines.closed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // What comes waits while the reader is far behind.
                frame = receive(self.waist, lines.as_ref()) => match frame {
                    Ok(frame) => self.frames.push(frame),
                    Err(error) => return Err(self.failed(&error.message)),
                },
                stopped = stop.recv() => {
                    if interrupted || stopped.is_none() {
                        return Err(self.failed("the turn was interrupted twice"));
                    }
                    interrupted = true;
                    self.interrupt(turn).await?;
                }
                () = reader_gone, if !interrupted => {
                    interrupted = true;
                    self.interrupt(turn).await?;
                }
            }
        }
    }

    /// Takes in a frame; gives the turn's end if it is that.
    async fn take(
        &mut self,
        turn: TurnId,
        frame: ServerFrame,
    ) -> Result<Option<TurnEnded>, ExecError> {
        match frame {
            ServerFrame::Request(request) => self.decide(request).await?,
            ServerFrame::Event(frame) => return Ok(self.event(turn, frame)),
            _ => {}
        }
        Ok(None)
    }

    fn event(&mut self, turn: TurnId, frame: EventFrame) -> Option<TurnEnded> {
        // What a process left open that is gone is closed by the first record of this one.
        if frame.turn.is_some_and(|of| of != turn) {
            return None;
        }
        match &frame.event {
            Event::TurnEnded(ended) if frame.turn.is_some() => return Some(ended.clone()),
            Event::TurnStarted { .. } => self.say(&Line::TurnStarted {}),
            _ => {}
        }
        if let Some(line) = self.show.event(&frame) {
            self.say(&line);
        }
        match &frame.event {
            Event::ItemEnded {
                item: Item::AgentMessage { text, .. },
            } => self.answer = Some(text.clone()),
            Event::ItemEnded {
                item: Item::ToolCall(_),
            } => self.calls.retain(|call| call.item != frame.item),
            Event::ItemStarted {
                item: Item::ToolCall(_),
            } => self.calls.push(frame),
            Event::ItemChanged { call } => {
                let item = Item::ToolCall(call.clone());
                self.calls.retain(|call| call.item != frame.item);
                let event = Event::ItemStarted { item };
                self.calls.push(EventFrame { event, ..frame });
            }
            _ => {}
        }
        None
    }

    /// What the sandbox holds may run, once; nothing else.
    async fn decide(&mut self, request: RequestFrame) -> Result<(), ExecError> {
        let outcome = match &request.body {
            RequestBody::Permission(permission) => {
                let call = self.calls.iter().find_map(|frame| match &frame.event {
                    Event::ItemStarted {
                        item: Item::ToolCall(call),
                    } if frame.item == request.item => Some(call),
                    _ => None,
                });
                let held = match (&self.sandbox, call) {
                    (Sandbox::Full, _) => true,
                    (sandbox, Some(call)) => sandbox.holds(call),
                    (_, None) => false,
                };
                let kind = match held {
                    true => PermissionKind::AllowOnce,
                    false => PermissionKind::RejectOnce,
                };
                let option = sandbox::option(permission, kind);
                option.map_or(Outcome::Cancelled, |option| Outcome::Selected { option })
            }
            _ => Outcome::Unanswered,
        };
        let answer = Answer {
            request: request.id,
            digest: request.digest,
            outcome,
        };
        let answered = self.waist.answer(answer).await;
        answered.map_err(|error| no_turn(&error, None))
    }

    async fn interrupt(&mut self, turn: TurnId) -> Result<(), ExecError> {
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Keep,
        };
        let submitted = self.waist.submit(Some(self.session), op).await;
        submitted.map(drop).map_err(|error| no_turn(&error, None))
    }

    /// An agent that did not keep to the schema is worth a warning: what it said stays as it is.
    fn check_answer(&mut self) {
        let text = self.answer.as_deref().unwrap_or_default();
        if serde_json::from_str::<Value>(text).is_err() {
            let text = "the final message is not the JSON that --output-schema asks for";
            let line = self.show.warning(text.to_owned());
            self.say(&line);
        }
    }

    /// Says that the turn failed.
    fn failed(&mut self, message: &str) -> ExecError {
        let message = message.to_owned();
        self.say(&Line::Error {
            message: message.clone(),
        });
        let error = Message {
            message: message.clone(),
        };
        self.say(&Line::TurnFailed { error });
        ExecError::Turn(message)
    }

    /// Moves the thread to the trash. One that cannot be moved is worth no more than a line.
    async fn forget(&mut self) {
        for op in [Op::SessionClose {}, Op::SessionDelete {}] {
            if let Err(error) = self.call(op).await
                && error.code != ErrorCode::NotFound
            {
                tracing::warn!(code = ?error.code, "an ephemeral thread stays");
            }
        }
    }

    fn say(&self, line: &Line) {
        let Some(lines) = &self.lines else { return };
        match serde_json::to_string(line) {
            Ok(text) => lines.push(RpcFrame::from_text(text)),
            // Cannot be: nothing here is a map with keys that are no strings.
            Err(_) => tracing::error!("a line could not be written"),
        }
    }
}
