//! `sessiond exec`: one turn without an editor.

use std::io::Read;
use std::time::Duration;

use sessiond_protocol::{
    Accepted, Answer, AttachMode, Content, DriftClass, ErrorCode, FoundBy, IfBusy, OnDisconnect,
    Op, Outcome, PermissionKind, Queued, Replay, RequestBody, RequestFrame, RequestKind,
    ServerFrame, SessionId, SessionList, SessionNew, SessionResume, TurnEnded, TurnId, TurnOutcome,
    WireError,
};
use sessiond_wire::DEFAULT_LINE_LIMIT;
use sessiond_wire::queue::OutQueue;
use sessiond_wire::stdio::{self, ProtocolIo};

use crate::access;
use crate::args::Exec;
use crate::failure::Failure;
use crate::named;
use crate::output::say;
use crate::printer::Printer;
use crate::setup::{Setup, block_on};
use crate::signals::Signals;
use crate::waist::{Waist, unexpected};

/// How long a reader of our output may take for what is left of it at the end.
pub(crate) const OUTPUT_DEADLINE: Duration = Duration::from_secs(5);

/// Runs the turn.
pub(crate) fn run(setup: &Setup, exec: &Exec) -> Result<(), Failure> {
    // Guarded in both formats: an answer that goes to a file is for a program too (WIRE-10).
    let io = stdio::install()?;
    let prompt = prompt(exec, &io)?;
    let agent = setup.default_agent()?;
    let cwd = setup.cwd()?;
    block_on(async {
        let home = setup.home(exec.hosting);
        let (waist, local) = access::open(setup, home, "exec").await?;
        let diverted = io.diverted.clone();
        let queue = OutQueue::new();
        let writer =
            stdio::spawn_writer(io.output, queue.clone()).map_err(Failure::os("start a thread"))?;
        let mut turn = Turn {
            signals: Signals::listen()?,
            waist: Waist::open(waist, "exec").await?,
            printer: Printer::new(queue, exec.format),
            questions: Vec::new(),
            declined: 0,
        };
        let start = Start {
            cwd,
            agent,
            prompt,
            accept: setup.accept(),
        };
        let result = turn.run(exec, start).await;
        let Turn { waist, .. } = turn;
        waist.close().await;
        local.end().await;
        writer.shutdown(OUTPUT_DEADLINE).await;
        diverted.finish();
        result
    })
}

/// What the user says: the argument, or all of stdin.
fn prompt(exec: &Exec, io: &ProtocolIo) -> Result<String, Failure> {
    if exec.prompt != "-" {
        return Ok(exec.prompt.clone());
    }
    stdin_text(io)
}

/// All of stdin, at most as much as a frame may hold.
pub(crate) fn stdin_text(io: &ProtocolIo) -> Result<String, Failure> {
    let limit = DEFAULT_LINE_LIMIT as u64;
    let mut text = String::new();
    let input = (&io.input).take(limit + 1).read_to_string(&mut text);
    input.map_err(Failure::os("read the prompt from stdin"))?;
    if text.len() as u64 > limit {
        return Err(Failure::Usage(format!(
            "the prompt is longer than {limit} bytes"
        )));
    }
    Ok(text)
}

/// What a turn begins with.
struct Start {
    cwd: String,
    agent: String,
    prompt: String,
    accept: Vec<DriftClass>,
}

/// A turn under way.
struct Turn {
    signals: Signals,
    waist: Waist,
    printer: Printer,
    questions: Vec<RequestFrame>,
    declined: u32,
}

impl Turn {
    async fn run(&mut self, exec: &Exec, start: Start) -> Result<(), Failure> {
        let session = self.session(exec, &start).await?;
        let op = Op::TurnStart {
            input: vec![Content::text(start.prompt)],
            if_busy: IfBusy::Reject,
            idempotency_key: None,
        };
        let Accepted::Turn { turn } = self.call(Some(session), op).await? else {
            return Err(unexpected().into());
        };
        let ended = self.until_ended(session, turn).await?;
        self.printer.end();
        if self.declined > 0 {
            let count = self.declined;
            say(&format!(
                "permission declined {count} times: exec has nobody to ask"
            ));
        }
        verdict(ended)
    }

