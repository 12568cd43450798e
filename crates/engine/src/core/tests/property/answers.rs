//! What agents do and ask, and how clients answer.

use sessiond_protocol::{
    Event, Hook, ItemId, Marker, Outcome, Permission, PermissionKind, PermissionOption,
    RequestBody, RequestKind, Severity, Stop, Stoppable, TerminalOp, ToolCall, ToolStatus,
    TurnOutcome, limits,
};
use uuid::Uuid;

use super::{
    Broken,
    act::{Act, How, Question},
    ensure,
    hooks::{CHANGED_BLOCKS, Waits, Word},
    model::{Fate, Fits},
    rig::{Agent, Rig},
    verdict::Taken,
};
use crate::{
    agent::{AgentError, Emit, TurnReport},
    core::{ConnId, Input},
};

fn call(status: ToolStatus) -> Box<ToolCall> {
    Box::new(ToolCall {
        name: "run".into(),
        status,
        ..ToolCall::default()
    })
}

fn body(question: Question) -> RequestBody {
    match question {
        Question::Permission(n) => {
            let option = |kind: PermissionKind| {
                let (id, name) = (kind.id().to_owned(), kind.id().to_owned());
                PermissionOption { id, name, kind }
            };
            RequestBody::Permission(Permission {
                title: "May I?".into(),
                tool: "run".into(),
                pattern: format!("p{n}"),
                options: PermissionKind::ALL.map(option).to_vec(),
            })
        }
        Question::Elicitation => RequestBody::Elicitation {
            message: "?".into(),
            schema: serde_json::json!({"type": "object"}),
        },
        Question::Read => RequestBody::FsRead {
            path: "/a".into(),
            line: None,
            limit: None,
        },
        Question::Write => RequestBody::FsWrite {
            path: "/a".into(),
            content: "x".into(),
        },
        Question::Release => RequestBody::Terminal(TerminalOp::Release {
            terminal: "t".into(),
        }),
    }
}

/// An answer of the right form, as far as the option fits.
fn right(body: &RequestBody, option: u8) -> Outcome {
    match body.kind() {
        RequestKind::Permission => {
            let kind = PermissionKind::ALL.get(usize::from(option) % 4);
            let option = kind.map_or("", |kind| kind.id()).to_owned();
            Outcome::Selected { option }
        }
        RequestKind::Elicitation | RequestKind::ElicitationUrl => Outcome::Declined,
        RequestKind::FsRead => Outcome::Text { text: "x".into() },
        RequestKind::FsWrite | RequestKind::Terminal => Outcome::Done,
        RequestKind::Mcp | RequestKind::Extension => Outcome::Declined,
        RequestKind::Hook => match option % 4 {
            0 => Outcome::Passed,
            1 => Outcome::Denied {
                reason: "because".into(),
            },
            2 => Outcome::Changed { input: changed() },
            _ => Outcome::Failed {
                message: "broken".into(),
            },
        },
    }
}

/// Another prompt, and another input of a call.
fn changed() -> serde_json::Value {
    let text = serde_json::json!({"type": "text", "text": "other"});
    vec![text; CHANGED_BLOCKS].into()
}

/// Whether what was done can be changed by a hook.
fn fits(body: &RequestBody, outcome: &Outcome) -> Fits {
    match (body, outcome) {
        (
            RequestBody::Hook(Hook::AfterTool { .. } | Hook::Stop { .. }),
            Outcome::Changed { .. },
        ) => Fits::No,
        _ => Fits::Yes,
    }
}

/// What a hook is told by an outcome.
fn word(outcome: &Outcome) -> Word {
    match outcome {
        Outcome::Denied { .. } => Word::Denied,
        Outcome::Changed { .. } => Word::Changed,
        _ => Word::None,
    }
}

/// What answers no question of this form.
fn misfit(body: &RequestBody) -> Outcome {
    match body.kind() {
        RequestKind::Permission => Outcome::Selected {
            option: "no such option".into(),
        },
        _ => Outcome::Selected {
            option: "allow_once".into(),
        },
    }
}

