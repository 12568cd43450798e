//! What clients submit, and what the model says must come of it.

use sessiond_protocol::{
    Accepted, Content, ErrorCode, Event, EventFrame, IfBusy, Item, ItemId, Op, Place, Queued,
    Receipt, SubmissionId, TurnId, Verdict,
};
use uuid::Uuid;

use super::{
    Broken,
    act::{Act, Which},
    ensure,
    model::{Asked, Key},
    rig::Rig,
    verdict::Taken,
};
use crate::core::{Cause, Urgent};

/// Modes that are submitted; the last one is none of the agent's.
pub(super) const MODES: [&str; 5] = ["ask", "auto", "read-only", "careful", "no such mode"];

/// What must come of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// A turn begins.
    Begin,
    /// A compaction begins.
    Compact,
    /// A turn waits.
    Wait(Place),
    /// The active turn gets it.
    Steer(TurnId),
    /// The receipt of an earlier one.
    Repeat(TurnId),
    Done,
    /// A receipt when the turns have ended.
    Later,
    Error(ErrorCode, Option<TurnId>),
}

fn input(text: u8) -> Vec<Content> {
    match text {
        0 => Vec::new(),
        text => vec![Content::text(format!("t{text}"))],
    }
}

/// The call that is to stop.
fn item_of(op: &Op) -> Option<ItemId> {
    match op {
        Op::CallCancel { item } => Some(*item),
        _ => None,
    }
}

impl Rig {
    pub(super) fn submits(&self, act: &Act) -> bool {
        matches!(
            act,
            Act::Start { .. }
                | Act::Steer { .. }
                | Act::Interrupt { .. }
                | Act::Configure(_)
                | Act::Rename(_)
                | Act::Relocate(_)
                | Act::Clear
                | Act::Close
                | Act::Rewind(_)
                | Act::Append(_)
                | Act::Compact
                | Act::Choose(_)
                | Act::StopCall(_)
        )
    }

    pub(super) fn submit(&mut self, act: &Act) -> Result<(), Broken> {
        if self.is_stopped() {
            return Ok(());
        }
        let Some(conn) = self.client else {
            return Ok(());
        };
        let id = self.submission()?;
        let (op, mut expected) = self.expect(act);
        if self.model.closed {
            // After its last record a session does nothing more.
            expected = Expected::Error(ErrorCode::NotFound, None);
        }
        let urgent = self.prepare(act, &id, expected);
        let cause = Cause {
            conn,
            id: id.clone(),
        };
        let (mode, item) = (self.model.mode.clone(), item_of(&op));
        let asks: Vec<Asked> = self.model.asks.values().cloned().collect();
        if expected == Expected::Compact {
            self.books.compactions.expect();
        }
        let input = self.input(cause, op);
        let taken = self.take(input)?;
        ensure!(
            taken.urgent.contains(&Urgent::CancelAgent) == urgent,
            "{:?}, cancelled: {urgent}",
            taken.urgent
        );
        let mut asked = self.model.asks.values();
        let tidying = asked.all(|asked| asked.frame.body.is_cleanup());
        ensure!(
            self.model.stopping.is_none() || tidying,
            "a question is open under a turn that is stopped"
        );
        self.check(act, (&id, expected), &taken)?;
        match (*act, expected, item) {
            (Act::Clear, Expected::Done, _) => self.turned(&taken),
            (Act::Rewind(_), Expected::Done, _) => self.rewound(&taken),
            (Act::Append(what), Expected::Done, _) => self.appended(what, (&id, &taken)),
            (Act::Choose(which), Expected::Done, _) => {
                self.chose(which, &taken)?;
                self.tightened(&mode, &taken)
            }
            (Act::Configure(which), Expected::Done, _) => {
                self.moded(MODES.get(usize::from(which)).copied().unwrap_or("ask"))?;
                self.tightened(&mode, &taken)
            }
            (Act::StopCall(_), Expected::Done, Some(item)) => {
                self.stopped_call(item, (&asks, &taken))
            }
            _ => Ok(()),
        }
    }

