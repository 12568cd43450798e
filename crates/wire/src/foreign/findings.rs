//! What a reader found that is not as it should be, and what of a file is no conversation.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Findings of one kind that are told with their places; the others are counted.
const PLACES: usize = 20;

/// A kind of finding. Its name when it is serialized is stable.
pub trait Kind: Copy + Ord + Serialize {
    /// What it means.
    fn weight(self) -> Weight;

    /// One line for people, for so many of them.
    fn words(self) -> &'static str;
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Findings<K: Kind>(BTreeMap<K, Found>);

impl<K: Kind> Default for Findings<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Kind> Findings<K> {
    /// Takes note of something at a place.
    pub fn at(&mut self, kind: K, place: Place) {
        let found = self.0.entry(kind).or_default();
        found.count += 1;
        if found.places.len() < PLACES {
            found.places.push(place);
        }
    }

    /// Takes note of something that is told by its number alone.
    pub fn count(&mut self, kind: K) {
        self.0.entry(kind).or_default().count += 1;
    }

    /// Takes it back that anything of a kind was found.
    pub fn forget(&mut self, kind: K) {
        self.0.remove(&kind);
    }

    /// These and others, of another look at the same file.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
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
    pub fn of(&self, kind: K) -> u64 {
        self.0.get(&kind).map_or(0, |found| found.count)
    }

    /// All kinds that were found, with what was.
    pub fn iter(&self) -> impl Iterator<Item = (K, &Found)> {
        self.0.iter().map(|(kind, found)| (*kind, found))
    }

    /// Whether the file is as its program would write it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.0.keys().all(|kind| kind.weight() != Weight::Damage)
    }
}

impl<K: Kind> fmt::Display for Findings<K> {
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
