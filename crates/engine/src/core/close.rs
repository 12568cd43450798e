//! Closing a session: its turns are cancelled, then it is recorded, then it is let go.

use sessiond_protocol::{Accepted, Event, Queued};

use super::{Cause, Stepping, Sync, Urgent};

/// How far the session is towards its end.
#[derive(Debug, Default)]
pub(super) enum Closing {
    #[default]
    Open,
    /// A close waits for the turns to end.
    Waits(Vec<Cause>),
    /// The last record is written; nothing happens any more.
    Closed,
}

impl Closing {
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Closing::Open)
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Closing::Closed)
    }
}

impl Stepping<'_> {
    pub(super) fn close(&mut self, cause: Cause) {
        match &mut self.core.closing {
            Closing::Waits(causes) => causes.push(cause),
            Closing::Open | Closing::Closed => self.core.closing = Closing::Waits(vec![cause]),
        }
        self.step.urgent.push(Urgent::Closing);
        self.interrupt(None, Queued::Cancel);
        self.stop_if_done();
    }

    /// Whether a close was waiting and is now done.
    pub(super) fn finish_close(&mut self) -> bool {
        if self.core.turn.is_some() || !self.core.standing.waiting.is_empty() {
            return false;
        }
        let Closing::Waits(causes) = &mut self.core.closing else {
            return false;
        };
        let causes = std::mem::take(causes);
        // A session that was only looked at is closed without a trace (RESUME-3).
        if self.core.touched {
            self.record(None, None, Event::SessionClosed {});
            self.step.sync = Sync::Synced;
        }
        for cause in &causes {
            self.accept(cause, Accepted::Done {});
        }
        self.core.closing = Closing::Closed;
        self.core.controller = None;
        true
    }
}
