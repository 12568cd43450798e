//! A core on a bench: inputs in, steps out as short lines, the durable events kept like a log.

use std::time::Duration;

use sessiond_protocol::{
    Accepted, ClosedBecause, Content, Event, EventFrame, Finish, Item, ItemId, ModePolicy,
    OnDisconnect, Op, Outcome, PersistenceState, RequestBody, RequestFrame, RequestId, RequestKind,
    SessionOpened, Settings, Standing, Stop, ToolCall, ToolStatus, TurnId, TurnOutcome, Verdict,
};

use super::fixture::{Counter, digests, header, info, session};
use crate::{
    agent::{AgentError, Emit, TurnReport},
    core::{Cause, ConnId, Core, Effect, Input, Moment, Step, Sync, Token, Urgent},
};

/// The controlling client.
pub(super) const CLIENT: ConnId = ConnId(1);
/// The epoch that the records have.
pub(super) const EPOCH: u64 = 1;
/// Another client.
pub(super) const STRANGER: ConnId = ConnId(2);

mod deaths;

pub(super) struct Bench {
    core: Core,
    ids: Counter,
    now: Duration,
    log: Vec<EventFrame>,
    asked: Option<RequestFrame>,
    call: Option<ItemId>,
    started: Vec<Vec<Content>>,
    /// Why requests were settled, as their client was told.
    closed: Vec<ClosedBecause>,
    /// Where in its frame the newest refused submission was wrong.
    pointer: Option<String>,
    /// The submissions that got a turn, with it.
    receipts: Vec<(String, String)>,
    tokens: u64,
}

impl Bench {
    /// A session with a header and a client, in which nothing has happened in this run.
    pub(super) fn attached() -> Self {
        Self::attached_until(OnDisconnect::Cancel)
    }

    pub(super) fn attached_until(on_disconnect: OnDisconnect) -> Self {
        let mut bench = Self::over(Vec::new(), Counter(0));
        let cause = Cause {
            conn: CLIENT,
            id: "new".to_owned().try_into().unwrap(),
        };
        bench.take(Input::Created {
            cause,
            header: Box::new(header()),
        });
        let (log, ids) = (bench.log, bench.ids);
        let mut bench = Self::over(log, ids);
        let answers = vec![RequestKind::Permission];
        bench.take(Input::Attached {
            conn: CLIENT,
            answers,
            on_disconnect,
        });
        bench
    }

    fn over(log: Vec<EventFrame>, ids: Counter) -> Self {
        let mut standing = Standing::default();
        log.iter().for_each(|frame| standing.apply(frame));
        Self::standing(standing, log, ids)
    }

    fn standing(standing: Standing, log: Vec<EventFrame>, ids: Counter) -> Self {
        let session = log.first().map_or_else(session, |frame| frame.session);
        let mut core = Core::new(
            session,
            "/w".into(),
            info(),
            (PersistenceState::On, EPOCH, standing),
        );
        core.learn(digests());
        Self {
            core,
            ids,
            now: Duration::ZERO,
            log,
            asked: None,
            call: None,
            started: Vec::new(),
            closed: Vec::new(),
            pointer: None,
            receipts: Vec::new(),
            tokens: 0,
        }
    }

    /// The same, of which only what is essential is stored.
    pub(super) fn lean() -> Self {
        let mut bench = Self::attached();
        bench.core.persistence = PersistenceState::Lean;
        bench
    }

    pub(super) fn header(&self) -> &SessionOpened {
        self.core.standing.header.as_ref().unwrap()
    }

    /// The durable events.
    pub(super) fn log(&self) -> &[EventFrame] {
        &self.log
    }

    pub(super) fn receipts(&self) -> &[(String, String)] {
        &self.receipts
    }

    pub(super) fn pointer(&self) -> Option<&str> {
        self.pointer.as_deref()
    }

    pub(super) fn closed(&self) -> &[ClosedBecause] {
        &self.closed
    }

