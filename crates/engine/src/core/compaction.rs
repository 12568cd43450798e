//! Compaction: a summary takes the place of what was said, in a turn without a prompt (CTX-2).

use serde_json::json;
use sessiond_protocol::{
    Accepted, Compaction, ErrorCode, Event, EventFrame, Item, Stop, Stretch, TurnOutcome,
    WireError, limits,
};

use super::{Cause, Effect, Stepping, digest::digest, stream::MessageEnd};
use crate::agent::{AgentError, CompactionReport};

impl Stepping<'_> {
    pub(super) fn compact(&mut self, cause: Cause) {
        if let Some(error) = self.core.occupied() {
            return self.reject(&cause, error);
        }
        let standing = &self.core.standing;
        // What a dead process left open is part of what was said.
        let says = |frame: &EventFrame| matches!(frame.event, Event::ItemEnded { .. });
        if standing.is_compact() && !self.core.closings.iter().any(says) {
            let message = "nothing was said that could be compacted";
            return self.reject(&cause, WireError::new(ErrorCode::Invalid, message));
        }
        self.record_closings();
        let standing = &self.core.standing;
        let covers = Stretch {
            from: standing.in_force().before().next(),
            to: standing.cursor,
        };
        let turn = self.mint.turn();
        self.accept(&cause, Accepted::Turn { turn });
        self.begin_task((turn, Some(cause.id)), None, Some(covers));
        self.push(Effect::StartCompaction { turn });
    }

    /// The item that stands for what it covers.
    pub(super) fn summed_up(&self, summary: String, covers: Stretch) -> Item {
        let window = self.core.standing.windows + 1;
        let digest = digest(&json!({ "covers": covers, "summary": summary, "window": window }));
        Item::Compaction(Box::new(Compaction {
            summary,
            covers,
            window,
            digest,
        }))
    }

    /// What the active turn sums up, where it is a compaction.
    pub(super) fn covers(&self) -> Option<Stretch> {
        self.core.turn.as_ref().and_then(|turn| turn.covers)
    }

    /// The summary counts from its record on; one that comes too late, or is none, never does.
    pub(super) fn compacted(&mut self, report: CompactionReport) {
        let Some(covers) = self.covers() else { return };
        let CompactionReport { summary, usage } = report;
        if self.is_cancelling() {
            return self.agent_done(Err(AgentError::failed("the compaction was cancelled")));
        }
        if summary.trim().is_empty() || summary.len() > limits::SUMMARY_BYTES {
            let message = format!(
                "a summary has from 1 to {} bytes, this one {}",
                limits::SUMMARY_BYTES,
                summary.len()
            );
            return self.agent_done(Err(AgentError::failed(message)));
        }
        self.end_message(MessageEnd::Whole);
        let item = self.summed_up(summary, covers);
        let (turn, id) = (self.turn_id(), self.mint.item());
        self.record(turn, Some(id), Event::ItemEnded { item });
        self.finish_turn(TurnOutcome::Completed, Some(Stop::EndTurn), usage, None);
    }
}
