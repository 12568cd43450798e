//! Closing a session: its turns are cancelled, then it is recorded, then it is let go.

use sessiond_protocol::{Accepted, Event, Queued};

use super::{Cause, Stepping, Sync, Urgent};

/// A close that waits for the turns to end.
#[derive(Debug)]
pub(super) struct Closing {
    causes: Vec<Cause>,
}

impl Stepping<'_> {
    pub(super) fn close(&mut self, cause: Cause) {
        match &mut self.core.closing {
            Some(closing) => closing.causes.push(cause),
            None => {
                self.core.closing = Some(Closing {
                    causes: vec![cause],
                })
            }
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
        let Some(closing) = self.core.closing.take() else {
            return false;
        };
        // A session that was only looked at is closed without a trace (RESUME-3).
        if self.core.touched {
            self.record(None, None, Event::SessionClosed {});
            self.step.sync = Sync::Synced;
        }
        for cause in &closing.causes {
            self.accept(cause, Accepted::Done {});
        }
        self.core.controller = None;
        true
    }
}
