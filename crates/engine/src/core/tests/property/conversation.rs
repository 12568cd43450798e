//! What clients change of the conversation between its turns, and what they take back.

use std::collections::BTreeSet;

use sessiond_protocol::{
    Content, Course, Cursor, ErrorCode, Event, EventFrame, Finish, Item, Marker, Op,
    PersistenceState, SubmissionId, ToolCall, ToolStatus,
};

use super::{
    Broken,
    act::{Aim, Whose},
    ensure,
    forks::is_bookmark,
    rig::Rig,
    submissions::Expected,
    verdict::Taken,
};
use crate::core::{Cause, ConnId, Input, Sync, Urgent};

/// What is appended, by its number; the last three cannot be.
fn items(what: u8) -> Vec<Item> {
    let user = |text: &str| Item::UserMessage {
        content: vec![Content::text(text)],
    };
    let agent = || Item::AgentMessage {
        text: "said".into(),
        finish: Finish::Whole,
    };
    let thought = || Item::Thought {
        text: "thought".into(),
        finish: Finish::Whole,
    };
    let call = |status| {
        Item::ToolCall(Box::new(ToolCall {
            status,
            ..ToolCall::default()
        }))
    };
    match what {
        0 => vec![user("one")],
        1 => vec![user("two"), agent(), call(ToolStatus::Completed)],
        2 => vec![thought(), agent()],
        3 => Vec::new(),
        4 => vec![user("three"), call(ToolStatus::Running)],
        _ => vec![Item::Plan {
            entries: Vec::new(),
        }],
    }
}

/// The events in force after one of them: all since the conversation last began anew, and what was
/// in force where it was taken up again.
pub(super) fn in_force(log: &[EventFrame], to: u64) -> BTreeSet<u64> {
    type Turning = (u64, BTreeSet<u64>);
    let after = |turnings: &[Turning], to: u64| -> BTreeSet<u64> {
        let newest = turnings.iter().rev().find(|(from, _)| *from <= to);
        let (from, kept) = newest.cloned().unwrap_or((1, BTreeSet::new()));
        kept.into_iter().chain(from..=to).collect()
    };
    let mut turnings: Vec<Turning> = Vec::new();
    for (cursor, frame) in (1..).zip(log) {
        match &frame.event {
            Event::SessionOpened(_) | Event::Marker(Marker::Clear {}) => {
                turnings.push((cursor, BTreeSet::new()));
            }
            Event::Marker(Marker::Rewind { to, .. }) => {
                let kept = after(&turnings, to.0);
                turnings.push((cursor, kept));
            }
            _ => {}
        }
    }
    after(&turnings, to)
}

impl Rig {
    /// Where the conversation can go back to; in the middle of a turn there is nothing to go on
    /// from.
    fn bookmarks(&self) -> Vec<u64> {
        let mut active = None;
        let mut bookmarks = Vec::new();
        for frame in &self.log {
            match &frame.event {
                Event::TurnStarted { .. } => active = frame.turn,
                Event::TurnEnded(_) if active == frame.turn => active = None,
                _ => {}
            }
            if is_bookmark(frame) && active.is_none() {
                bookmarks.extend(frame.cursor.map(|cursor| cursor.0));
            }
        }
        bookmarks
    }

    pub(super) fn busy(&self) -> Option<Expected> {
        let (active, waiting) = self.turns();
        let busy = active.is_some() || !waiting.is_empty();
        busy.then_some(Expected::Error(ErrorCode::Busy, None))
    }

    pub(super) fn expect_rewind(&self, aim: Aim) -> (Op, Expected) {
        let bookmarks = self.bookmarks();
        let to = match aim {
            Aim::Bookmark(which) => {
                let at = usize::from(which).checked_rem(bookmarks.len());
                at.and_then(|at| bookmarks.get(at)).copied().unwrap_or(0)
            }
            Aim::Anything(which) => u64::from(which) % (self.log.len() as u64 + 2),
        };
        let good = match bookmarks.contains(&to) {
            true => Expected::Done,
            false => Expected::Error(ErrorCode::Invalid, None),
        };
        let op = Op::SessionRewind { to: Cursor(to) };
        (op, self.busy().unwrap_or(good))
    }

