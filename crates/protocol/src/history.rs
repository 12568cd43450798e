//! The conversation as an agent gets it: a fold of the durable events.

use crate::{
    Event, EventFrame, HistoryItem, Item, Marker, Origin,
    hooked::{Hooked, Word},
};

/// The closed items of a session since it was last cleared, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    items: Vec<HistoryItem>,
    hooks: Hooked,
}

impl History {
    /// Takes in the next durable event.
    pub fn apply(&mut self, frame: EventFrame) {
        if let Some(word) = self.hooks.apply(&frame) {
            return self.told(word);
        }
        if let Event::Marker(Marker::Clear {}) = frame.event {
            return self.items.clear();
        }
        let (Event::ItemEnded { item }, Some(id)) = (frame.event, frame.item) else {
            return;
        };
        self.items.push(HistoryItem {
            id,
            turn: frame.turn,
            item,
            origin: Origin::Conversation,
        });
    }

    /// What a hook said to the agent is as the agent had it.
    fn told(&mut self, word: Word) {
        match word {
            Word::Said(item) => self.items.push(item),
            Word::Instead(prompt, content) => {
                let mut items = self.items.iter_mut().rev();
                if let Some(entry) = items.find(|entry| entry.id == prompt) {
                    entry.item = Item::UserMessage { content };
                    entry.origin = Origin::Hook;
                }
            }
        }
    }

    /// The items so far.
    pub fn items(&self) -> &[HistoryItem] {
        &self.items
    }

    /// The text of the newest message of the agent, if any.
    pub fn last_answer(&self) -> Option<&str> {
        self.items.iter().rev().find_map(|entry| match &entry.item {
            Item::AgentMessage { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }
}
