//! The end of a running tool's output: bounded, and shown at a bounded rate.

use std::time::Duration;

use tokio::time::Instant;

/// How much of the output is shown while the tool runs, in bytes: about two screenfuls. Each update
/// carries all of it, because collections replace each other in ACP.
pub(crate) const TAIL_BYTES: usize = 8 * 1024;

/// The least time between two updates with output of one call: four a second read as live, and cost
/// a client that redraws the whole call little.
pub(crate) const TAIL_INTERVAL: Duration = Duration::from_millis(250);

/// The newest output of one call.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    text: String,
    /// How many bytes of the output came so far.
    seen: u64,
    /// When it was last shown.
    shown: Option<Instant>,
    /// Whether anything came since.
    is_stale: bool,
}

impl Tail {
    /// Takes in more output; what came before is passed over (WIRE-9).
    pub(crate) fn push(&mut self, offset: u64, text: &str) {
        let known = self.seen.saturating_sub(offset);
        let fresh = usize::try_from(known)
            .ok()
            .and_then(|known| text.get(known..));
        let Some(fresh) = fresh.filter(|fresh| !fresh.is_empty()) else {
            return;
        };
        self.text.push_str(fresh);
        self.seen = offset.saturating_add(text.len() as u64);
        self.is_stale = true;
        // Twice the bound is kept, so that cutting costs little for each byte.
        if self.text.len() > 2 * TAIL_BYTES {
            let cut = self.text.len() - self.newest().len();
            self.text.drain(..cut);
        }
    }

    /// When it may be shown again; none while there is nothing new.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        self.is_stale
            .then(|| self.shown.map_or(now, |shown| shown + TAIL_INTERVAL))
    }

    /// What to show, if it is time to.
    pub(crate) fn show(&mut self, now: Instant) -> Option<&str> {
        if self.due(now)? > now {
            return None;
        }
        self.shown = Some(now);
        self.is_stale = false;
        Some(self.newest())
    }

    /// Whether any output was shown.
    pub(crate) fn was_shown(&self) -> bool {
        self.shown.is_some()
    }

    fn newest(&self) -> &str {
        let from = self.text.len().saturating_sub(TAIL_BYTES);
        self.text
            .get(self.text.ceil_char_boundary(from)..)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