    pub(super) fn expect_append(&self, what: u8) -> (Op, Expected) {
        let good = match what {
            0..=2 => Expected::Done,
            _ => Expected::Error(ErrorCode::Invalid, None),
        };
        let items = items(what);
        let op = Op::SessionAppend { items };
        (op, self.busy().unwrap_or(good))
    }

    /// What the actor makes of a submission.
    pub(super) fn input(&self, cause: Cause, op: Op) -> Input {
        let Op::SessionRewind { to } = op else {
            return Input::Submitted { cause, op };
        };
        let mut course = Course::default();
        self.log.iter().for_each(|frame| course.apply(frame));
        let course = Box::new(course);
        Input::Rewind { cause, to, course }
    }

    /// CKPT-2: what is in force is what was so at the bookmark, and the agent is opened anew.
    pub(super) fn rewound(&self, taken: &Taken) -> Result<(), Broken> {
        let newest = self.log.last().map(|frame| &frame.event);
        let is_marked = matches!(newest, Some(Event::Marker(Marker::Rewind { .. })));
        ensure!(is_marked, "a rewind is recorded last");
        self.turned(taken)
    }

    /// The agent is opened anew with what is in force.
    pub(super) fn turned(&self, taken: &Taken) -> Result<(), Broken> {
        ensure!(
            taken.urgent == [Urgent::DropAgent],
            "the agent goes on with another conversation"
        );
        self.conversation_agrees()
    }

    pub(super) fn appended(
        &self,
        what: u8,
        (id, taken): (&SubmissionId, &Taken),
    ) -> Result<(), Broken> {
        let mut expected = items(what);
        if self.persistence == PersistenceState::Lean {
            expected.retain(|item| !matches!(item, Item::Thought { .. }));
        }
        let stored = |frame: &EventFrame| match &frame.event {
            Event::ItemEnded { item } if frame.turn.is_none() => {
                (frame.cause.as_ref() == Some(id)).then(|| item.clone())
            }
            _ => None,
        };
        let stored: Vec<Item> = self
            .records(taken.since)
            .iter()
            .filter_map(stored)
            .collect();
        ensure!(stored == expected, "{stored:?} is stored, not {expected:?}");
        ensure!(
            taken.sync == Sync::Synced,
            "what is appended is on stable storage before its receipt"
        );
        self.turned(taken)
    }

    /// The events in force are those of the model (CKPT-2, CTX-8).
    pub(super) fn conversation_agrees(&self) -> Result<(), Broken> {
        let newest = self.log.len() as u64;
        let expected = in_force(&self.log, newest);
        let known = self.core.in_force();
        let known: BTreeSet<u64> = (1..=newest)
            .filter(|cursor| known.contains(Cursor(*cursor)))
            .collect();
        ensure!(
            known == expected,
            "{known:?} are in force, not {expected:?}"
        );
        Ok(())
    }

    /// A client takes back one of the newest submissions that had to wait.
    pub(super) fn withdraw(&mut self, which: u8, whose: Whose) -> Result<(), Broken> {
        if self.is_stopped() || self.queued.is_empty() {
            return Ok(());
        }
        let back = usize::from(which) % self.queued.len().min(4);
        let at = self.queued.len() - 1 - back;
        let Some((asker, id, turn)) = self.queued.get(at).cloned() else {
            return Ok(());
        };
        let conn = match whose {
            Whose::Own => asker,
            Whose::Other => ConnId(asker.0 + 1),
        };
        let waits = whose == Whose::Own && self.turns().1.contains(&turn);
        if waits {
            self.model.named.insert(turn);
        }
        let taken = self.take(Input::Withdrawn(Cause { conn, id }))?;
        self.model.named.clear();
        let only = taken.urgent.is_empty() && taken.others == 0;
        ensure!(only, "only events come of a withdrawal: {taken:?}");
        ensure!(
            waits == (taken.records > 0),
            "what waits is taken back by who submitted it, and nothing else (SQEQ-4)"
        );
        ensure!(
            !waits || self.books.ended.contains_key(&turn),
            "a turn waits that was taken back"
        );
        Ok(())
    }
}
