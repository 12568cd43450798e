//! What the index keeps of one session.

use jiff::Timestamp;
use sessiond_log::{LogError, Store, Subject};
use sessiond_protocol::{EventFrame, Recency, Summary, SummaryFold};

use crate::mark::Mark;
use crate::recency::When;
use crate::record::{prompt, relevant};

/// What a log said, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) session: String,
    /// None where the log has no readable header: no row in a list, but known.
    pub(crate) content: Option<Content>,
    /// Where the log ended; none where it must be read again before the row counts.
    pub(crate) mark: Option<Mark>,
}

/// The part that is shown and searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// `updated_at` is the time to sort by, as a text.
    pub(crate) summary: Summary,
    pub(crate) millis: i64,
    pub(crate) first_prompt: Option<String>,
    /// Seq of the record after the last one that was folded.
    pub(crate) next_seq: u64,
}

/// Folds events to a [`Content`]: the fold of the protocol (LOG-1), and the first prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fold {
    summary: SummaryFold,
    first_prompt: Option<String>,
}

impl Fold {
    /// Goes on from what was folded before.
    pub(crate) fn resume(content: Content) -> Self {
        Self {
            summary: SummaryFold::resume(content.summary),
            first_prompt: content.first_prompt,
        }
    }

    pub(crate) fn apply(&mut self, frame: &EventFrame) {
        self.summary.apply(frame);
        if self.first_prompt.is_none() {
            self.first_prompt = prompt(&frame.event).map(str::to_owned);
        }
    }

    pub(crate) fn finish(self, next_seq: u64) -> Option<Content> {
        let mut summary = self.summary.finish()?;
        let when = When::of(&summary.updated_at, Timestamp::now());
        summary.updated_at = when.text;
        // A time that was clamped before is a past one now; it stays flagged up to the next message.
        if when.recency == Recency::Clamped {
            summary.recency = Recency::Clamped;
        }
        Some(Content {
            summary,
            millis: when.millis,
            first_prompt: self.first_prompt,
            next_seq,
        })
    }
}

impl Entry {
    /// Reads a whole log, one segment at a time in memory.
    pub(crate) fn read(store: &Store, subject: &Subject) -> Result<Self, LogError> {
        let name = subject.as_ref();
        // Before the log: what comes in between is read again, never missed.
        let mark = Mark::of(store.root(), name);
        let mut fold = Fold::default();
        let Ok(session) = name.parse() else {
            return Err(LogError::InvalidSubject);
        };
        let scan = store.visit(subject, &mut |record| {
            if let Some(frame) = relevant(session, &record) {
                fold.apply(&frame);
            }
        })?;
        let mut content = fold.finish(scan.next_seq);
        if let Some(content) = &mut content {
            content.summary.damage = scan.damage.len() as u64;
        }
        let session = name.to_owned();
        Ok(Self {
            session,
            content,
            mark,
        })
    }
}
