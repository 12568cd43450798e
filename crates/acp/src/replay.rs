//! A conversation as it is replayed: each item once, whole, in the order in which they began.

use std::collections::{HashMap, VecDeque};

use sessiond_protocol::{
    Content, Event, EventFrame, Finish, Item, ItemId, ItemKind, SessionId, Severity, ToolContent,
    TurnId, TurnOutcome,
};

use crate::client::{Client, Message, Voice};
use crate::compaction;
use crate::gate::{Gate, Gates};
use crate::live::voice;
use crate::tail::Tail;
use crate::update::{Call, Meta, Remark, Update};

pub(crate) const INTERRUPTED: &str = "[Interrupted: the session ended in the middle of this turn.]";
pub(crate) const NOT_RUN: &str = "[Not run: the session ended before this prompt's turn came.]";

/// Turns durable events into updates. What follows an item that is still open waits for it, so that
/// items come in the order in which they were first shown.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    waiting: VecDeque<Entry>,
    /// Where open items stand, counted from the first entry ever.
    open: HashMap<ItemId, usize>,
    /// Output of the calls that are open.
    outputs: HashMap<ItemId, Tail>,
    /// Entries that were sent.
    sent: usize,
    /// The turn of the newest item.
    turn: Option<TurnId>,
}

/// What a replay left open, because it happens now.
#[derive(Debug, Default)]
pub(crate) struct StillOpen {
    pub(crate) turn: Option<TurnId>,
    pub(crate) items: Vec<(ItemId, Item)>,
    pub(crate) outputs: HashMap<ItemId, Tail>,
}

/// What will be sent in one place.
#[derive(Debug)]
enum Entry {
    /// An item that has not ended: what of it is known.
    Open(ItemId, Item),
    Ended(ItemId, Item),
    /// A block that is no text.
    Content(ItemId, ItemKind, Content),
    Turn(TurnOutcome),
    Title {
        title: String,
        at: Option<String>,
    },
    /// Bytes of the log that cannot be read (LOG-4).
    Damage(u64),
}

impl Replay {
    /// Takes in the next event and sends what is complete.
    pub(crate) fn apply(&mut self, client: &Client, gates: Gates, frame: EventFrame) {
        let session = frame.session;
        if frame.item.is_some() {
            self.turn = frame.turn;
        }
        match (frame.event, frame.item) {
            (Event::ItemStarted { item }, Some(id)) if self.open_item(id).is_none() => {
                self.begin(id, item);
            }
            (Event::ItemPartial { kind, offset, text }, Some(id)) => {
                self.partial(id, kind, (offset, &text));
            }
            // What a live session has shown and not stored yet.
            (Event::ItemDelta { offset, text, .. }, Some(id)) => self.more(id, (offset, &text)),
            (Event::ItemChanged { call }, Some(id)) => {
                if let Some(item) = self.open_item(id) {
                    *item = Item::ToolCall(call);
                }
            }
            (Event::ItemEnded { item }, Some(id)) => self.end(id, item),
            (Event::ItemContent { kind, content }, Some(id)) => {
                self.waiting.push_back(Entry::Content(id, kind, content));
            }
            (Event::TurnEnded(ended), _) => self.waiting.push_back(Entry::Turn(ended.outcome)),
            (Event::SessionChanged(change), _) => {
                if let Some(title) = change.title {
                    self.waiting.push_back(Entry::Title {
                        title,
                        at: frame.at,
                    });
                }
            }
            (Event::Damage { length, .. }, _) => self.waiting.push_back(Entry::Damage(length)),
            _ => {}
        }
        while let Some(entry) = self.waiting.pop_front_if(|entry| !entry.is_open()) {
            entry.send(client, gates, session);
            self.sent += 1;
        }
    }

    /// Sends what still waits. The items that are open go on live.
    pub(crate) fn finish(self, client: &Client, gates: Gates, session: SessionId) -> StillOpen {
        let mut items = Vec::new();
        for entry in self.waiting {
            entry.send(client, gates, session);
            if let Entry::Open(id, item) = entry {
                items.push((id, item));
            }
        }
        StillOpen {
            turn: self.turn,
            items,
            outputs: self.outputs,
        }
    }

    fn begin(&mut self, id: ItemId, item: Item) {
        self.open.insert(id, self.sent + self.waiting.len());
        self.waiting.push_back(Entry::Open(id, item));
    }

    fn open_item(&mut self, id: ItemId) -> Option<&mut Item> {
        let place = self.open.get(&id)?.checked_sub(self.sent)?;
        match self.waiting.get_mut(place)? {
            Entry::Open(_, item) => Some(item),
            _ => None,
        }
    }

