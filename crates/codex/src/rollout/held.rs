//! What was told and waits for the results of calls before it: each call is told where it stood, with
//! its result.

use std::collections::{HashMap, VecDeque};

use sessiond_protocol::{Item, Telling, Told, ToolCall};
use sessiond_wire::foreign::Place;

/// Bytes of a file that may go by while a call waits for its result. Codex writes it before it asks
/// the model again, so a few entries at most are between them.
const WAIT_BYTES: u64 = 8 << 20;

/// Where something that was told ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct End {
    /// The file of the chain.
    pub(super) file: usize,
    /// The first byte of it that comes behind, with a line break.
    pub(super) offset: u64,
    /// The ordinal of the line that comes behind.
    pub(super) ordinal: u64,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Held {
    queue: VecDeque<Waiting>,
    /// How many have left the queue.
    gone: u64,
    /// Calls without a result yet, by their ids: how many came before them.
    open: HashMap<String, u64>,
}

#[derive(Debug)]
struct Waiting {
    told: Told,
    /// The id of the call that this is, while it has no result, and where that stands.
    open: Option<(String, Place)>,
    /// How many bytes of the thread were read before it.
    at: u64,
    end: End,
}

impl Held {
    /// Takes in what needs nothing more.
    pub(super) fn push(&mut self, told: Told, (at, end): (u64, End)) {
        let open = None;
        self.queue.push_back(Waiting {
            told,
            open,
            at,
            end,
        });
    }

    /// Takes in a call that waits for its result.
    pub(super) fn call(&mut self, told: Told, (id, place): (String, Place), (at, end): (u64, End)) {
        let nth = self.gone + self.queue.len() as u64;
        self.open.insert(id.clone(), nth);
        let open = Some((id, place));
        self.queue.push_back(Waiting {
            told,
            open,
            at,
            end,
        });
    }

    /// Whether a call waits for its result.
    pub(super) fn waits(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// The call of this id that waits; it does so no more.
    pub(super) fn answer(&mut self, id: &str, end: End) -> Option<&mut ToolCall> {
        let nth = self.open.remove(id)?;
        let at = usize::try_from(nth - self.gone).ok()?;
        let waiting = self.queue.get_mut(at)?;
        (waiting.open, waiting.end) = (None, end);
        match &mut waiting.told.what {
            Telling::Item(Item::ToolCall(call)) => Some(call),
            _ => None,
        }
    }

    /// Gives up on every call that waits; answers where they stand.
    pub(super) fn settle(&mut self) -> Vec<Place> {
        self.open.clear();
        let queue = self.queue.iter_mut();
        queue
            .filter_map(|waiting| Some(waiting.open.take()?.1))
            .collect()
    }

    /// Gives up on the calls that waited too long; answers where they stand.
    pub(super) fn settle_before(&mut self, at: u64) -> Vec<Place> {
        let Some(before) = at.checked_sub(WAIT_BYTES) else {
            return Vec::new();
        };
        let mut places = Vec::new();
        let old = self
            .queue
            .iter_mut()
            .take_while(|waiting| waiting.at < before);
        for waiting in old {
            if let Some((id, place)) = waiting.open.take() {
                self.open.remove(&id);
                places.push(place);
            }
        }
        places
    }

    /// The next thing that is whole, and where it ends.
    pub(super) fn pop(&mut self) -> Option<(Told, End)> {
        if self.queue.front()?.open.is_some() {
            return None;
        }
        self.gone += 1;
        self.queue
            .pop_front()
            .map(|waiting| (waiting.told, waiting.end))
    }
}
