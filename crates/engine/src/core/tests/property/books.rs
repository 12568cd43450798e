//! The books of a session: what its events amount to, kept apart from the core's own fold, and what
//! no event may do.

use std::collections::{BTreeMap, BTreeSet};

use sessiond_protocol::{
    Cursor, Event, EventFrame, Item, ItemId, ItemKind, Marker, Place, RequestId, Standing,
    Stoppable, Titler, ToolStatus, TurnId, TurnOutcome,
};

use super::{Broken, compaction::Compactions, ensure};

/// An item that is open.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenItem {
    turn: Option<TurnId>,
    is_call: bool,
    /// Whether it can be stopped by itself.
    stops: bool,
    /// What was shown of its text.
    shown: String,
    /// Bytes of it that partials have stored.
    stored: u64,
}

/// Whose view it is: of the log, or of a client that is shown everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Log,
    Client,
}

/// What the events of a session amount to.
#[derive(Debug, Clone)]
pub(super) struct Books {
    view: View,
    pub(super) cursor: u64,
    pub(super) active: Option<TurnId>,
    pub(super) waiting: Vec<(TurnId, Place)>,
    /// All that ever waited.
    waited: BTreeSet<TurnId>,
    pub(super) ended: BTreeMap<TurnId, TurnOutcome>,
    pub(super) items: BTreeMap<ItemId, OpenItem>,
    closed_items: BTreeSet<ItemId>,
    pub(super) requests: BTreeMap<RequestId, Option<TurnId>>,
    closed_requests: BTreeSet<RequestId>,
    pub(super) compactions: Compactions,
    /// Where the conversation in force began, and where it can be taken up again.
    pub(super) base: Cursor,
    bookmark: Cursor,
    titled_by: Option<Titler>,
    /// What a dead process left open must be closed before anything else happens.
    stale: bool,
}

impl Books {
    /// Of a session without events.
    pub(super) fn new(view: View) -> Self {
        Self {
            view,
            cursor: 0,
            active: None,
            waiting: Vec::new(),
            waited: BTreeSet::new(),
            ended: BTreeMap::new(),
            items: BTreeMap::new(),
            closed_items: BTreeSet::new(),
            requests: BTreeMap::new(),
            closed_requests: BTreeSet::new(),
            compactions: Compactions::default(),
            base: Cursor::START,
            bookmark: Cursor::START,
            titled_by: None,
            stale: false,
        }
    }

    /// Those of the next process, before it has read anything.
    pub(super) fn anew(&self) -> Self {
        Self {
            compactions: self.compactions.anew(),
            ..Self::new(View::Log)
        }
    }

    /// What a turn begins after.
    fn begins_after(&self) -> Cursor {
        self.compactions.in_force().unwrap_or(self.base)
    }

    /// The same as another reader sees them.
    pub(super) fn seen_by(&self, view: View) -> Self {
        let view = Self {
            view,
            ..self.clone()
        };
        // A client that resumes is shown what was stored.
        Self {
            items: view
                .items
                .iter()
                .map(|(id, open)| {
                    let stored = open.shown.len() as u64;
                    (
                        *id,
                        OpenItem {
                            stored,
                            ..open.clone()
                        },
                    )
                })
                .collect(),
            ..view
        }
    }

    /// Whether anything is open.
    pub(super) fn is_settled(&self) -> bool {
        self.active.is_none()
            && self.waiting.is_empty()
            && self.items.is_empty()
            && self.requests.is_empty()
    }

    /// The process that wrote this is dead.
    pub(super) fn died(&mut self) {
        self.stale = !self.is_settled();
    }

    /// Whether what a dead process left open is not closed yet.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// What was shown of each item that is open.
    pub(super) fn texts(&self) -> BTreeMap<ItemId, String> {
        let texts = self.items.iter();
        texts.map(|(id, open)| (*id, open.shown.clone())).collect()
    }

