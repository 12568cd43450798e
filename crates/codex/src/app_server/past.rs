//! The turns of a thread, folded from its events: those of a replay, or those of a log that is read
//! page by page. What was cleared or rewound away is left out.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};
use sessiond_protocol::{
    Cursor, Event, EventFrame, InForce, Item as Said, ItemId, Marker, SessionId, SessionOpened,
    Standing, Titler, TurnId, TurnOutcome, Usage, limits,
};

use super::decisions::Decisions;
use super::item::{Detail, Item, Place, item};
use super::open::{Begun, Open};
use super::time::{ms, seconds};

/// How a turn stands, in Codex's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TurnStatus {
    Completed,
    Interrupted,
    Failed,
    InProgress,
}

impl From<TurnOutcome> for TurnStatus {
    fn from(outcome: TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Completed => TurnStatus::Completed,
            TurnOutcome::Failed => TurnStatus::Failed,
            TurnOutcome::Cancelled | TurnOutcome::Interrupted | TurnOutcome::NotRun => {
                TurnStatus::Interrupted
            }
        }
    }
}

/// A turn with its items. Times are milliseconds of the Unix epoch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) status: TurnStatus,
    pub(super) error: Option<String>,
    pub(super) started: Option<i64>,
    pub(super) completed: Option<i64>,
    pub(super) items: Vec<Item>,
    /// The ids of items that came before these and are not kept.
    left_out: Vec<String>,
    /// Where it began: with this event.
    pub(super) at: Cursor,
    /// Where one can go back to behind it.
    pub(super) bookmark: Option<Cursor>,
}

/// Where part of a log lies: after one event, and before another or up to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) after: Cursor,
    pub(super) before: Option<Cursor>,
}

impl Extent {
    /// How many events it may hold, as far as one page can; none where that is open.
    pub(super) fn events(self) -> Option<u32> {
        let before = self.before?;
        let events = before.0.saturating_sub(self.after.0 + 1).max(1);
        let most = limits::PAGE_EVENTS;
        u32::try_from(events).ok().filter(|events| *events < most)
    }
}

impl Turn {
    /// The ids of its items, in order.
    pub(super) fn item_ids(&self) -> impl Iterator<Item = &str> {
        let kept = self.items.iter().map(|item| item.detail.id());
        self.left_out.iter().map(String::as_str).chain(kept)
    }

    /// As the app-server shows it; with its items, or as `turn/started` and the like have it.
    pub(super) fn json(&self, view: ItemsView) -> Value {
        let items: &[Item] = match view {
            ItemsView::Full => &self.items,
            ItemsView::NotLoaded => &[],
        };
        json!(self.with(items, view))
    }

    /// The same with its items, to be written at once.
    pub(super) fn shown(&self) -> impl Serialize {
        self.with(&self.items, ItemsView::Full)
    }

    fn with<'a>(&'a self, items: &'a [Item], view: ItemsView) -> Shown<'a> {
        Shown {
            id: &self.id,
            root_turn_id: &self.id,
            items,
            items_view: view,
            status: self.status,
            error: self.error.as_deref().map(turn_error),
            started_at: self.started.map(seconds),
            completed_at: self.completed.map(seconds),
            duration_ms: self
                .started
                .zip(self.completed)
                .map(|(from, to)| (to - from).max(0)),
        }
    }
}

/// A turn as the app-server shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: &'a str,
    root_turn_id: &'a str,
    items: &'a [Item],
    items_view: ItemsView,
    status: TurnStatus,
    error: Option<Value>,
    started_at: Option<i64>,
    completed_at: Option<i64>,
    duration_ms: Option<i64>,
}

/// What went wrong in a turn.
pub(super) fn turn_error(message: &str) -> Value {
    json!({ "message": message, "codexErrorInfo": "other", "additionalDetails": null })
}

/// What of a turn's items is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ItemsView {
    /// None.
    NotLoaded,
    /// All.
    Full,
}

