//! What a transcript of another program tells, in the terms of the waist: what its reader gives and
//! what a session is made of. It is never on the wire and in no record.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::{Event, EventFrame, Item, ItemId, SessionId, Severity, Standing, Titler};

/// The next thing of a conversation that was led elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The id it shall have here; a fresh one where there is none.
    pub id: Option<ItemId>,
    /// When it was said, RFC 3339; where that is not known it was said with what came before.
    pub at: Option<String>,
    /// What.
    pub what: Telling,
}

/// What is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Telling {
    /// A message, a thought, or a tool call that has ended.
    Item(Item),
    /// All before it is summed up so for the agent (CTX-2).
    Summary(String),
    /// Something that was shown to the user and is no part of the conversation.
    Notice {
        /// How bad.
        severity: Severity,
        /// One line.
        title: String,
        /// More about it.
        description: Option<String>,
    },
}

/// What a transcript says of its conversation as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldAbout {
    /// Its id, where that is one that a session can have (ADAPT-7).
    pub session: Option<SessionId>,
    /// Where it was led.
    pub cwd: Option<String>,
    /// The branch that was checked out there.
    pub branch: Option<String>,
    /// The title, and who chose it.
    pub title: Option<(String, Titler)>,
    /// The program that wrote it, with its version.
    pub program: Option<String>,
    /// When it began, RFC 3339.
    pub began: Option<String>,
}

/// What another way of writing a conversation down cannot hold, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Losses(BTreeMap<&'static str, Lost>);

/// What is lost of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// How often.
    pub count: u64,
    /// What becomes of it.
    pub becomes: &'static str,
}

impl Losses {
    /// Takes note of one: the stable name of its kind, and what becomes of it.
    pub fn note(&mut self, kind: &'static str, becomes: &'static str) {
        self.0
            .entry(kind)
            .or_insert(Lost { count: 0, becomes })
            .count += 1;
    }

    /// All kinds, with what is lost.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Lost)> {
        self.0.iter().map(|(kind, lost)| (*kind, lost))
    }

    /// Whether nothing is lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, lost) in self.iter() {
            writeln!(f, "  {} {kind}: {}", lost.count, lost.becomes)?;
        }
        Ok(())
    }
}

/// What a session tells: the conversation in force, with what a dead process left open as closed.
#[must_use]
pub fn told_of(events: &[EventFrame]) -> (ToldAbout, Vec<Told>) {
    let mut standing = Standing::default();
    events.iter().for_each(|frame| standing.apply(frame));
    let Some(header) = standing.header.clone() else {
        return (ToldAbout::default(), Vec::new());
    };
    let in_force = standing.in_force();
    let counts = |frame: &&EventFrame| frame.cursor.is_some_and(|at| in_force.contains(at));
    let mut told: Vec<Told> = events.iter().filter(counts).filter_map(told_by).collect();
    let at = told.last().and_then(|told| told.at.clone());
    let left_open = standing.closings(header.id);
    told.extend(left_open.iter().filter_map(told_by).map(|told| Told {
        at: told.at.or_else(|| at.clone()),
        ..told
    }));
    let about = ToldAbout {
        session: Some(header.id),
        cwd: Some(header.cwd),
        branch: header.workspace.branch,
        title: standing.title.zip(standing.titled_by),
        program: Some(header.program),
        began: events.first().and_then(|frame| frame.at.clone()),
    };
    (about, told)
}

fn told_by(frame: &EventFrame) -> Option<Told> {
    let what = match &frame.event {
        Event::ItemEnded {
            item: Item::Compaction(compaction),
        } => Telling::Summary(compaction.summary.clone()),
        Event::ItemEnded { item } => Telling::Item(item.clone()),
        Event::Notice {
            severity,
            title,
            description,
        } => Telling::Notice {
            severity: *severity,
            title: title.clone(),
            description: description.clone(),
        },
        _ => return None,
    };
    Some(Told {
        id: frame.item,
        at: frame.at.clone(),
        what,
    })
}