impl Rig {
    /// The agent does something, if there is one.
    pub(super) fn agent_acts(&mut self, act: &Act) -> Result<(), Broken> {
        if self.agent == Agent::Absent || self.is_stopped() {
            return Ok(());
        }
        match *act {
            Act::Text(text) => self.says(Emit::Text(format!("<{text}>"))),
            Act::Thought(text) => self.says(Emit::Thought(format!("({text})"))),
            Act::StartCall => self.start_call(),
            Act::ChangeCall(n) => {
                let item = self.call(Some(n));
                self.of_a_call(item, Emit::CallChanged(item, call(ToolStatus::Running)))
                    .map(drop)
            }
            Act::Output(n) => {
                let item = self.call(Some(n));
                self.of_a_call(item, Emit::CallOutput(item, format!("[{n}]")))
                    .map(drop)
            }
            Act::EndCall(n) => {
                let item = self.call(Some(n));
                self.end_call(item)
            }
            Act::Ask { call, question } => self.ask(call, body(question)),
            Act::Plan => self.says(Emit::Plan(Vec::new())),
            Act::Title => self.says(Emit::Title("a title".into())),
            Act::Notice => self.says(Emit::Notice(Severity::Info, "well".into())),
            Act::Record => {
                let marker = Marker::Native {
                    name: "n".into(),
                    value: "v".into(),
                };
                let token = self.token();
                let taken = self.take(Input::Recorded { marker, token })?;
                ensure!(
                    taken.told(token) && taken.records > 0,
                    "a marker is recorded"
                );
                Ok(())
            }
            Act::TakeSteers => {
                let token = self.token();
                let taken = self.take(Input::TakeSteers { token })?;
                let all = std::mem::take(&mut self.model.steers);
                ensure!(
                    taken.steers == [(token, all)],
                    "{:?} of {all}",
                    taken.steers
                );
                Ok(())
            }
            Act::CallsEnded => self.calls_ended(),
            Act::SumUp(which) => self.sum_up(which),
            Act::Done if self.compacts() => self.sum_up(3),
            Act::Done if self.agent == Agent::Running => {
                let (stop, usage) = (Stop::EndTurn, None);
                self.agent_done(Ok(TurnReport { stop, usage }))
            }
            Act::Done | Act::Failed => self.agent_done(Err(AgentError::failed("broken"))),
            _ => Ok(()),
        }
    }

    fn says(&mut self, emit: Emit) -> Result<(), Broken> {
        let taken = self.emit(emit)?;
        ensure!(taken.others == 0, "what an agent says is only events");
        Ok(())
    }

    fn start_call(&mut self) -> Result<(), Broken> {
        let before = self.books.calls().len();
        let token = self.token();
        let mut call = call(ToolStatus::Pending);
        if token.0.is_multiple_of(2) {
            call.stoppable = Stoppable::Yes;
        }
        let hooked = self.model.is_hooked();
        let taken = self.take(Input::CallStarted { call, token })?;
        ensure!(self.books.calls().len() == before + 1, "a call begins");
        let waits = self
            .model
            .asks
            .values()
            .any(|a| a.waits == Waits::Call(token));
        ensure!(
            waits == hooked && taken.told(token) != hooked,
            "a call runs at once, or when its hook says so"
        );
        Ok(())
    }

    fn end_call(&mut self, item: ItemId) -> Result<(), Broken> {
        let open = self.books.calls().contains(&item);
        let hooked = open && self.model.is_hooked();
        let ended = Emit::CallEnded(item, call(ToolStatus::Completed));
        let taken = self.of_a_call(item, ended)?;
        let asked = taken.requests.iter().map(|(_, frame)| &frame.body);
        let after = |body: &RequestBody| matches!(body, RequestBody::Hook(Hook::AfterTool { .. }));
        ensure!(
            taken.others == usize::from(hooked)
                && asked.filter(|body| after(body)).count() == taken.others,
            "a client has its say after a call, if it wants one: {taken:?}"
        );
        let open = self.books.calls().contains(&item);
        ensure!(!open, "a call that ended is open");
        Ok(())
    }

