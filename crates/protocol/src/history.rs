//! The conversation as an agent gets it: a fold of the durable events.

use crate::{Event, EventFrame, HistoryItem, Item, Marker};

/// The closed items of a session since it was last cleared, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    items: Vec<HistoryItem>,
}

impl History {
    /// Takes in the next durable event.
    pub fn apply(&mut self, frame: EventFrame) {
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
        });
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
