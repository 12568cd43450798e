//! Which calls somebody said no to: a fold of the questions about them.

use std::collections::{HashMap, HashSet};

use sessiond_protocol::{Event, EventFrame, ItemId, Outcome, RequestBody, RequestId};

use super::item::Verdict;

/// The questions that are open, and the calls that were declined.
#[derive(Debug, Clone, Default)]
pub(super) struct Decisions {
    /// Each question's call, and which of its options let nothing run.
    asked: HashMap<RequestId, (ItemId, Vec<String>)>,
    declined: HashSet<ItemId>,
}

impl Decisions {
    /// Takes in the next event.
    pub(super) fn apply(&mut self, frame: &EventFrame) {
        match &frame.event {
            Event::RequestOpened {
                request,
                body: RequestBody::Permission(permission),
                ..
            } => {
                let Some(item) = frame.item else { return };
                let options = permission.options.iter();
                let lets_nothing = options.filter(|option| !option.kind.allows());
                let ids = lets_nothing.map(|option| option.id.clone()).collect();
                self.asked.insert(*request, (item, ids));
            }
            Event::RequestClosed {
                request, outcome, ..
            } => {
                let asked = self.asked.remove(request);
                if let (Some((item, options)), Outcome::Selected { option }) = (asked, outcome)
                    && options.contains(option)
                {
                    self.declined.insert(item);
                }
            }
            _ => {}
        }
    }

    /// What was decided about a call that has ended; it is forgotten.
    pub(super) fn take(&mut self, item: ItemId) -> Verdict {
        match self.declined.remove(&item) {
            true => Verdict::Declined,
            false => Verdict::Open,
        }
    }
}