    /// A call that the agent knows, open or not.
    pub(super) fn call(&self, which: Option<u8>) -> ItemId {
        let calls = &self.calls;
        let known = which.and_then(|n| calls.get(usize::from(n).checked_rem(calls.len())?));
        known
            .copied()
            .unwrap_or(ItemId::new(Uuid::from_u128(0xdead)))
    }

    fn of_a_call(&mut self, item: ItemId, emit: Emit) -> Result<Taken, Broken> {
        let open = self.books.calls().contains(&item);
        let taken = self.emit(emit)?;
        ensure!(
            open || taken.is_nothing(),
            "a call that is not open changes"
        );
        Ok(taken)
    }

    fn ask(&mut self, item: Option<u8>, body: RequestBody) -> Result<(), Broken> {
        let item = item.map(|n| self.call(Some(n)));
        let fate = self.model.fate(&body);
        let token = self.token();
        let taken = self.take(Input::Asked { item, body, token })?;
        let good = match fate {
            Fate::Reply(outcome) => {
                taken.replies == [(token, outcome)] && taken.requests.is_empty()
            }
            Fate::Ask(conn) => {
                let asked = taken.requests.iter().map(|(conn, _)| *conn);
                taken.replies.is_empty() && asked.eq([conn])
            }
            Fate::Wait => {
                let waits = Waits::Agent(token);
                let open = self.model.asks.values().any(|asked| asked.waits == waits);
                open && taken.replies.is_empty() && taken.requests.is_empty()
            }
        };
        ensure!(good, "a question gets its answer or is asked: {taken:?}");
        Ok(())
    }

    /// A client answers a request that it was sent at some time.
    pub(super) fn answer(&mut self, which: u8, how: How) -> Result<(), Broken> {
        if self.is_stopped() || self.asked.is_empty() {
            return Ok(());
        }
        // The newest ones are those that may be open.
        let back = usize::from(which) % self.asked.len().min(6);
        let at = self.asked.len() - 1 - back;
        let Some((conn, frame)) = self.asked.get(at).cloned() else {
            return Ok(());
        };
        let (mut from, mut digest) = (conn, frame.digest.clone());
        let (outcome, fits) = match how {
            How::Right(option) => {
                let outcome = right(&frame.body, option);
                let fits = fits(&frame.body, &outcome);
                (outcome, fits)
            }
            How::Dismissed => (Outcome::Cancelled, Fits::Yes),
            How::Misfit => (misfit(&frame.body), Fits::No),
            How::Altered => {
                digest.replace_range(..1, if digest.starts_with('0') { "1" } else { "0" });
                (right(&frame.body, 0), Fits::Yes)
            }
            How::Foreign => {
                from = ConnId(conn.0 + 1);
                (right(&frame.body, 0), Fits::Yes)
            }
        };
        let request = frame.id;
        let admits = self.model.admits(from, request, &digest, fits);
        let word = word(&outcome);
        if admits {
            self.model.word = Some((request, word));
            self.model.agent_ended = match (self.model.asks.get(&request), word) {
                (Some(asked), Word::Denied) if asked.waits == Waits::Prompt => {
                    Some(TurnOutcome::Failed)
                }
                (Some(asked), _) if asked.waits == Waits::Stop => Some(TurnOutcome::Completed),
                _ => None,
            };
            self.model.admitted(request)?;
        } else {
            self.model.refused(request);
        }
        let waits = self.model.asks.get(&request).map(|asked| asked.waits);
        let open = self.model.asks.len();
        let taken = self.take(Input::Answered {
            conn: from,
            request,
            digest,
            outcome: outcome.clone(),
        })?;
        (self.model.word, self.model.agent_ended) = (None, None);
        if admits {
            let first = taken.replies.first();
            let expected = match waits {
                Some(Waits::Agent(token)) => Some((token, outcome)),
                _ => None,
            };
            ensure!(
                first == expected.as_ref(),
                "the agent hears its answer: {taken:?}"
            );
            ensure!(
                !self.model.asks.contains_key(&request),
                "what is answered is closed"
            );
            return Ok(());
        }
        let only = taken.records == 0 && taken.urgent.is_empty() && taken.others == 1;
        ensure!(
            only && taken.refused == [from],
            "a refused answer changes nothing: {taken:?}"
        );
        ensure!(self.model.asks.len() == open, "and leaves the request open");
        Ok(())
    }

