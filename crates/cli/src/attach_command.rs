//! `sessiond attach`: a session in a terminal.

mod question;

use std::collections::VecDeque;
use std::time::Duration;

use sessiond_protocol::{
    Accepted, Answer, AttachMode, Content, Event, EventFrame, IfBusy, Item, OnDisconnect, Op,
    Queued, Receipt, Replay, RequestFrame, RequestKind, ServerFrame, SessionId, SessionResume,
    TurnId, TurnOutcome, Verdict,
};
use sessiond_wire::{Line, stdio};
use tokio::sync::mpsc::Receiver;

use crate::access;
use crate::args::Attach;
use crate::channel::{self, Channel};
use crate::conversation::one_line;
use crate::failure::Failure;
use crate::named;
use crate::output::say;
use crate::printer::Printer;
use crate::setup::{Setup, block_on};
use crate::signals::Signals;
use crate::waist::{Waist, unexpected};

/// How long a reader of our output may take for what is left of it at the end.
const OUTPUT_DEADLINE: Duration = Duration::from_secs(5);

/// Longest line about a prompt or a tool call, in characters.
const LINE_CHARS: usize = 120;

/// Follows the session until the input ends or somebody says to leave.
pub(crate) fn run(setup: &Setup, attach: &Attach) -> Result<(), Failure> {
    let io = stdio::install()?;
    let cwd = setup.cwd()?;
    block_on(async {
        let home = setup.home(attach.hosting);
        let (waist, local) = access::open(setup, home, "attach").await?;
        let Channel {
            mut lines,
            queue,
            outgoing,
        } = channel::open(io)?;
        let mut waist = Waist::open(waist, "attach").await?;
        let session = named::resolve(&mut waist, &attach.session, &cwd).await?;
        let mut terminal = Terminal {
            signals: Signals::listen()?,
            waist,
            printer: Printer::new(queue, attach.format),
            session,
            turn: None,
            questions: VecDeque::new(),
            is_leaving: false,
        };
        let resume = Op::SessionResume(SessionResume {
            setup: Default::default(),
            session,
            cwd: None,
            found_by: attach.session.found_by(),
            accept: setup.accept(),
            replay: Replay::All,
            mode: AttachMode::Control,
            answers: vec![RequestKind::Permission],
            on_disconnect: OnDisconnect::Detach,
        });
        let result = terminal.run(resume, &mut lines).await;
        terminal.printer.end();
        terminal.waist.close().await;
        if let Some(engine) = local.engine() {
            // What runs here would end with this process.
            engine.idle().await;
        }
        local.end().await;
        outgoing.end(OUTPUT_DEADLINE).await;
        result
    })
}

struct Terminal {
    signals: Signals,
    waist: Waist,
    printer: Printer,
    session: SessionId,
    /// The turn that runs.
    turn: Option<TurnId>,
    /// What waits for an answer, in order.
    questions: VecDeque<RequestFrame>,
    is_leaving: bool,
}

impl Terminal {
    async fn run(&mut self, resume: Op, lines: &mut Receiver<Line>) -> Result<(), Failure> {
        let mut before = Vec::new();
        let accepted = self.waist.call(None, resume, |frame| before.push(frame));
        let Accepted::Session(_) = accepted.await? else {
            return Err(unexpected().into());
        };
        before.into_iter().for_each(|frame| self.take(frame));
        while !self.is_leaving {
            self.printer.ready().await;
            tokio::select! {
                frame = self.waist.receive() => self.take(frame?),
                line = lines.recv() => match line {
                    Some(Line::Text(text)) => self.line(text.trim()).await?,
                    Some(Line::Bad(bad)) => say(&bad.to_string()),
                    None => self.is_leaving = true,
                },
                () = self.signals.caught() => self.interrupt().await?,
                () = self.printer.reader_gone() => self.is_leaving = true,
            }
        }
        Ok(())
    }

    fn take(&mut self, frame: ServerFrame) {
        match frame {
            ServerFrame::Event(frame) => self.event(frame),
            ServerFrame::Request(request) => {
                if let Some(text) = question::text(&request) {
                    self.printer.note(&text);
                }
                self.questions.push_back(request);
            }
            ServerFrame::RequestClosed { id, .. } => self.questions.retain(|q| q.id != id),
            ServerFrame::Receipt(Receipt {
                result: Verdict::Error(error),
                ..
            })
            | ServerFrame::Error { error, .. } => say(&error.to_string()),
            ServerFrame::Receipt(_) | ServerFrame::Welcome(_) => {}
            ServerFrame::Bye {} => self.is_leaving = true,
        }
    }

    fn event(&mut self, frame: EventFrame) {
        let note = match &frame.event {
            Event::TurnStarted { .. } => {
                self.turn = frame.turn;
                None
            }
            Event::TurnEnded(ended) => {
                self.turn = self.turn.filter(|turn| Some(*turn) != frame.turn);
                match (ended.outcome, &ended.error) {
                    (TurnOutcome::Completed, _) => None,
                    (_, Some(error)) => Some(format!("[the turn failed: {}]", error.message)),
                    (TurnOutcome::Cancelled, None) => Some("[interrupted]".to_owned()),
                    (_, None) => Some("[the turn did not end well]".to_owned()),
                }
            }
            Event::ItemEnded {
                item: Item::UserMessage { content },
            } => Some(format!("> {}", said(content))),
            Event::ItemEnded {
                item: Item::ToolCall(call),
            } => Some(format!("[{}: {:?}]", cut(&call.title), call.status)),
            Event::Damage { .. } => Some("[a part of the log is damaged]".to_owned()),
            _ => None,
        };
        if let Some(note) = note.filter(|_| !self.printer.is_json()) {
            self.printer.note(&note);
        }
        self.printer.print(frame);
    }

    /// A line of the user: the answer to the question that waits, else a prompt.
    async fn line(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(asked) = self.questions.front() {
            let Some(outcome) = question::outcome(asked, text) else {
                say("the number of an option is needed");
                return Ok(());
            };
            let (request, digest) = (asked.id, asked.digest.clone());
            self.questions.pop_front();
            let answer = Answer {
                request,
                digest,
                outcome,
            };
            return Ok(self.waist.answer(answer).await?);
        }
        let start = Op::TurnStart {
            input: vec![Content::text(text.to_owned())],
            if_busy: IfBusy::Queue,
            idempotency_key: None,
        };
        self.waist.submit(Some(self.session), start).await?;
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), Failure> {
        let Some(turn) = self.turn.take() else {
            self.is_leaving = true;
            return Ok(());
        };
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Cancel,
        };
        self.waist.submit(Some(self.session), op).await?;
        Ok(())
    }
}

/// A prompt in one line.
fn said(content: &[Content]) -> String {
    let texts = content.iter().filter_map(Content::as_text);
    cut(&texts.collect::<Vec<_>>().join(" "))
}

fn cut(text: &str) -> String {
    one_line(text).chars().take(LINE_CHARS).collect()
}
