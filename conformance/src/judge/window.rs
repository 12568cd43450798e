//! Points and windows of a recording.

use std::time::Duration;

use crate::driver::{Played, answer_in};
use crate::recording::{Entry, What};

/// The entries between two points, both excluded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    after: i64,
    before: i64,
}

impl Window {
    pub(super) fn all() -> Self {
        Self {
            after: -1,
            before: i64::MAX,
        }
    }

    /// The window between two points, or the point that was not reached.
    pub(super) fn between(played: &Played, points: &[String; 2]) -> Result<Self, String> {
        let [after, before] = points;
        let at = |name: &String| point(played, name).ok_or_else(|| name.clone());
        Ok(Self {
            after: at(after)?,
            before: at(before)?,
        })
    }

    /// The window without what came within `margin` of its end.
    pub(super) fn earlier(self, entries: &[Entry], margin: Duration) -> Self {
        let end = usize::try_from(self.before).unwrap_or(usize::MAX);
        let Some(last) = entries.get(end.min(entries.len().saturating_sub(1))) else {
            return self;
        };
        let most = last.at.saturating_sub(margin);
        let first = entries.iter().position(|entry| entry.at > most);
        Self {
            before: first.map_or(self.before, position).min(self.before),
            ..self
        }
    }

    /// Whether an entry is before its end.
    pub(super) fn ends_after(self, index: usize) -> bool {
        position(index) < self.before
    }

    pub(super) fn holds(self, index: usize) -> bool {
        (self.after + 1..self.before).contains(&position(index))
    }
}

/// An index as a position; recordings are far shorter than either.
pub(super) fn position(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// Where a point is: the index of its entry, -1 for the beginning.
pub(super) fn point(played: &Played, name: &str) -> Option<i64> {
    let entries = &played.recording.entries;
    let (kind, of) = name.split_once(':').unwrap_or((name, ""));
    let found = match kind {
        "begin" => return Some(-1),
        "end" => entries.len(),
        "sent" => played.labels.get(of)?.at,
        "answer" => {
            let asked = played.labels.get(of)?;
            (asked.at..entries.len())
                .find(|index| answer_in(asked, *index, &entries[*index]).is_some())?
        }
        "started" | "ended" => {
            let process = played.names.get(of)?.last()?;
            entries.iter().position(|entry| {
                entry.process == *process
                    && match entry.what {
                        What::Started => kind == "started",
                        What::Exited(_) => kind == "ended",
                        _ => false,
                    }
            })?
        }
        _ => entries
            .iter()
            .position(|entry| matches!(&entry.what, What::Mark(mark) if mark == name))?,
    };
    Some(position(found))
}