    pub(super) fn withdraw_from(&mut self, conn: ConnId, id: &str) -> Vec<String> {
        let id = id.to_owned().try_into().unwrap();
        self.take(Input::Withdrawn(Cause { conn, id }))
    }

    pub(super) fn active(&self) -> Option<TurnId> {
        self.core.active_turn()
    }

    /// The prompts that are part of the conversation, in order.
    pub(super) fn prompts<'a>(&'a self) -> Vec<&'a str> {
        let prompt = |frame: &'a EventFrame| match &frame.event {
            Event::ItemEnded {
                item: Item::UserMessage { content },
            } => content.first()?.as_text(),
            _ => None,
        };
        self.log.iter().filter_map(prompt).collect()
    }

    pub(super) fn grants(&self) -> usize {
        self.core.standing.grants.len()
    }

    /// The mode and the options in force.
    pub(super) fn settings(&self) -> Settings {
        self.core.settings()
    }

    /// The newest call.
    pub(super) fn call(&self) -> ItemId {
        self.call.unwrap()
    }

    pub(super) fn mode(&self) -> Option<&str> {
        self.core.standing.mode.as_deref()
    }

    /// Another version of the agent, whose modes allow nothing.
    pub(super) fn tighten(&mut self) {
        let modes = &mut self.core.info.modes;
        modes
            .iter_mut()
            .for_each(|mode| mode.policy = ModePolicy::Deny);
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.core.deadline()
    }

    pub(super) fn snapshot(&self) -> Vec<String> {
        self.core
            .snapshot()
            .iter()
            .map(|frame| frame.event.kind().to_owned())
            .collect()
    }

    pub(super) fn take(&mut self, input: Input) -> Vec<String> {
        let now = Moment {
            elapsed: self.now,
            at: "2026-01-01T00:00:00.000Z".into(),
        };
        let step = self.core.step(input, &now, &mut self.ids);
        for frame in &step.append {
            let expected = self.log.len() as u64 + 1;
            assert_eq!(
                frame.cursor.map(|cursor| cursor.0),
                Some(expected),
                "cursors are dense"
            );
            if matches!(&frame.event, Event::ItemStarted { .. }) {
                self.call = frame.item;
            }
            self.log.push(frame.clone());
        }
        for effect in &step.then {
            match effect {
                Effect::Request(_, frame) => self.asked = Some(frame.clone()),
                Effect::RequestClosed(_, _, why) => self.closed.push(*why),
                Effect::StartAgent { prompt, .. } => self.started.push(prompt.clone()),
                Effect::Receipt(_, receipt) => match &receipt.result {
                    Verdict::Accepted(
                        Accepted::Turn { turn } | Accepted::Repeated { turn, .. },
                    ) => {
                        let receipt = (receipt.id.to_string(), turn.to_string());
                        self.receipts.push(receipt);
                    }
                    Verdict::Accepted(_) => {}
                    Verdict::Error(error) => self.pointer.clone_from(&error.pointer),
                },
                _ => {}
            }
        }
        self.lines(&step)
    }

    fn lines(&self, step: &Step) -> Vec<String> {
        let urgent = step.urgent.iter().map(|urgent| match urgent {
            Urgent::CancelAgent => "!cancel".to_owned(),
            Urgent::DropAgent => "!drop".to_owned(),
            Urgent::ForgetAgent => "!forget".to_owned(),
            Urgent::Closing => "!closing".to_owned(),
        });
        let kinds: Vec<_> = step.append.iter().map(|frame| frame.event.kind()).collect();
        let how = if step.sync == Sync::Synced {
            "synced"
        } else {
            "written"
        };
        let append = (!kinds.is_empty()).then(|| format!("append {how}: {}", kinds.join(" ")));
        urgent
            .chain(append)
            .chain(step.then.iter().map(|effect| self.line(effect)))
            .collect()
    }

    fn line(&self, effect: &Effect) -> String {
        match effect {
            Effect::Deliver(frame) => match &frame.event {
                Event::ItemDelta { offset, text, .. } => {
                    format!("event item.delta {offset} {text}")
                }
                Event::ItemPartial { offset, text, .. } => {
                    format!("event item.partial {offset} {text}")
                }
                event => format!("event {}", event.kind()),
            },
            Effect::Receipt(_, receipt) => {
                let result = match &receipt.result {
                    Verdict::Accepted(Accepted::Turn { .. }) => "turn".into(),
                    Verdict::Accepted(Accepted::Repeated { stage, .. }) => {
                        format!("again {stage:?}")
                    }
                    Verdict::Accepted(Accepted::Session(_)) => "session".into(),
                    Verdict::Accepted(_) => "done".into(),
                    Verdict::Error(error) => {
                        let code = serde_json::to_value(error.code).unwrap();
                        let code = code.as_str().unwrap().to_owned();
                        let active = error.turn.is_some() && error.turn == self.core.active_turn();
                        if active {
                            code + " of the active turn"
                        } else {
                            code
                        }
                    }
                };
                format!("receipt {} {result}", receipt.id)
            }
            Effect::Request(_, frame) => {
                let kind = serde_json::to_value(frame.body.kind()).unwrap();
                format!("request {}", kind.as_str().unwrap())
            }
            Effect::RequestClosed(..) => "request closed".into(),
            Effect::Refused(_, why) => format!("refused {}", why.code()),
            Effect::Steered => "steered".into(),
            Effect::Settings => "settings".into(),
            Effect::StopCall(_) => "stop call".into(),
            Effect::Steers(_, steers) => format!("steers {}", steers.len()),
            Effect::StartAgent { .. } => "start agent".into(),
            Effect::StartCompaction { .. } => "start compaction".into(),
            Effect::Started(..) => "started".into(),
            Effect::StartedWith(..) => "started with other input".into(),
            Effect::Denied(_, why) => format!("denied {why}"),
            Effect::Reply(_, Outcome::Selected { option }) => format!("reply selected {option}"),
            Effect::Reply(_, outcome) => {
                let outcome = serde_json::to_value(outcome).unwrap();
                format!("reply {}", outcome["type"].as_str().unwrap())
            }
            Effect::RecordDone(_) => "record done".into(),
            Effect::Stop => "stop".into(),
        }
    }

    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }

    pub(super) fn submit(&mut self, id: &str, op: Op) -> Vec<String> {
        self.submit_from(CLIENT, id, op)
    }

    pub(super) fn submit_from(&mut self, conn: ConnId, id: &str, op: Op) -> Vec<String> {
        let cause = Cause {
            conn,
            id: id.to_owned().try_into().unwrap(),
        };
        self.take(Input::Submitted { cause, op })
    }

    pub(super) fn done(&mut self, stop: Stop) -> Vec<String> {
        self.take(Input::AgentDone(Ok(TurnReport { stop, usage: None })))
    }

    pub(super) fn say(&mut self, text: &str) -> Vec<String> {
        self.take(Input::Emitted(Emit::Text(text.into())))
    }

    pub(super) fn take_steers(&mut self) -> Vec<String> {
        let token = self.token();
        self.take(Input::TakeSteers { token })
    }

    pub(super) fn fail(&mut self) -> Vec<String> {
        self.take(Input::AgentDone(Err(AgentError::failed("as told"))))
    }

    pub(super) fn take_call(&mut self, name: &str) -> Vec<String> {
        let call = Box::new(ToolCall {
            name: name.into(),
            ..ToolCall::default()
        });
        let token = self.token();
        self.take(Input::CallStarted { call, token })
    }

    pub(super) fn start_call(&mut self, name: &str) -> ItemId {
        self.take_call(name);
        self.call.unwrap()
    }

    pub(super) fn end_call(&mut self, status: ToolStatus) -> Vec<String> {
        let call = Box::new(ToolCall {
            name: "run".into(),
            status,
            ..ToolCall::default()
        });
        self.take(Input::Emitted(Emit::CallEnded(self.call.unwrap(), call)))
    }

    /// The agent is gone.
    pub(super) fn failed(&mut self) -> Vec<String> {
        self.take(Input::AgentDone(Err(AgentError::failed("gone"))))
    }

    /// What the agent was started with, each time.
    pub(super) fn started(&self) -> &[Vec<Content>] {
        &self.started
    }

    pub(super) fn now(&self) -> Duration {
        self.now
    }

    pub(super) fn ask(&mut self, body: RequestBody) -> Vec<String> {
        self.ask_about(None, body)
    }

    pub(super) fn ask_about(&mut self, item: Option<ItemId>, body: RequestBody) -> Vec<String> {
        let token = self.token();
        self.take(Input::Asked { item, body, token })
    }

    /// The newest request.
    pub(super) fn asked(&self) -> &RequestFrame {
        self.asked.as_ref().unwrap()
    }

    /// The client attaches again, with other kinds that it answers.
    pub(super) fn answers(&mut self, answers: &[RequestKind]) {
        self.answers_until(answers, OnDisconnect::Cancel);
    }

    pub(super) fn answers_until(&mut self, answers: &[RequestKind], on_disconnect: OnDisconnect) {
        self.take(Input::Attached {
            conn: CLIENT,
            answers: answers.to_vec(),
            on_disconnect,
        });
    }

    fn answer_with(
        &mut self,
        conn: ConnId,
        asked: (RequestId, &str),
        outcome: Outcome,
    ) -> Vec<String> {
        let (request, digest) = (asked.0, asked.1.to_owned());
        self.take(Input::Answered {
            conn,
            request,
            digest,
            outcome,
        })
    }

    pub(super) fn answer(&mut self, conn: ConnId, outcome: Outcome) -> Vec<String> {
        let asked = self.asked().clone();
        self.answer_with(conn, (asked.id, &asked.digest), outcome)
    }

    pub(super) fn answer_to(&mut self, asked: &RequestFrame, outcome: Outcome) -> Vec<String> {
        self.answer_with(CLIENT, (asked.id, &asked.digest), outcome)
    }

    pub(super) fn answer_with_digest(&mut self, digest: &str, outcome: Outcome) -> Vec<String> {
        let asked = self.asked().id;
        self.answer_with(CLIENT, (asked, digest), outcome)
    }

    /// How many answers each settled request had refused.
    pub(super) fn refused(&self) -> Vec<u64> {
        let refused = |frame: &EventFrame| match &frame.event {
            Event::RequestClosed { refused, .. } => Some(*refused),
            _ => None,
        };
        self.log.iter().filter_map(refused).collect()
    }

    pub(super) fn outcomes(&self) -> Vec<TurnOutcome> {
        let ended = |frame: &EventFrame| match &frame.event {
            Event::TurnEnded(ended) => Some(ended.outcome),
            _ => None,
        };
        self.log.iter().filter_map(ended).collect()
    }

    pub(super) fn said(&self) -> Vec<(&str, Finish)> {
        self.log
            .iter()
            .filter_map(|frame| match &frame.event {
                Event::ItemEnded {
                    item: Item::AgentMessage { text, finish },
                } => Some((text.as_str(), *finish)),
                _ => None,
            })
            .collect()
    }

    pub(super) fn call_status(&self, item: ItemId) -> Option<ToolStatus> {
        self.log.iter().rev().find_map(|frame| match &frame.event {
            Event::ItemEnded {
                item: Item::ToolCall(call),
            } if frame.item == Some(item) => Some(call.status),
            _ => None,
        })
    }

    pub(super) fn title(&self) -> Option<&str> {
        self.core.standing.title.as_deref()
    }
}