    /// The session to work in: a new one, the named one, or the newest of this directory.
    async fn session(&mut self, exec: &Exec, start: &Start) -> Result<SessionId, Failure> {
        let wanted = match &exec.session {
            Some(name) => {
                let session = named::resolve(&mut self.waist, name, &start.cwd).await?;
                Some((session, name.found_by()))
            }
            None if exec.last => Some((self.newest(&start.cwd).await?, FoundBy::Picker)),
            None => None,
        };
        let answers = vec![RequestKind::Permission];
        let on_disconnect = OnDisconnect::Cancel;
        let op = match wanted {
            Some((session, found_by)) => Op::SessionResume(SessionResume {
                setup: Default::default(),
                session,
                cwd: None,
                found_by,
                accept: start.accept.clone(),
                replay: Replay::None,
                mode: AttachMode::Control,
                answers,
                on_disconnect,
            }),
            None => Op::SessionNew(SessionNew {
                setup: Default::default(),
                id: None,
                cwd: start.cwd.clone(),
                agent: Some(start.agent.clone()),
                answers,
                on_disconnect,
            }),
        };
        match self.call(None, op).await? {
            Accepted::Session(view) => Ok(view.session),
            _ => Err(unexpected().into()),
        }
    }

    async fn newest(&mut self, cwd: &str) -> Result<SessionId, Failure> {
        let list = SessionList {
            cwd: Some(cwd.to_owned()),
            limit: Some(1),
            ..SessionList::default()
        };
        match self.call(None, Op::SessionList(list)).await? {
            Accepted::Sessions { sessions, .. } => sessions
                .first()
                .map(|summary| summary.session)
                .ok_or_else(|| {
                    let message = "this directory has no session yet; run exec without --last";
                    WireError::new(ErrorCode::NotFound, message).into()
                }),
            _ => Err(unexpected().into()),
        }
    }

    async fn call(&mut self, session: Option<SessionId>, op: Op) -> Result<Accepted, WireError> {
        let (printer, questions) = (&mut self.printer, &mut self.questions);
        self.waist
            .call(session, op, |frame| take(frame, printer, questions))
            .await
    }

    /// Prints, declines and interrupts until the turn has ended.
    async fn until_ended(
        &mut self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<TurnEnded, Failure> {
        let mut interrupted = false;
        loop {
            for question in std::mem::take(&mut self.questions) {
                self.decline(question).await?;
            }
            if let Some(ended) = self.printer.ended(turn) {
                return Ok(ended);
            }
            self.printer.ready().await;
            tokio::select! {
                frame = self.waist.receive() => {
                    take(frame?, &mut self.printer, &mut self.questions);
                }
                () = self.signals.caught() => {
                    if interrupted {
                        return Err(Failure::Found("interrupted twice, left at once".to_owned()));
                    }
                    interrupted = true;
                    self.interrupt(session, turn).await?;
                }
                () = self.printer.reader_gone(), if !interrupted => {
                    interrupted = true;
                    self.interrupt(session, turn).await?;
                }
            }
        }
    }

    async fn interrupt(&mut self, session: SessionId, turn: TurnId) -> Result<(), WireError> {
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Keep,
        };
        self.waist.submit(Some(session), op).await.map(drop)
    }

    /// Nobody is here to decide: the most modest refusal on offer.
    async fn decline(&mut self, question: RequestFrame) -> Result<(), WireError> {
        let outcome = match &question.body {
            RequestBody::Permission(permission) => {
                self.declined += 1;
                let modest = |kind| permission.options.iter().find(|option| option.kind == kind);
                match modest(PermissionKind::RejectOnce) {
                    Some(option) => Outcome::Selected {
                        option: option.id.clone(),
                    },
                    None => Outcome::Cancelled,
                }
            }
            _ => Outcome::Unanswered,
        };
        self.waist
            .answer(Answer {
                request: question.id,
                digest: question.digest,
                outcome,
            })
            .await
    }
}

fn take(frame: ServerFrame, printer: &mut Printer, questions: &mut Vec<RequestFrame>) {
    match frame {
        ServerFrame::Event(frame) => printer.print(frame),
        ServerFrame::Request(request) => questions.push(request),
        _ => {}
    }
}

/// What the turn's end means for the exit code.
fn verdict(ended: TurnEnded) -> Result<(), Failure> {
    match (ended.outcome, ended.error) {
        (TurnOutcome::Completed, _) => Ok(()),
        (_, Some(error)) => Err(error.into()),
        (TurnOutcome::Cancelled, None) => Err(Failure::Found("the turn was interrupted".into())),
        (_, None) => Err(Failure::Found("the turn failed".into())),
    }
}