    fn expect(&self, act: &Act) -> (Op, Expected) {
        let (active, waiting) = self.turns();
        let gone = !self.model.closing.is_empty();
        let gone_error = Expected::Error(ErrorCode::NotFound, None);
        let invalid = Expected::Error(ErrorCode::Invalid, None);
        match *act {
            Act::Start { if_busy, text, key } => {
                let idempotency_key = key.and_then(|key| format!("k{key}").try_into().ok());
                let op = Op::TurnStart {
                    input: input(text),
                    if_busy,
                    idempotency_key,
                };
                let known = self.model.keys.iter().find(|known| Some(known.key) == key);
                let expected = match known {
                    Some(known) if known.text == text => Expected::Repeat(known.turn),
                    Some(known) => Expected::Error(ErrorCode::KeyReused, Some(known.turn)),
                    None if gone => gone_error,
                    None if text == 0 => invalid,
                    None => self.expect_start(if_busy),
                };
                (op, expected)
            }
            Act::Steer { turn, text } => {
                let named = self.named(turn);
                let op = Op::TurnSteer {
                    input: input(text),
                    turn: named,
                };
                let takes = active.filter(|_| self.model.stopping.is_none() && !self.compacts());
                let expected = match takes {
                    _ if gone => gone_error,
                    _ if text == 0 => invalid,
                    Some(active) if named.is_none_or(|named| named == active) => {
                        self.expect_steer(active)
                    }
                    takes => Expected::Error(ErrorCode::TurnNotActive, takes),
                };
                (op, expected)
            }
            Act::Interrupt { turn, queued } => {
                let turn = self.named(turn);
                (Op::TurnInterrupt { turn, queued }, Expected::Done)
            }
            Act::Configure(mode) => {
                let mode = MODES.get(usize::from(mode)).copied().unwrap_or("ask");
                let known = mode != "no such mode";
                let op = Op::set_mode(mode);
                (op, if known { Expected::Done } else { invalid })
            }
            Act::Rename(title) => {
                let title = ["", "one", "two"].get(usize::from(title)).copied();
                let title = title.unwrap_or_default().to_owned();
                let expected = if title.is_empty() {
                    invalid
                } else {
                    Expected::Done
                };
                (Op::SessionRename { title }, expected)
            }
            Act::Relocate(cwd) => {
                let cwd = ["here", "/w", "/x"].get(usize::from(cwd)).copied();
                let cwd = cwd.unwrap_or_default().to_owned();
                let good = cwd.starts_with('/');
                let expected = if good { Expected::Done } else { invalid };
                (Op::SessionRelocate { cwd }, expected)
            }
            Act::Clear => {
                let busy = active.is_some() || !waiting.is_empty();
                let busy = busy.then_some(Expected::Error(ErrorCode::Busy, None));
                (Op::SessionClear {}, busy.unwrap_or(Expected::Done))
            }
            Act::Rewind(aim) => self.expect_rewind(aim),
            Act::Append(what) => self.expect_append(what),
            Act::Compact => self.expect_compact(),
            Act::Choose(which) => self.expect_choice(which),
            Act::StopCall(which) => self.expect_stop(which),
            _ => (Op::SessionClose {}, Expected::Later),
        }
    }

    fn expect_start(&self, if_busy: IfBusy) -> Expected {
        let (active, waiting) = self.turns();
        let Some(active) = active else {
            return Expected::Begin;
        };
        let queue = match waiting.len() {
            16.. => Expected::Error(ErrorCode::QueueFull, None),
            _ => Expected::Wait(Place::Last),
        };
        match if_busy {
            IfBusy::Reject => Expected::Error(ErrorCode::TurnActive, Some(active)),
            IfBusy::Queue => queue,
            IfBusy::Steer if self.model.stopping.is_some() || self.compacts() => queue,
            IfBusy::Steer => self.expect_steer(active),
            IfBusy::Replace => Expected::Wait(Place::First),
        }
    }

    fn expect_steer(&self, active: TurnId) -> Expected {
        match self.model.steers {
            16.. => Expected::Error(ErrorCode::QueueFull, None),
            _ => Expected::Steer(active),
        }
    }

    fn named(&self, which: Which) -> Option<TurnId> {
        let (active, waiting) = self.turns();
        let unknown = Some(TurnId::new(Uuid::from_u128(0xdead)));
        match which {
            Which::Unnamed => None,
            Which::Active => active.or(unknown),
            Which::Waiting(_) if waiting.is_empty() => unknown,
            Which::Waiting(n) => waiting.get(usize::from(n) % waiting.len()).copied(),
            Which::Unknown => unknown,
        }
    }

    /// Tells the model what the submission does; whether it stops the agent.
    fn prepare(&mut self, act: &Act, id: &SubmissionId, expected: Expected) -> bool {
        let (active, waiting) = self.turns();
        let runs = active.is_some() && self.model.stopping.is_none();
        match (*act, expected) {
            (_, Expected::Wait(Place::First)) => {
                let before = self.books.waiting.iter();
                let replaced = before.filter(|(_, place)| *place == Place::First);
                self.model.named.extend(replaced.map(|(turn, _)| *turn));
                self.model.stopping.get_or_insert(self.now);
                runs
            }
            (Act::Interrupt { turn, queued }, Expected::Done) => {
                if queued == Queued::Cancel {
                    self.model.doomed.extend(waiting);
                }
                match self.named(turn) {
                    Some(other) if Some(other) != active => {
                        self.model.named.insert(other);
                        false
                    }
                    _ => {
                        if active.is_some() {
                            self.model.stopping.get_or_insert(self.now);
                        }
                        runs
                    }
                }
            }
            (Act::Close, Expected::Later) => {
                self.model.closing.push(id.clone());
                self.doom();
                runs
            }
            _ => false,
        }
    }

