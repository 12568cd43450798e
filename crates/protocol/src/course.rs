//! The course of a conversation: which events of a log are in force, and to where it can go back.
//!
//! A log only grows. What a clear or a rewind leaves behind stays in it, can be read, and can be
//! gone back to (CKPT-2, CTX-8).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cursor, Event, EventFrame, Item, ItemId, Marker, ToolCall, ToolKind, ToolStatus, TurnId, limits,
};

/// Events that follow each other, from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// The first one.
    pub from: Cursor,
    /// The last one.
    pub to: Cursor,
}

impl Stretch {
    fn contains(&self, cursor: Cursor) -> bool {
        self.from <= cursor && cursor <= self.to
    }
}

/// Which events are the conversation in force: some stretches of what was, in order, and all from
/// one event on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    kept: Vec<Stretch>,
    from: Cursor,
}

impl InForce {
    /// Stretches that were kept, in order, and all from `from` on.
    #[must_use]
    pub fn new(kept: Vec<Stretch>, from: Cursor) -> Self {
        Self { kept, from }
    }

    /// Whether an event is in force.
    #[must_use]
    pub fn contains(&self, cursor: Cursor) -> bool {
        cursor >= self.from || self.kept.iter().any(|kept| kept.contains(cursor))
    }

    /// The event before the first one that is in force.
    #[must_use]
    pub fn before(&self) -> Cursor {
        let first = self.kept.first().map_or(self.from, |kept| kept.from);
        Cursor(first.0.saturating_sub(1))
    }

    /// Whether who is shown the conversation is shown an event: one in force, but for input that
    /// waited where the conversation was taken up again, which waits no longer; and what was changed
    /// of the session meanwhile, which a rewind leaves as it is. Events without a cursor are shown.
    #[must_use]
    pub fn shows(&self, frame: &EventFrame) -> bool {
        let Some(cursor) = frame.cursor else {
            return true;
        };
        let is_change = matches!(frame.event, Event::SessionChanged(_));
        let waited = matches!(frame.event, Event::TurnQueued { .. });
        cursor >= self.from
            || self.contains(cursor) && !waited
            || is_change && cursor > self.before()
    }
}

/// Where a conversation can go back to, what it is there, and what would be left behind: a fold of
/// all durable events of a log. It grows with the number of turns and of tool calls.
#[derive(Debug, Clone, Default)]
pub struct Course {
    active: Option<TurnId>,
    /// Ascending.
    bookmarks: Vec<Cursor>,
    /// Where what is in force begins anew, and what was kept there; ascending.
    turnings: Vec<(Cursor, Vec<Stretch>)>,
    calls: Vec<Call>,
    newest: Cursor,
}

/// A tool call that may change something outside of the conversation.
#[derive(Debug, Clone)]
struct Call {
    item: ItemId,
    at: Cursor,
    /// Whether it ran, as far as its events say.
    ran: bool,
    is_open: bool,
}

/// That an event is no bookmark: nothing can go back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct NoBookmark {
    /// The event.
    pub at: Cursor,
    /// The nearest bookmark before it.
    pub before: Option<Cursor>,
}

impl fmt::Display for NoBookmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} is no bookmark; ", self.at)?;
        match self.before {
            Some(before) => write!(f, "the nearest one before it is {before}"),
            None => f.write_str("there is none before it"),
        }
    }
}

impl Course {
    /// Takes in the next durable event. Events without a cursor are not part of the fold.
    pub fn apply(&mut self, frame: &EventFrame) {
        let Some(cursor) = frame.cursor else { return };
        self.newest = cursor;
        match &frame.event {
            Event::SessionOpened(_) | Event::Marker(Marker::Clear {}) => {
                self.turn_at(cursor, Vec::new());
            }
            Event::Marker(Marker::Rewind { kept, .. }) => self.turn_at(cursor, kept.clone()),
            Event::TurnStarted { .. } => self.active = frame.turn,
            Event::TurnEnded(_) => {
                self.active = self.active.filter(|active| Some(*active) != frame.turn);
                // In the middle of another turn there is nothing to go on from.
                if self.active.is_none() {
                    self.bookmarks.push(cursor);
                }
            }
            // What a client appended did not run here.
            Event::ItemEnded { .. } if frame.turn.is_none() => self.bookmarks.push(cursor),
            Event::ItemStarted {
                item: Item::ToolCall(call),
            }
            | Event::ItemChanged { call }
            | Event::ItemEnded {
                item: Item::ToolCall(call),
            } => self.called(frame.item, (cursor, call)),
            _ => {}
        }
    }

    fn turn_at(&mut self, cursor: Cursor, kept: Vec<Stretch>) {
        self.turnings.push((cursor, kept));
        self.bookmarks.push(cursor);
    }

    fn called(&mut self, item: Option<ItemId>, (at, call): (Cursor, &ToolCall)) {
        let Some(item) = item.filter(|_| acts(call.kind)) else {
            return;
        };
        let is_open = !call.status.is_final();
        let ran = !matches!(call.status, ToolStatus::Pending | ToolStatus::Cancelled);
        match self.calls.iter_mut().rev().find(|known| known.item == item) {
            Some(known) => {
                known.is_open = is_open;
                known.ran |= ran;
            }
            None => self.calls.push(Call {
                item,
                at,
                ran,
                is_open,
            }),
        }
    }

    /// The stretches that are in force after an event.
    fn kept_at(&self, to: Cursor) -> Vec<Stretch> {
        let turning = self.turnings.iter().rev().find(|(at, _)| *at <= to);
        // Where the beginning of a log is lost, all that is left of it is in force.
        let (from, mut kept) = turning.cloned().unwrap_or((Cursor(1), Vec::new()));
        match kept.last_mut() {
            Some(last) if last.to.next() == from => last.to = to,
            _ => kept.push(Stretch { from, to }),
        }
        kept
    }

    /// The marker that goes back to a bookmark: it names what is kept, so that every later fold
    /// needs no more than it, and what ran in the part that is left behind (CKPT-3).
    ///
    /// # Errors
    /// [`NoBookmark`] where `to` is neither the end of a turn, nor the header, a clear, a rewind or
    /// an item that was appended.
    pub fn rewind(&self, to: Cursor) -> Result<Marker, NoBookmark> {
        if let Err(at) = self.bookmarks.binary_search(&to) {
            let before = at.checked_sub(1).and_then(|at| self.bookmarks.get(at));
            let before = before.copied();
            return Err(NoBookmark { at: to, before });
        }
        let (kept, now) = (self.kept_at(to), self.kept_at(self.newest));
        let holds = |stretches: &[Stretch], at| stretches.iter().any(|s| s.contains(at));
        let left = |call: &&Call| {
            (call.ran || call.is_open) && holds(&now, call.at) && !holds(&kept, call.at)
        };
        let ran = self.calls.iter().filter(left).count() as u64;
        let calls = self.calls.iter().filter(left).map(|call| call.item);
        Ok(Marker::Rewind {
            to,
            ran,
            calls: calls.take(limits::NOTED_CALLS).collect(),
            kept,
        })
    }
}

/// Whether a tool of this kind may change something outside of the conversation.
fn acts(kind: ToolKind) -> bool {
    !matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think)
}
