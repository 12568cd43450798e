//! What was said elsewhere becomes part of the conversation, in no turn: nothing of it ran here.

use sessiond_protocol::{Event, Stretch, Telling, Titler};

use super::{Stepping, conversation::prompt_text};

impl Stepping<'_> {
    pub(super) fn told(&mut self, telling: Telling) {
        let item = match telling {
            Telling::Item(item) => item,
            Telling::Summary(summary) => {
                let standing = &self.core.standing;
                let covers = Stretch {
                    from: standing.in_force().before().next(),
                    to: standing.cursor,
                };
                self.summed_up(summary, covers)
            }
            Telling::Notice {
                severity,
                title,
                description,
            } => {
                let notice = Event::Notice {
                    severity,
                    title,
                    description,
                };
                return self.record(None, None, notice);
            }
        };
        let title = prompt_text(&item).map(str::to_owned);
        let id = self.mint.item();
        self.record(None, Some(id), Event::ItemEnded { item });
        if let Some(title) = title {
            self.title(&title, Titler::Prompt);
        }
    }
}