    /// The calls that are open, in the order of their ids.
    pub(super) fn calls(&self) -> Vec<ItemId> {
        let calls = self.items.iter().filter(|(_, open)| open.is_call);
        calls.map(|(id, _)| *id).collect()
    }

    /// Whether a call is open that can be stopped by itself.
    pub(super) fn stops(&self, item: ItemId) -> bool {
        self.items.get(&item).is_some_and(|open| open.stops)
    }

    /// The session knows where its conversation began, and where it can be taken up (SQEQ-5).
    pub(super) fn marks_agree(&self, standing: &Standing) -> Result<(), Broken> {
        let (known, expected) = (
            (standing.base, standing.begins_after(), standing.bookmark),
            (self.base, self.begins_after(), self.bookmark),
        );
        ensure!(
            known == expected,
            "{known:?} are base, beginning and bookmark, not {expected:?}"
        );
        Ok(())
    }

    /// The conversation in force begins anew.
    fn turns_at(&mut self, frame: &EventFrame) {
        self.base = frame.cursor.unwrap_or_default();
        self.compactions.leave();
        self.bookmark = self.base;
    }

    /// Takes in the next event, which must break no rule.
    pub(super) fn apply(&mut self, frame: &EventFrame) -> Result<(), Broken> {
        if let Some(Cursor(cursor)) = frame.cursor {
            ensure!(cursor == self.cursor + 1, "cursors are dense: {cursor}");
            self.cursor = cursor;
        }
        if let Some(turn) = frame.turn {
            ensure!(
                !self.ended.contains_key(&turn),
                "{} of a turn after its end",
                frame.event.kind()
            );
            let begins = matches!(
                frame.event,
                Event::TurnQueued { .. } | Event::TurnStarted { .. }
            );
            ensure!(
                begins || self.knows(turn),
                "{} of a turn before its beginning",
                frame.event.kind()
            );
        }
        // What a run attests, and what it revokes and leaves with that, comes first.
        let closes = matches!(
            frame.event,
            Event::RequestClosed { .. }
                | Event::TurnEnded(_)
                | Event::SessionChanged(_)
                | Event::Marker(Marker::Attest { .. } | Marker::Revoke {} | Marker::Fork { .. })
        );
        let ends = matches!(frame.event, Event::ItemEnded { .. }) && frame.turn.is_some();
        ensure!(
            closes || ends || !self.stale,
            "{} before what a dead process left open was closed",
            frame.event.kind()
        );
        self.happened(frame)?;
        self.stale &= !self.is_settled();
        Ok(())
    }

    fn knows(&self, turn: TurnId) -> bool {
        self.active == Some(turn) || self.waiting.iter().any(|(id, _)| *id == turn)
    }

