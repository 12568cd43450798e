//! What Codex says piece by piece, against what its items say at their end.

use std::collections::HashMap;

/// The messages and thoughts of a turn that stream.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// Bytes that were told, by Codex's id of the item.
    told: HashMap<String, usize>,
    /// Whose piece came last.
    speaking: Option<String>,
}

/// What is to be done before a piece is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing.
    Nothing,
    /// What was said before has ended: Codex lets go of it where it is spoken to meanwhile.
    MessageEnd,
}

impl Streams {
    /// A piece of an item comes.
    pub(super) fn piece(&mut self, id: &str, text: &str) -> Before {
        *self.told.entry(id.to_owned()).or_default() += text.len();
        let before = match self.speaking.as_deref() {
            Some(speaking) if speaking != id => Before::MessageEnd,
            _ => Before::Nothing,
        };
        self.speaking = Some(id.to_owned());
        before
    }

    /// How much of an item was told, in bytes.
    pub(super) fn told(&self, id: &str) -> usize {
        self.told.get(id).copied().unwrap_or_default()
    }

    /// An item has ended with this text: what of it was not told.
    pub(super) fn end<'t>(&mut self, id: &str, text: &'t str) -> &'t str {
        let told = self.told.remove(id).unwrap_or_default();
        self.speaking = self.speaking.take().filter(|speaking| speaking != id);
        text.get(told..).unwrap_or_default()
    }

    /// Something else than words came.
    pub(super) fn interrupted(&mut self) {
        self.speaking = None;
    }
}

#[cfg(test)]
mod tests;