    fn check(
        &mut self,
        act: &Act,
        (id, expected): (&SubmissionId, Expected),
        taken: &Taken,
    ) -> Result<(), Broken> {
        let (active, waiting) = self.turns();
        for turn in std::mem::take(&mut self.model.named) {
            ensure!(!waiting.contains(&turn), "a turn waits that was cancelled");
        }
        let receipt = match taken.receipts.as_slice() {
            [receipt] if receipt.id == *id => &receipt.result,
            receipts => return self.check_close(expected, receipts),
        };
        let turn = match receipt {
            Verdict::Accepted(Accepted::Turn { turn } | Accepted::Repeated { turn, .. }) => {
                Some(*turn)
            }
            _ => None,
        };
        let good = match (expected, receipt) {
            (Expected::Error(code, turn), Verdict::Error(error)) => {
                ensure!(error.code == code && error.turn == turn, "{error:?}");
                taken.is_only_a_receipt()
            }
            (Expected::Repeat(first), _) => turn == Some(first) && taken.is_only_a_receipt(),
            (Expected::Begin, _) => {
                self.model.steers = 0;
                turn.is_some() && turn == active && self.begun(taken, turn)
            }
            (Expected::Compact, _) => {
                self.model.steers = 0;
                turn.is_some()
                    && turn == active
                    && self.begun(taken, turn)
                    && Self::compaction_begun(taken, turn)
            }
            (Expected::Wait(Place::First), _) => turn.is_some() && turn == waiting.first().copied(),
            (Expected::Wait(Place::Last), _) => turn.is_some() && turn == waiting.last().copied(),
            (Expected::Steer(into), _) => {
                self.model.steers += 1;
                turn == Some(into) && self.said(taken, id)
            }
            (Expected::Done, Verdict::Accepted(Accepted::Done {})) => true,
            (Expected::Later, Verdict::Accepted(Accepted::Done {})) => {
                return self.check_close(expected, &taken.receipts);
            }
            _ => false,
        };
        ensure!(good, "{expected:?} was expected, not {taken:?}");
        if let (Expected::Wait(_), Some(turn), Some(conn)) = (expected, turn, self.client) {
            self.queued.push((conn, id.clone(), turn));
        }
        if let (
            Act::Start {
                text,
                key: Some(key),
                ..
            },
            Some(turn),
        ) = (act, turn)
            && !matches!(expected, Expected::Repeat(_))
        {
            self.keep_key((*key, *text), turn, taken)?;
        }
        Ok(())
    }

    /// A close is answered when all that it waits for has ended, and so are those before it.
    fn check_close(&mut self, expected: Expected, receipts: &[Receipt]) -> Result<(), Broken> {
        ensure!(expected == Expected::Later, "one receipt, not {receipts:?}");
        let ids: Vec<&SubmissionId> = receipts.iter().map(|receipt| &receipt.id).collect();
        if self.turns().0.is_some() {
            ensure!(ids.is_empty(), "a close is done before its turns");
        }
        Ok(())
    }

    fn begun(&self, taken: &Taken, turn: Option<TurnId>) -> bool {
        let begins = |frame: &EventFrame| {
            frame.turn == turn && matches!(frame.event, Event::TurnStarted { .. })
        };
        self.records(taken.since).iter().any(begins)
    }

    /// Whether what was added to the turn is recorded under its own cause.
    fn said(&self, taken: &Taken, id: &SubmissionId) -> bool {
        let says = |frame: &EventFrame| {
            let item = match &frame.event {
                Event::ItemEnded { item } => Some(item),
                _ => None,
            };
            matches!(item, Some(Item::UserMessage { .. })) && frame.cause.as_ref() == Some(id)
        };
        self.records(taken.since).iter().any(says)
    }

    /// A process knows the keys of its session and no others (RESUME-4, RESUME-18).
    pub(super) fn keys_agree(&self) -> Result<(), Broken> {
        let known = &self.core.standing.keys;
        let known = known
            .iter()
            .map(|known| (known.keyed.key.to_string(), known.turn));
        let model = self.model.keys.iter();
        let expected = model.map(|known| (format!("k{}", known.key), known.turn));
        let (known, expected): (Vec<_>, Vec<_>) = (known.collect(), expected.collect());
        ensure!(
            known == expected,
            "{known:?} are the keys, not {expected:?}"
        );
        Ok(())
    }

    /// The key stands in a record of the step, so that it is kept where the turn is.
    fn keep_key(
        &mut self,
        (key, text): (u8, u8),
        turn: TurnId,
        taken: &Taken,
    ) -> Result<(), Broken> {
        let name = format!("k{key}");
        let holds = |frame: &&EventFrame| match serde_json::to_value(&frame.event) {
            Ok(event) => event["keyed"]["key"] == *name,
            Err(_) => false,
        };
        let record = self.records(taken.since).iter().find(holds);
        let record = record.ok_or("a key is in no record")?;
        let content = serde_json::to_value(&record.event)?["keyed"]["content"].clone();
        let algorithm = content
            .as_str()
            .and_then(|content| content.split('.').next());
        ensure!(
            algorithm == Some("blake3-keyed-1"),
            "what is kept of input is keyed (LOG-8)"
        );
        let cursor = record.cursor.unwrap_or_default().0;
        self.model.keys.push(Key {
            key,
            text,
            turn,
            cursor,
        });
        Ok(())
    }
}

impl Taken {
    pub(super) fn is_only_a_receipt(&self) -> bool {
        self.records == 0 && self.urgent.is_empty() && self.others == 1
    }
}