    fn happened(&mut self, frame: &EventFrame) -> Result<(), Broken> {
        match &frame.event {
            Event::TurnQueued { place, .. } => {
                let turn = turn_of(frame)?;
                ensure!(!self.knows(turn), "a turn is queued once");
                ensure!(self.active.is_some(), "a turn waits for another one");
                let at = match place {
                    Place::First => 0,
                    Place::Last => self.waiting.len(),
                };
                self.waiting.insert(at, (turn, *place));
                self.waited.insert(turn);
            }
            Event::TurnStarted { base, .. } => {
                ensure!(
                    *base == self.begins_after(),
                    "a turn goes on from what is in force"
                );
                self.started(turn_of(frame)?)?;
            }
            Event::TurnEnded(ended) => {
                let cursor = frame.cursor.unwrap_or_default();
                ensure!(ended.bookmark == cursor, "the bookmark is the end (SQEQ-5)");
                self.turn_ended(turn_of(frame)?, ended.outcome)?;
                if self.active.is_none() {
                    self.bookmark = cursor;
                }
            }
            Event::ItemStarted { item } => {
                self.begin(frame, item.kind())?;
                if let Item::ToolCall(call) = item {
                    self.open(frame)?.stops = call.stoppable == Stoppable::Yes;
                }
            }
            Event::ItemPartial {
                kind, offset, text, ..
            } => self.partial(frame, *kind, (*offset, text))?,
            Event::ItemDelta { offset, text, .. } => {
                let open = self.open(frame)?;
                ensure!(
                    *offset == open.shown.len() as u64,
                    "a delta goes on (WIRE-9)"
                );
                open.shown.push_str(text);
            }
            Event::ItemChanged { call } => {
                let open = self.open(frame)?;
                ensure!(open.is_call, "only a call changes");
                open.stops = call.stoppable == Stoppable::Yes;
            }
            Event::ItemEnded { item } => self.item_ended(frame, item)?,
            Event::RequestOpened { request, .. } => {
                let new = self.requests.insert(*request, frame.turn).is_none();
                ensure!(
                    new && !self.closed_requests.contains(request),
                    "asked twice"
                );
            }
            Event::RequestClosed { request, .. } => {
                let open = self.requests.remove(request).is_some();
                ensure!(open, "a request is closed once, after it was opened");
                self.closed_requests.insert(*request);
            }
            Event::SessionClosed {} => {
                ensure!(self.is_settled(), "a session is closed with all in it");
            }
            Event::SessionOpened(_) => self.turns_at(frame),
            // It is called after its parent, whoever chose that.
            Event::Marker(Marker::Fork { .. }) => self.titled_by = None,
            Event::Marker(Marker::Clear {} | Marker::Rewind { .. }) => {
                ensure!(self.is_settled(), "nothing is left behind under a turn");
                self.turns_at(frame);
            }
            Event::SessionChanged(change) if change.title.is_some() => {
                let say = |by: Option<Titler>| match by {
                    None => 0,
                    Some(Titler::Prompt) => 1,
                    Some(Titler::Agent) => 2,
                    Some(Titler::User) => 3,
                };
                let (before, by) = (say(self.titled_by), say(change.titled_by));
                ensure!(
                    by > before || by == before && by > 1,
                    "who has less say chooses the title"
                );
                self.titled_by = change.titled_by;
            }
            _ => {}
        }
        Ok(())
    }

    fn started(&mut self, turn: TurnId) -> Result<(), Broken> {
        ensure!(self.active.is_none(), "one turn is active (SQEQ-2)");
        match self.waiting.iter().position(|(id, _)| *id == turn) {
            Some(0) => drop(self.waiting.remove(0)),
            Some(_) => return Err("a turn begins out of its order".into()),
            None => ensure!(self.waiting.is_empty(), "a turn passes those that wait"),
        }
        self.active = Some(turn);
        self.compactions.begun(turn);
        Ok(())
    }

    fn turn_ended(&mut self, turn: TurnId, outcome: TurnOutcome) -> Result<(), Broken> {
        let of_it = |of: &Option<TurnId>| *of == Some(turn);
        let open = self.items.values().filter(|open| of_it(&open.turn)).count();
        ensure!(open == 0, "{open} items are open at the end of their turn");
        let open = self.requests.values().filter(|of| of_it(of)).count();
        ensure!(
            open == 0,
            "{open} requests are open at the end of their turn"
        );
        let prompt = ItemId::new(turn.uuid());
        // Nobody was told of a turn of which only the first record survived.
        let torn = self.stale && self.active == Some(turn) && !self.waited.contains(&turn);
        if self.view == View::Log {
            let prompted = self.closed_items.contains(&prompt);
            let compacts = self.compactions.contains(turn);
            ensure!(
                torn || prompted != compacts,
                "a turn has a prompt, and a compaction none"
            );
            self.compactions.ended(turn, outcome)?;
        }
        if self.active == Some(turn) {
            self.active = None;
            let expected = outcome == TurnOutcome::Interrupted;
            ensure!(expected == self.stale, "{outcome:?} of an active turn");
        } else {
            self.waiting.retain(|(id, _)| *id != turn);
            let expected = match self.stale {
                true => TurnOutcome::NotRun,
                false => TurnOutcome::Cancelled,
            };
            ensure!(outcome == expected, "{outcome:?} of a turn that waited");
        }
        self.ended.insert(turn, outcome);
        Ok(())
    }

