//! The conversation as an agent gets it: a fold of the durable events.

use crate::{
    Cursor, Event, EventFrame, Finish, HistoryItem, InForce, Item, ItemKind, Marker, Origin,
    TurnId, TurnOutcome,
    hooked::{Hooked, Word},
};

/// The closed items of a session that are in force, in order: since it was last cleared, without
/// what was rewound away, and with its newest compaction in place of what that covers.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// All that was seen: what is left behind can come back.
    items: Vec<(Cursor, HistoryItem)>,
    in_force: InForce,
    hooks: Hooked,
    /// The newest turns, none of which is known to have ended well.
    broken_off: Vec<TurnId>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            in_force: InForce::new(Vec::new(), Cursor::START),
            hooks: Hooked::default(),
            broken_off: Vec::new(),
        }
    }
}

impl History {
    /// Takes in the next durable event. Who knows what is in force may leave out the rest.
    pub fn apply(&mut self, frame: EventFrame) {
        let Some(cursor) = frame.cursor else { return };
        if let Some(word) = self.hooks.apply(&frame) {
            return self.told(cursor, word);
        }
        match frame.event {
            Event::Marker(Marker::Clear {}) => {
                self.in_force = InForce::new(Vec::new(), cursor);
                self.broken_off.clear();
            }
            Event::Marker(Marker::Rewind { kept, .. }) => {
                self.in_force = InForce::new(kept, cursor);
                self.broken_off.clear();
            }
            Event::TurnStarted { .. } => self.broken_off.extend(frame.turn),
            Event::TurnEnded(ended) => match ended.outcome {
                TurnOutcome::Completed | TurnOutcome::Cancelled => self.broken_off.clear(),
                TurnOutcome::Failed | TurnOutcome::Interrupted | TurnOutcome::NotRun => {}
            },
            Event::ItemEnded { item } => {
                let (turn, origin) = (frame.turn, Origin::Conversation);
                let item = frame.item.map(|id| HistoryItem {
                    id,
                    turn,
                    item,
                    origin,
                });
                self.items.extend(item.map(|item| (cursor, item)));
            }
            // Who gets a history gets text.
            Event::ItemContent { kind, content } => {
                let (text, finish) = (content.in_words(), Finish::Whole);
                let item = match kind {
                    ItemKind::Thought => Item::Thought { text, finish },
                    _ => Item::AgentMessage { text, finish },
                };
                let item = frame.item.map(|id| HistoryItem {
                    id,
                    turn: frame.turn,
                    item,
                    origin: Origin::Content,
                });
                self.items.extend(item.map(|item| (cursor, item)));
            }
            _ => {}
        }
    }

    /// What a hook said to the agent is as the agent had it.
    fn told(&mut self, cursor: Cursor, word: Word) {
        match word {
            Word::Said(item) => self.items.push((cursor, item)),
            Word::Instead(prompt, content) => {
                let mut items = self.items.iter_mut().rev();
                if let Some((_, entry)) = items.find(|(_, entry)| entry.id == prompt) {
                    entry.item = Item::UserMessage { content };
                    entry.origin = Origin::Hook;
                }
            }
        }
    }

    /// The items so far.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &HistoryItem> {
        let compacted = self.originals().rev().find_map(|(cursor, entry)| {
            let Item::Compaction(compaction) = &entry.item else {
                return None;
            };
            Some((*cursor, entry, compaction.covers.to))
        });
        let summary = compacted.map(|(_, entry, _)| entry);
        let follows = move |(cursor, _): &&(Cursor, HistoryItem)| {
            compacted.is_none_or(|(at, _, to)| *cursor > to && *cursor != at)
        };
        let rest = self.originals().filter(follows).map(|(_, entry)| entry);
        summary.into_iter().chain(rest)
    }

    /// What is in force, as it was said.
    fn originals(&self) -> impl DoubleEndedIterator<Item = &(Cursor, HistoryItem)> {
        let in_force = |(cursor, _): &&(Cursor, HistoryItem)| self.in_force.contains(*cursor);
        self.items.iter().filter(in_force)
    }

    /// The newest turns that began and are not known to have ended well, oldest first: they run, failed
    /// or were cut by a dead process. What an agent keeps by itself may lack what was said in them.
    pub fn broken_off(&self) -> &[TurnId] {
        &self.broken_off
    }

    /// The text of the newest message of the agent, if any.
    pub fn last_answer(&self) -> Option<&str> {
        self.originals()
            .rev()
            .find_map(|(_, entry)| match &entry.item {
                Item::AgentMessage { text, .. } => Some(text.as_str()),
                _ => None,
            })
    }
}
