//! A core on a bench: inputs in, steps out as short lines, the durable events kept like a log.

use std::time::Duration;

use sessiond_protocol::{
    AgentId, AgentInfo, Content, Event, EventFrame, Finish, ForkPoint, IfBusy, Item, ItemId, Mode,
    ModePolicy, OnDisconnect, Op, Outcome, Permission, PermissionKind, PermissionOption,
    PersistenceState, Queued, RequestBody, RequestFrame, RequestId, RequestKind, SessionId,
    SessionOpened, Standing, Start, Stop, ToolCall, ToolStatus, TurnId, TurnOutcome, Verdict,
    Workspace,
};
use uuid::Uuid;

use crate::{
    agent::{Emit, TurnReport},
    core::{Cause, ConnId, Core, Effect, Input, Mint, Moment, Step, Sync, Token, Urgent},
};

/// The controlling client.
pub(super) const CLIENT: ConnId = ConnId(1);
/// Another one.
pub(super) const STRANGER: ConnId = ConnId(2);

pub(super) struct Bench {
    core: Core,
    ids: Counter,
    now: Duration,
    log: Vec<EventFrame>,
    asked: Option<RequestFrame>,
    call: Option<ItemId>,
    tokens: u64,
}

struct Counter(u128);

impl Counter {
    fn next(&mut self) -> Uuid {
        self.0 += 1;
        Uuid::from_u128(self.0)
    }
}

impl Mint for Counter {
    fn turn(&mut self) -> TurnId {
        TurnId::new(self.next())
    }

    fn item(&mut self) -> ItemId {
        ItemId::new(self.next())
    }

    fn request(&mut self) -> RequestId {
        RequestId::new(self.next())
    }
}

pub(super) fn start(text: &str, if_busy: IfBusy) -> Op {
    Op::TurnStart {
        input: vec![Content::text(text)],
        if_busy,
    }
}

pub(super) fn interrupt(queued: Queued) -> Op {
    Op::TurnInterrupt { turn: None, queued }
}

pub(super) fn configure(mode: &str) -> Op {
    Op::SessionConfigure { mode: mode.into() }
}

pub(super) fn rename(title: &str) -> Op {
    Op::SessionRename {
        title: title.into(),
    }
}

pub(super) fn clear() -> Op {
    Op::SessionClear {}
}

pub(super) fn close() -> Op {
    Op::SessionClose {}
}

pub(super) fn permission() -> RequestBody {
    let option = |kind: PermissionKind| {
        let (id, name) = (kind.id().to_owned(), kind.id().to_owned());
        PermissionOption { id, name, kind }
    };
    RequestBody::Permission(Permission {
        title: "Run it?".into(),
        tool: "run".into(),
        pattern: "echo hi".into(),
        options: PermissionKind::ALL.map(option).to_vec(),
    })
}

fn session() -> SessionId {
    SessionId::new(Uuid::from_u128(0xffff))
}

fn info() -> AgentInfo {
    let mode = |id: &str, policy| Mode {
        id: id.into(),
        name: id.into(),
        description: String::new(),
        policy,
    };
    AgentInfo {
        id: AgentId {
            name: "bench".into(),
            version: None,
        },
        modes: vec![
            mode("ask", ModePolicy::Ask),
            mode("auto", ModePolicy::Allow),
            mode("read-only", ModePolicy::Deny),
        ],
        commands: Vec::new(),
    }
}

