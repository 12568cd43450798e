//! What a reader found that is not as it should be, and what of a transcript is no conversation.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Findings of one kind that are told with their places; the others are counted.
const PLACES: usize = 20;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Bytes that are no entry.
    BadLine,
    /// Entries on one line, cut apart.
    Spliced,
    /// NUL bytes before an entry.
    NulBytes,
    /// The last line was not written to its end.
    TornTail,
    /// An entry follows one that is not there; the one before it in the file was taken.
    MissingParent,
    /// Entries follow each other in a circle; it was cut.
    Cycle,
    /// An entry of an id that was there before; the first one counts.
    DuplicateEntry,
    /// A result of a call that is not there.
    OrphanResult,
    /// A call has more than one result; the first one counts.
    DuplicateResult,
    /// A call without a result; nothing tells how it ended (RESUME-6).
    UnansweredCall,
    /// A kind of entry that this version does not know.
    UnknownEntry,
    /// A block of a message that this version does not know.
    UnknownBlock,
    /// An entry of the conversation that cannot be read as one.
    UnreadableEntry,
    /// A summary longer than a session takes; it was cut.
    LongSummary,
    /// A version of the program that this reader was not proved on (ADAPT-11).
    UnprovedVersion,
    /// Entries of another branch: what was edited or rewound away.
    OtherBranch,
    /// Entries of a sub-agent's own conversation.
    Sidechain,
    /// What the program gave the model beside the conversation: attachments, reminders.
    Furniture,
    /// What the program keeps for itself: costs, queues, file history, requests.
    Bookkeeping,
    /// Commands of the program's own, and what they printed.
    LocalCommand,
    /// A thought's signature, or a thought that is only readable to the model's provider.
    SealedThought,
}

/// What a kind of finding means for who reads the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The file is not as its program would write it whole.
    Damage,
    /// Something that could not be carried over, or was taken by a rule.
    Notable,
    /// By its nature no part of a conversation.
    LeftOut,
}

impl Kind {
    /// What it means.
    #[must_use]
    pub fn weight(self) -> Weight {
        match self {
            Kind::BadLine
            | Kind::Spliced
            | Kind::NulBytes
            | Kind::TornTail
            | Kind::MissingParent
            | Kind::Cycle
            | Kind::DuplicateEntry
            | Kind::OrphanResult
            | Kind::DuplicateResult
            | Kind::UnreadableEntry => Weight::Damage,
            Kind::UnansweredCall
            | Kind::UnknownEntry
            | Kind::UnknownBlock
            | Kind::LongSummary
            | Kind::UnprovedVersion => Weight::Notable,
            Kind::OtherBranch
            | Kind::Sidechain
            | Kind::Furniture
            | Kind::Bookkeeping
            | Kind::LocalCommand
            | Kind::SealedThought => Weight::LeftOut,
        }
    }

    /// One line for people, for so many of them.
    fn words(self) -> &'static str {
        match self {
            Kind::BadLine => "lines that are no entry",
            Kind::Spliced => "lines with entries spliced together, cut apart",
            Kind::NulBytes => "lines with NUL bytes before the entry",
            Kind::TornTail => "last line not written to its end",
            Kind::MissingParent => "gaps, bridged with the entry before",
            Kind::Cycle => "circles of entries, cut",
            Kind::DuplicateEntry => "entries that repeat an id, first one taken",
            Kind::OrphanResult => "results without their call",
            Kind::DuplicateResult => "second results of a call, first one taken",
            Kind::UnansweredCall => "calls without a result, closed as interrupted",
            Kind::UnknownEntry => "entries of an unknown kind",
            Kind::UnknownBlock => "blocks of an unknown kind",
            Kind::UnreadableEntry => "entries of the conversation that cannot be read",
            Kind::LongSummary => "summaries that were cut",
            Kind::UnprovedVersion => "versions of Claude that this reader was not proved on",
            Kind::OtherBranch => "entries of other branches",
            Kind::Sidechain => "entries of sub-agents",
            Kind::Furniture => "attachments and reminders of the program",
            Kind::Bookkeeping => "entries the program keeps for itself",
            Kind::LocalCommand => "commands of the program's own",
            Kind::SealedThought => "sealed thoughts or signatures of thoughts",
        }
    }
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The line, from 1; 0 for what is of the whole file.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// More about it, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// All of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// How many.
    pub count: u64,
    /// Where; the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// Everything that was found, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Findings(BTreeMap<Kind, Found>);

impl Findings {
    /// Takes note of something at a place.
    pub(crate) fn at(&mut self, kind: Kind, place: Place) {
        let found = self.0.entry(kind).or_default();
        found.count += 1;
        if found.places.len() < PLACES {
            found.places.push(place);
        }
    }

    /// Takes note of something that is told by its number alone.
    pub(crate) fn count(&mut self, kind: Kind) {
        self.0.entry(kind).or_default().count += 1;
    }

    /// Takes it back that anything of a kind was found.
    pub(crate) fn forget(&mut self, kind: Kind) {
        self.0.remove(&kind);
    }

    /// These and others, of another look at the same file.
    #[must_use]
    pub fn and(mut self, others: &Findings) -> Self {
        for (kind, found) in others.iter() {
            let all = self.0.entry(kind).or_default();
            all.count += found.count;
            let room = PLACES.saturating_sub(all.places.len());
            all.places.extend(found.places.iter().take(room).cloned());
        }
        self
    }

    /// How many of a kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> u64 {
        self.0.get(&kind).map_or(0, |found| found.count)
    }

    /// All kinds that were found, with what was.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &Found)> {
        self.0.iter().map(|(kind, found)| (*kind, found))
    }

    /// Whether the file is as its program would write it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.0.keys().all(|kind| kind.weight() != Weight::Damage)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (weight, title) in [
            (Weight::Damage, "damage, read around:"),
            (Weight::Notable, "taken by a rule:"),
            (Weight::LeftOut, "no part of the conversation:"),
        ] {
            let mut of_it = self.iter().filter(|(kind, _)| kind.weight() == weight);
            let Some(first) = of_it.next() else { continue };
            writeln!(f, "{title}")?;
            for (kind, found) in std::iter::once(first).chain(of_it) {
                write!(f, "  {} {}", found.count, kind.words())?;
                let mut lead = " (";
                for place in &found.places {
                    let about = place.about.as_deref();
                    match (place.line, about) {
                        (0, about) => write!(f, "{lead}{}", about.unwrap_or_default())?,
                        (line, None) => write!(f, "{lead}line {line}")?,
                        (line, Some(about)) => write!(f, "{lead}line {line}: {about}")?,
                    }
                    lead = ", ";
                }
                let more = found.count - found.places.len() as u64;
                match (found.places.is_empty(), more) {
                    (true, _) => writeln!(f)?,
                    (false, 0) => writeln!(f, ")")?,
                    (false, more) => writeln!(f, ", and {more} more)")?,
                }
            }
        }
        Ok(())
    }
}
