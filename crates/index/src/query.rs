//! What can be asked of the index, and what it answers.

use std::{fmt, str::FromStr};

use sessiond_protocol::{SessionId, Summary};

/// Which sessions to list, newest first: those that pass every filter that is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Only those of this working directory, by its exact text (LOG-13).
    pub cwd: Option<String>,
    /// Only those of exactly this title (RESUME-2). What to make of several is the caller's to say.
    pub title: Option<String>,
    /// Only those that have this text in their title or in the beginning of their first prompt. The
    /// letters a to z match in either case; no character has a meaning of its own.
    pub search: Option<String>,
    /// Only those after this place; [`Page::next`] of the page before.
    pub after: Option<After>,
    /// How many at most; at least one.
    pub limit: u32,
}

/// A page of a list. It is short only where the list ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The rows, newest first; where times are equal, the higher id first. `updated_at` is the
    /// time they are sorted by.
    pub rows: Vec<Summary>,
    /// Where the next page begins; none after the last.
    pub next: Option<After>,
}

/// A place in a list: the sort key of a row. Rows that come or go meanwhile shift nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    pub(crate) millis: i64,
    pub(crate) session: SessionId,
}

/// The text is no place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of a list; use the `next` of the page before")]
pub struct InvalidAfter;

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.millis, self.session)
    }
}

impl FromStr for After {
    type Err = InvalidAfter;

    fn from_str(text: &str) -> Result<Self, InvalidAfter> {
        let parse = |text: &str| {
            let (millis, session) = text.split_once('/')?;
            let (millis, session) = (millis.parse().ok()?, session.parse().ok()?);
            Some(Self { millis, session })
        };
        // Only what Display writes: one place has one name.
        parse(text)
            .filter(|place| place.to_string() == text)
            .ok_or(InvalidAfter)
    }
}

#[cfg(test)]
mod tests;