/// Where a fold begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    OfLog,
    /// Perhaps in the middle of a turn, which is passed over.
    Anywhere,
}

/// The fold.
#[derive(Debug, Clone)]
pub(super) struct Past {
    pub(super) header: Option<SessionOpened>,
    /// When the thread was made and last spoken in, in milliseconds.
    pub(super) created: Option<i64>,
    pub(super) updated: Option<i64>,
    /// What its user called it.
    pub(super) name: Option<String>,
    /// The last turn that told its usage.
    pub(super) last_usage: Option<(String, Usage)>,
    /// Places of the log that cannot be read.
    pub(super) damage: u64,
    cwd: String,
    beginning: Beginning,
    /// The beginning of what was said first, of turns that are kept no longer.
    preview: Option<String>,
    turns: Vec<Turn>,
    /// What is open at the end of the log, for a thread that nobody runs.
    standing: Standing,
    in_force: InForce,
    /// Where the newest event lies.
    pub(super) cursor: Cursor,
    begun: HashMap<ItemId, i64>,
    decisions: Decisions,
    /// What has begun and not ended.
    pub(super) open: Open,
}

impl Default for Past {
    fn default() -> Self {
        Self {
            header: None,
            created: None,
            updated: None,
            name: None,
            last_usage: None,
            damage: 0,
            cwd: String::new(),
            beginning: Beginning::OfLog,
            preview: None,
            turns: Vec::new(),
            standing: Standing::default(),
            in_force: InForce::new(Vec::new(), Cursor::START),
            cursor: Cursor::START,
            begun: HashMap::new(),
            decisions: Decisions::default(),
            open: Open::default(),
        }
    }
}

impl Past {
    /// The fold of part of a thread's log; `cwd` is where the thread works.
    pub(super) fn within(cwd: &str) -> Self {
        Self {
            cwd: cwd.to_owned(),
            ..Self::default()
        }
    }

    /// The fold of the end of a thread's log, from somewhere on: it has the turns that begin there.
    pub(super) fn from_somewhere(cwd: &str) -> Self {
        Self {
            beginning: Beginning::Anywhere,
            ..Self::within(cwd)
        }
    }

    /// Where the thread works.
    pub(super) fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Lets go of the items of all turns that nothing is added to any more, but for their ids: what
    /// is left says where the turns lie.
    pub(super) fn outline(&mut self) {
        self.note_preview();
        let closed = self.turns.len().saturating_sub(1);
        for turn in self.turns.iter_mut().take(closed) {
            let items = std::mem::take(&mut turn.items);
            let ids = items.iter().map(|item| item.detail.id().to_owned());
            turn.left_out.extend(ids);
        }
    }

    /// Gives away the turns that nothing is added to any more, oldest first, but for those that are
    /// not in force: all before the last one (SQEQ-2, SQEQ-3).
    pub(super) fn take_done(&mut self) -> Vec<Turn> {
        if self.turns.len() < 2 {
            return Vec::new();
        }
        self.note_preview();
        let closed = self.turns.len() - 1;
        let done = self.turns.drain(..closed);
        done.filter(|turn| self.in_force.contains(turn.at))
            .collect()
    }

    /// The turns that are in force and were not given away, oldest first.
    pub(super) fn into_turns(self) -> impl Iterator<Item = Turn> {
        let in_force = self.in_force;
        let turns = self.turns.into_iter();
        turns.filter(move |turn| in_force.contains(turn.at))
    }

    /// Where these turns lie, with whatever lies between them; none where none of them is there.
    pub(super) fn extent(&self, ids: &HashSet<&str>) -> Option<Extent> {
        let is_one = |turn: &Turn| ids.contains(turn.id.as_str());
        let first = self.turns.iter().find(|turn| is_one(turn))?;
        let last = self.turns.iter().rposition(is_one)?;
        let next = self.turns.get(last + 1);
        Some(Extent {
            after: Cursor(first.at.0.saturating_sub(1)),
            before: next.map(|next| next.at),
        })
    }

