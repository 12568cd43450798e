//! The summary of a session: what a list shows, folded from its events.

use crate::{Event, EventFrame, Item, Kept, Marker, Recency, Summary};

/// Folds durable events to a [`Summary`].
#[derive(Debug, Clone, Default)]
pub struct SummaryFold {
    summary: Option<Summary>,
}

impl SummaryFold {
    /// Goes on from a summary of all events so far.
    #[must_use]
    pub fn resume(summary: Summary) -> Self {
        Self {
            summary: Some(summary),
        }
    }

    /// Takes in the next durable event.
    pub fn apply(&mut self, frame: &EventFrame) {
        let at = || frame.at.clone().unwrap_or_default();
        if let Event::SessionOpened(header) = &frame.event {
            self.summary = Some(Summary {
                // Not the header's: a fork shares that one with its parent.
                session: frame.session,
                cwd: header.cwd.clone(),
                title: None,
                agent: header.agent.name.clone(),
                created_at: at(),
                updated_at: at(),
                recency: Recency::Logged,
                turns: 0,
                damage: 0,
                roots: header.roots.clone(),
                kept: Kept::Store,
            });
        }
        let Some(summary) = &mut self.summary else {
            return;
        };
        match &frame.event {
            Event::SessionChanged(change) => {
                if change.title.is_some() {
                    summary.title.clone_from(&change.title);
                }
                if let Some(cwd) = &change.cwd {
                    summary.cwd.clone_from(cwd);
                }
                if let Some(roots) = &change.roots {
                    summary.roots.clone_from(roots);
                }
            }
            Event::TurnStarted { .. } => summary.turns += 1,
            Event::Damage { .. } => summary.damage += 1,
            // Recency is the time of the newest message, in the log's own time (LOG-14).
            Event::ItemEnded {
                item: Item::UserMessage { .. } | Item::AgentMessage { .. },
            } => {
                summary.updated_at = at();
                summary.recency = Recency::Logged;
            }
            // What came before is the parent's; the last fork in a chain of them is this session.
            Event::Marker(Marker::Fork { .. }) => summary.created_at = at(),
            _ => {}
        }
    }

    /// The summary; none where no header was seen.
    pub fn finish(self) -> Option<Summary> {
        self.summary
    }
}