fn header() -> SessionOpened {
    SessionOpened {
        start: Start::New,
        id: session(),
        format: 1,
        program: "bench".into(),
        source: "bench".into(),
        cwd: "/w".into(),
        roots: Vec::new(),
        agent: info().id,
        model: None,
        instructions: None,
        mode: Some("ask".into()),
        principal: None,
        workspace: Workspace::default(),
        parent: None,
    }
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
        let core = Core::new(
            session,
            "/w".into(),
            info(),
            (PersistenceState::On, standing),
        );
        Self {
            core,
            ids,
            now: Duration::ZERO,
            log,
            asked: None,
            call: None,
            tokens: 0,
        }
    }

    /// The same, of which only what is essential is stored.
    pub(super) fn lean() -> Self {
        let mut bench = Self::attached();
        bench.core.persistence = PersistenceState::Lean;
        bench
    }

    /// The process dies; another one reads the log and a client attaches.
    pub(super) fn killed(self) -> Self {
        let mut bench = Self::over(self.log, self.ids);
        let answers = vec![RequestKind::Permission];
        let on_disconnect = OnDisconnect::Cancel;
        bench.take(Input::Attached {
            conn: CLIENT,
            answers,
            on_disconnect,
        });
        bench
    }

    /// The id of [`Bench::forked`].
    pub(super) const FORK: SessionId = SessionId::new(Uuid::from_u128(0xf04c));

    /// A fork that has recorded nothing of its own.
    pub(super) fn forked(self) -> Self {
        let (mut log, mut standing) = (self.log, Standing::default());
        log.iter_mut().for_each(|frame| frame.session = Self::FORK);
        log.iter().for_each(|frame| standing.apply(frame));
        standing.comes_from(ForkPoint {
            session: session(),
            at: standing.cursor,
        });
        Self::standing(standing, log, self.ids)
    }

    pub(super) fn header(&self) -> &SessionOpened {
        self.core.standing.header.as_ref().unwrap()
    }

    /// The durable events.
    pub(super) fn log(&self) -> &[EventFrame] {
        &self.log
    }

    pub(super) fn grants(&self) -> usize {
        self.core.standing.grants.len()
    }

    pub(super) fn mode(&self) -> Option<&str> {
        self.core.standing.mode.as_deref()
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
            self.log.push(frame.clone());
        }
        for effect in &step.then {
            match effect {
                Effect::Request(_, frame) => self.asked = Some(frame.clone()),
                Effect::Started(_, item) => self.call = Some(*item),
                _ => {}
            }
        }
        self.lines(&step)
    }

    fn lines(&self, step: &Step) -> Vec<String> {
        let urgent = step.urgent.iter().map(|urgent| match urgent {
            Urgent::CancelAgent => "!cancel".to_owned(),
            Urgent::DropAgent => "!drop".to_owned(),
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
                    Verdict::Accepted(sessiond_protocol::Accepted::Turn { .. }) => "turn".into(),
                    Verdict::Accepted(sessiond_protocol::Accepted::Session(_)) => "session".into(),
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
            Effect::Refused(..) => "refused".into(),
            Effect::StartAgent { .. } => "start agent".into(),
            Effect::Started(..) => "started".into(),
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
        let cause = Cause {
            conn: CLIENT,
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

    pub(super) fn end_call(&mut self, status: ToolStatus) {
        let call = Box::new(ToolCall {
            name: "run".into(),
            status,
            ..ToolCall::default()
        });
        self.take(Input::Emitted(Emit::CallEnded(self.call.unwrap(), call)));
    }

    pub(super) fn ask(&mut self, body: RequestBody) -> Vec<String> {
        let token = self.token();
        self.take(Input::Asked {
            item: None,
            body,
            token,
        })
    }

    pub(super) fn answer(&mut self, conn: ConnId, outcome: Outcome) -> Vec<String> {
        let RequestFrame {
            id: request,
            digest,
            ..
        } = self.asked.clone().unwrap();
        self.take(Input::Answered {
            conn,
            request,
            digest,
            outcome,
        })
    }

    pub(super) fn answer_with_digest(&mut self, digest: &str, outcome: Outcome) -> Vec<String> {
        let request = self.asked.clone().unwrap().id;
        let digest = digest.into();
        self.take(Input::Answered {
            conn: CLIENT,
            request,
            digest,
            outcome,
        })
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