    /// The turn of this id, in force or not.
    pub(super) fn known(&self, id: &str) -> Option<&Turn> {
        self.turns.iter().rev().find(|turn| turn.id == id)
    }

    /// Closes what a process left open that is not there any more, as the next load would
    /// (RESUME-6). The turn that runs here stays open.
    pub(super) fn settle(&mut self, session: SessionId, running: Option<TurnId>) {
        if running.is_none() {
            let standing = std::mem::take(&mut self.standing);
            for frame in standing.closings(session) {
                self.apply(&frame);
            }
        }
    }

    /// Adds to the turn that runs what of it has begun and not ended, as far as it was said.
    pub(super) fn goes_on<'a>(&mut self, id: TurnId, open: impl Iterator<Item = &'a Begun>) {
        let cwd = std::mem::take(&mut self.cwd);
        if let Some(turn) = self.turn_mut(Some(id)) {
            for begun in open {
                let place = Place {
                    id: begun.id,
                    cwd: &cwd,
                    verdict: Default::default(),
                    started: begun.started,
                    completed: None,
                };
                let id = begun.id.to_string();
                let is_new = turn.items.iter().all(|item| item.detail.id() != id);
                turn.items
                    .extend(item(&begun.said, place).filter(|_| is_new));
            }
        }
        self.cwd = cwd;
    }

    /// Takes in the next event.
    pub(super) fn apply(&mut self, frame: &EventFrame) {
        self.standing.apply(frame);
        if let Some(cursor) = frame.cursor {
            self.cursor = cursor;
        }
        let at = frame.at.as_deref().and_then(ms);
        self.decisions.apply(frame);
        self.open.apply(frame);
        match &frame.event {
            Event::SessionOpened(header) => {
                self.created = at;
                self.updated = at;
                self.cwd.clone_from(&header.cwd);
                self.header = Some((**header).clone());
            }
            Event::SessionChanged(change) => {
                if let (Some(title), Some(Titler::User)) = (&change.title, change.titled_by) {
                    self.name = Some(title.clone());
                }
            }
            Event::TurnStarted { .. } => self.turn_started(frame, at),
            Event::TurnEnded(ended) => {
                let error = ended.error.as_ref().map(|error| error.message.clone());
                if let (Some(turn), Some(usage)) = (frame.turn, ended.usage) {
                    self.last_usage = Some((turn.to_string(), usage));
                }
                if let Some(turn) = self.turn_mut(frame.turn) {
                    turn.status = ended.outcome.into();
                    turn.error = error.filter(|_| turn.status == TurnStatus::Failed);
                    turn.completed = at;
                    turn.bookmark = frame.cursor;
                }
            }
            Event::ItemStarted { .. } => {
                self.begun.extend(frame.item.zip(at));
            }
            Event::ItemEnded { item } => self.item_ended(frame, at, item),
            Event::Damage { .. } => self.damage += 1,
            Event::Marker(Marker::Clear {}) => {
                self.in_force = InForce::new(Vec::new(), self.cursor);
            }
            Event::Marker(Marker::Rewind { kept, .. }) => {
                self.in_force = InForce::new(kept.clone(), self.cursor);
            }
            Event::Marker(Marker::Fork { parent, at: point }) => {
                self.created = at.or(self.created);
                if let Some(header) = &mut self.header {
                    header.parent = Some(sessiond_protocol::ForkPoint {
                        session: *parent,
                        at: *point,
                    });
                }
            }
            _ => {}
        }
    }

    fn turn_started(&mut self, frame: &EventFrame, at: Option<i64>) {
        let Some(id) = frame.turn else { return };
        self.turns.push(Turn {
            id: id.to_string(),
            status: TurnStatus::InProgress,
            error: None,
            started: at,
            completed: None,
            items: Vec::new(),
            left_out: Vec::new(),
            at: self.cursor,
            bookmark: None,
        });
    }

    fn turn_mut(&mut self, id: Option<TurnId>) -> Option<&mut Turn> {
        let id = id?.to_string();
        self.turns.iter_mut().rev().find(|turn| turn.id == id)
    }

    fn item_ended(&mut self, frame: &EventFrame, at: Option<i64>, said: &Said) {
        let Some(id) = frame.item else { return };
        let started = self.begun.remove(&id).or(at);
        let shown = item(
            said,
            Place {
                id,
                cwd: &self.cwd,
                verdict: self.decisions.take(id),
                started,
                completed: at,
            },
        );
        let Some(shown) = shown else { return };
        if matches!(said, Said::UserMessage { .. } | Said::AgentMessage { .. }) {
            self.updated = at.or(self.updated);
        }
        if frame.turn.is_none() && self.begins_turn(said) {
            self.appended(id, at);
        }
        let turn = match frame.turn {
            Some(_) => self.turn_mut(frame.turn),
            None => self.turns.last_mut(),
        };
        if let Some(turn) = turn {
            turn.items.push(shown);
            if frame.turn.is_none() {
                turn.completed = at;
                turn.bookmark = frame.cursor;
            }
        }
    }

    /// What was appended without a turn is shown as turns: each message of the user begins one.
    fn begins_turn(&self, said: &Said) -> bool {
        let goes_on = |turn: &Turn| {
            turn.items.first().is_some_and(|first| match &first.detail {
                Detail::UserMessage { id, .. } => *id == turn.id,
                _ => false,
            })
        };
        match (said, self.turns.last()) {
            (Said::UserMessage { .. }, _) => true,
            (_, None) => self.beginning == Beginning::OfLog,
            (_, Some(last)) => !goes_on(last),
        }
    }

    fn appended(&mut self, id: ItemId, at: Option<i64>) {
        self.turns.push(Turn {
            id: id.to_string(),
            status: TurnStatus::Completed,
            error: None,
            started: at,
            completed: at,
            items: Vec::new(),
            left_out: Vec::new(),
            at: self.cursor,
            bookmark: None,
        });
    }

    /// The turns that are in force, oldest first.
    pub(super) fn turns(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.turns
            .iter()
            .filter(|turn| self.in_force.contains(turn.at))
    }

    /// The turn of this id, if it is in force, and the one before it.
    pub(super) fn turn(&self, id: &str) -> Option<(Option<&Turn>, &Turn)> {
        let mut before = None;
        for turn in self.turns() {
            if turn.id == id {
                return Some((before, turn));
            }
            before = Some(turn);
        }
        None
    }

    /// Where one goes back to, so that a turn and all after it are gone.
    pub(super) fn before(&self, id: &str) -> Option<Cursor> {
        let (before, _) = self.turn(id)?;
        // Before the first turn lies the header, or what the thread began anew with.
        let start = Cursor(self.in_force.before().0.max(1));
        Some(before.map_or(start, |turn| turn.bookmark.unwrap_or(start)))
    }

    /// The beginning of the first thing that was said.
    pub(super) fn preview(&self) -> String {
        let mut items = self.turns().flat_map(|turn| &turn.items);
        let said = || items.find_map(|item| item.said());
        let said = self.preview.as_deref().or_else(said);
        said.unwrap_or_default().to_owned()
    }

    /// Remembers what was said first, before items are let go of.
    fn note_preview(&mut self) {
        if self.preview.is_none() {
            let said = self.preview();
            self.preview = Some(said).filter(|said| !said.is_empty());
        }
    }

    /// The thread that it was forked from.
    pub(super) fn parent(&self) -> Option<SessionId> {
        let parent = self.header.as_ref()?.parent.as_ref()?;
        Some(parent.session)
    }
}

#[cfg(test)]
mod tests;