    /// Text that was shown before its item ended, if it ever did.
    fn partial(&mut self, id: ItemId, kind: ItemKind, text: (u64, &str)) {
        if self.open_item(id).is_none() {
            let (text, finish) = (String::new(), Finish::Whole);
            match kind {
                ItemKind::AgentMessage => self.begin(id, Item::AgentMessage { text, finish }),
                ItemKind::Thought => self.begin(id, Item::Thought { text, finish }),
                ItemKind::UserMessage
                | ItemKind::ToolCall
                | ItemKind::Plan
                | ItemKind::Compaction => {}
            }
        }
        self.more(id, text);
    }

    /// More text of an open item: of a message, or the output of a call.
    fn more(&mut self, id: ItemId, (offset, more): (u64, &str)) {
        match self.open_item(id) {
            Some(Item::AgentMessage { text, .. } | Item::Thought { text, .. })
                if text.len() as u64 == offset =>
            {
                text.push_str(more);
            }
            Some(Item::ToolCall(_)) => self.outputs.entry(id).or_default().push(offset, more),
            _ => {}
        }
    }

    fn end(&mut self, id: ItemId, mut item: Item) {
        if let Item::ToolCall(call) = &mut item {
            // Terminals belong to clients that are gone; the text of theirs is kept beside them.
            call.content
                .retain(|content| !matches!(content, ToolContent::Terminal { .. }));
        }
        let place = self
            .open
            .remove(&id)
            .and_then(|place| place.checked_sub(self.sent));
        let ended = Entry::Ended(id, item);
        match place.and_then(|place| self.waiting.get_mut(place)) {
            Some(entry) => *entry = ended,
            None => self.waiting.push_back(ended),
        }
    }
}

impl Entry {
    fn is_open(&self) -> bool {
        matches!(self, Entry::Open(..))
    }

    fn send(&self, client: &Client, gates: Gates, session: SessionId) {
        match self {
            Entry::Open(id, item) | Entry::Ended(id, item) => {
                send_item(client, gates, (session, *id), item);
            }
            Entry::Content(id, kind, content) => {
                let message = Message {
                    session,
                    id: Some(*id),
                    meta: None,
                };
                client.show(voice(*kind), content, &message);
            }
            Entry::Turn(TurnOutcome::Interrupted) => {
                mark(client, session, "interrupted", INTERRUPTED);
            }
            Entry::Turn(TurnOutcome::NotRun) => mark(client, session, "not_run", NOT_RUN),
            Entry::Turn(_) => {}
            Entry::Title { title, at } => {
                let updated_at = at.as_deref();
                client.update(session, &Update::SessionInfoUpdate { title, updated_at });
            }
            Entry::Damage(length) => damage(client, gates, session, *length),
        }
    }
}

/// Says that a place of the log cannot be read: a notice where the client shows such, else a mark.
fn damage(client: &Client, gates: Gates, session: SessionId, length: u64) {
    let said = damage_sentence(length);
    if gates.has(Gate::Notices) {
        let severity = Severity::Warning;
        client.update(
            session,
            &Update::Notice {
                severity,
                title: &said,
                description: None,
            },
        );
    } else {
        mark(client, session, "damage", &format!("[Damaged: {said}]"));
    }
}

/// What the user reads about damage.
pub(crate) fn damage_sentence(length: u64) -> String {
    format!("{length} bytes of this session's history cannot be read; the rest is shown.")
}

/// A chunk that is nobody's message: it has no message id, and says under our key what it marks.
fn mark(client: &Client, session: SessionId, marker: &'static str, text: &str) {
    let meta = Some(Meta::from(Remark::Marker(marker)));
    client.say(
        Voice::Agent,
        text,
        &Message {
            session,
            id: None,
            meta,
        },
    );
}

fn send_item(client: &Client, gates: Gates, (session, id): (SessionId, ItemId), item: &Item) {
    let message = Message {
        session,
        id: Some(id),
        meta: None,
    };
    match item {
        Item::UserMessage { content } => {
            for block in content {
                client.show(Voice::User, block, &message);
            }
        }
        Item::AgentMessage { text, finish } => {
            client.say(
                Voice::Agent,
                text,
                &Message {
                    meta: cut(*finish),
                    ..message
                },
            );
        }
        Item::Thought { text, finish } => {
            client.say(
                Voice::Thought,
                text,
                &Message {
                    meta: cut(*finish),
                    ..message
                },
            );
        }
        Item::ToolCall(call) => client.update(session, &Update::ToolCall(Call::whole(id, call))),
        Item::Plan { entries } => client.update(session, &Update::Plan { entries }),
        Item::Compaction(summed_up) => {
            compaction::tell(client, gates, (session, id), summed_up);
        }
    }
}

/// Text that ends where the process died says so (LOG-17).
fn cut(finish: Finish) -> Option<Meta> {
    (finish == Finish::Interrupted).then(|| Remark::Finish("interrupted").into())
}