    fn open(&mut self, frame: &EventFrame) -> Result<&mut OpenItem, Broken> {
        let kind = frame.event.kind();
        let open = frame.item.and_then(|item| self.items.get_mut(&item));
        let open = open.ok_or_else(|| format!("{kind} of an item that is not open"))?;
        ensure!(open.turn == frame.turn, "an item stays in its turn");
        Ok(open)
    }

    fn begin(&mut self, frame: &EventFrame, kind: ItemKind) -> Result<(), Broken> {
        let item = frame.item.ok_or("an item has an id")?;
        ensure!(!self.closed_items.contains(&item), "an item begins once");
        let speaks = self.items.values().any(|open| !open.is_call);
        ensure!(!speaks, "a message ends where another item begins");
        let open = OpenItem {
            turn: frame.turn,
            is_call: kind == ItemKind::ToolCall,
            ..OpenItem::default()
        };
        ensure!(
            self.items.insert(item, open).is_none(),
            "an item begins once"
        );
        Ok(())
    }

    fn partial(
        &mut self,
        frame: &EventFrame,
        kind: ItemKind,
        (offset, text): (u64, &str),
    ) -> Result<(), Broken> {
        let known = frame
            .item
            .is_some_and(|item| self.items.contains_key(&item));
        let view = self.view;
        if !known && view == View::Log {
            self.begin(frame, kind)?;
        }
        let open = self.open(frame)?;
        ensure!(open.stored == offset, "a partial goes on (LOG-17)");
        open.stored += text.len() as u64;
        match view {
            View::Log => open.shown.push_str(text),
            View::Client => {
                let stored = open.shown.get(offset as usize..open.stored as usize);
                ensure!(stored == Some(text), "a partial stores what was shown");
            }
        }
        Ok(())
    }

    fn item_ended(&mut self, frame: &EventFrame, item: &Item) -> Result<(), Broken> {
        if let Item::Compaction(_) = item {
            let turn = turn_of(frame)?;
            ensure!(self.active == Some(turn), "a compaction ends in its turn");
            self.compactions.summed_up(turn, frame.cursor)?;
        }
        let id = frame.item.ok_or("an item has an id")?;
        ensure!(self.closed_items.insert(id), "an item ends once");
        let open = self.items.remove(&id);
        if frame.turn.is_none() {
            ensure!(open.is_none(), "what is appended is whole");
            ensure!(self.is_settled(), "nothing is appended under a turn");
            self.bookmark = frame.cursor.unwrap_or(self.bookmark);
            return Ok(());
        }
        match (item, &open) {
            (Item::AgentMessage { text, .. } | Item::Thought { text, .. }, Some(open)) => {
                let whole = match self.view {
                    View::Client if !self.stale => *text == open.shown,
                    View::Client | View::Log => text.starts_with(&open.shown),
                };
                ensure!(whole, "a message ends with what was shown of it");
            }
            (Item::AgentMessage { .. } | Item::Thought { .. }, None) => {
                ensure!(
                    self.view == View::Log,
                    "a message ends that nobody saw begin"
                );
            }
            (Item::ToolCall(call), Some(open)) => {
                ensure!(open.is_call, "a call ends as a call");
                ensure!(call.status.is_final(), "a call ends with a final status");
                ensure!(
                    !self.stale || call.status == ToolStatus::Unknown,
                    "the outcome of a dead process's call is unknown (RESUME-6)"
                );
            }
            (Item::ToolCall(_), None) => return Err("a call ends that did not begin".into()),
            (Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_), open) => {
                ensure!(open.is_none(), "what is whole at once does not stream");
            }
        }
        Ok(())
    }
}

fn turn_of(frame: &EventFrame) -> Result<TurnId, Broken> {
    Ok(frame.turn.ok_or("an event of a turn names it")?)
}