    /// The agent asks, and the client allows it for good.
    pub(super) fn allow(&mut self, what: u8) -> Result<(), Broken> {
        self.acknowledge_all()?;
        let asked = self.model.asks.len();
        self.agent_acts(&Act::Ask {
            call: None,
            question: Question::Permission(what),
        })?;
        self.acknowledge_all()?;
        if self.model.asks.len() == asked {
            return Ok(());
        }
        let always = PermissionKind::ALL
            .iter()
            .position(|kind| *kind == PermissionKind::AllowAlways);
        let always = always.ok_or("no such option")?;
        self.answer(0, How::Right(u8::try_from(always)?))
    }

    /// The agent calls something, and the client has its say after that.
    pub(super) fn review(&mut self, word: u8) -> Result<(), Broken> {
        self.acknowledge_all()?;
        if self.agent != Agent::Running || self.is_stopped() {
            return Ok(());
        }
        self.start_call()?;
        self.acknowledge_all()?;
        let denied = word >= 4;
        if self.model.is_hooked() {
            self.answer(0, How::Right(u8::from(denied)))?;
            self.acknowledge_all()?;
            if denied {
                return Ok(());
            }
        }
        let Some(item) = self.calls.last().copied() else {
            return Ok(());
        };
        self.end_call(item)?;
        if word.is_multiple_of(2) {
            self.calls_ended()?;
        }
        self.acknowledge_all()?;
        self.answer(0, How::Right(word))
    }

    /// What was added to the active turn is what the agent can still take.
    pub(super) fn steers_agree(&self) -> Result<(), Broken> {
        let turn = self.core.turn.as_ref();
        let waiting = turn.map_or(0, |turn| turn.steers.len());
        ensure!(
            waiting == self.model.steers || turn.is_none(),
            "{waiting} inputs wait for the agent, not {}",
            self.model.steers
        );
        Ok(())
    }

    /// The agent stops, and each time a hook makes it go on, as often as that goes.
    pub(super) fn insist(&mut self) -> Result<(), Broken> {
        for _ in 0..2 * (limits::CONTINUATIONS + 2) {
            if self.is_stopped() {
                return Ok(());
            }
            self.acknowledge_all()?;
            if self.model.may_stop() {
                self.answer(0, How::Right(1))?;
            } else if self.agent == Agent::Running && self.model.is_hooked() {
                self.agent_acts(&Act::Done)?;
            }
        }
        Ok(())
    }

    /// The records of requests are those of the model.
    pub(super) fn requests_agree(&self) -> Result<(), Broken> {
        if self.books.is_stale() {
            return Ok(());
        }
        let durable = self
            .model
            .asks
            .values()
            .filter(|a| a.frame.body.is_durable());
        let asked = durable.map(|asked| &asked.frame.id);
        ensure!(asked.eq(self.books.requests.keys()), "open requests differ");
        Ok(())
    }

    /// How a request was opened says what it binds (WIRE-8).
    pub(super) fn opened_as_asked(&self, since: usize) -> Result<(), Broken> {
        for frame in self.records(since) {
            if let Event::RequestOpened {
                request, digest, ..
            } = &frame.event
                && let Some(asked) = self.model.asks.get(request)
            {
                ensure!(
                    asked.frame.digest == *digest,
                    "recorded under another digest"
                );
                ensure!(asked.frame.item == frame.item, "recorded of another call");
            }
        }
        Ok(())
    }
}
