//! How sound a log is, for people and for programs.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sessiond_log::{Damage, DamageReason, Health, LogError, Report, Store, Subject};

/// What is wrong with an attachment: it is missing, or is not what was attached.
const DETACHED: &str = "attachment";

/// What a look at a log found. Serializes to what `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    session: String,
    /// sessions, archive.
    place: &'static str,
    /// clean, torn, damaged.
    health: &'static str,
    /// Records that count.
    records: u64,
    /// Who writes it right now; its unfinished end is a line on its way then.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    /// What is wrong.
    found: Vec<Place>,
    /// What was wrong when a repair took note of it; the bytes are still there.
    repaired: Vec<Place>,
    /// The format of a newer program that wrote here.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<u64>,
}

/// A place that is wrong.
#[derive(Debug, Serialize)]
struct Place {
    file: PathBuf,
    /// First byte.
    offset: u64,
    /// Number of bytes; 0 where something is missing.
    length: u64,
    /// The first record that may be lost here.
    seq: u64,
    reason: &'static str,
}

impl Findings {
    /// Looks at a log. An unfinished end counts only where nobody is writing it (LOG-4).
    pub(super) fn look(store: &Store, subject: &Subject) -> Result<Self, LogError> {
        let mut report = store.verify(subject)?;
        let mut holder = None;
        if report.torn.is_some() {
            holder = store.holder(subject)?;
            if holder.is_none() {
                // Its writer may have finished the line and gone between the two looks.
                report = store.verify(subject)?;
            }
        }
        let holder = holder.map(|holder| holder.to_string());
        Ok(Self::of(store.root(), &report, holder))
    }

    /// What a report says.
    pub(super) fn of(root: &Path, report: &Report, holder: Option<String>) -> Self {
        let place = |damage: &Damage| Place {
            file: root.join(report.file(&damage.segment)),
            offset: damage.offset,
            length: damage.length,
            seq: damage.after_seq + 1,
            reason: damage.reason.as_str(),
        };
        let mut found: Vec<_> = report.damage.iter().map(place).collect();
        let torn = report.torn.as_ref().filter(|_| holder.is_none());
        let is_torn = torn.is_some();
        found.extend(torn.map(|torn| Place {
            file: root.join(report.file(&torn.segment)),
            offset: torn.offset,
            length: torn.length,
            seq: report.next_seq,
            reason: DamageReason::Torn.as_str(),
        }));
        found.extend(report.detached.iter().map(|it| Place {
            file: root.join(report.attachment(it)),
            offset: 0,
            length: it.bytes,
            seq: it.seq,
            reason: DETACHED,
        }));
        let health = match report.health {
            _ if !report.detached.is_empty() => "damaged",
            Health::Damaged => "damaged",
            Health::Torn if is_torn => "torn",
            Health::Torn | Health::Clean => "clean",
        };
        Self {
            session: report.subject.to_string(),
            place: report.place.as_str(),
            health,
            records: report.records,
            holder,
            found,
            repaired: report.repaired.iter().map(place).collect(),
            newer: report.newer,
        }
    }

    /// Whether something is wrong.
    pub(super) fn is_bad(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether a newer program wrote here, so that not all of it could be read (LOG-11).
    pub(super) fn is_newer(&self) -> bool {
        self.newer.is_some()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}  {:<7}  {} records",
            self.session, self.health, self.records
        )?;
        if self.place == sessiond_log::Place::Archive.as_str() {
            write!(f, "  archived")?;
        }
        if !self.repaired.is_empty() {
            write!(f, "  {} places repaired", self.repaired.len())?;
        }
        if let Some(holder) = &self.holder {
            write!(f, "  held by {holder}")?;
        }
        if let Some(newer) = self.newer {
            write!(f, "  of the newer format {newer}")?;
        }
        writeln!(f)?;
        self.found
            .iter()
            .try_for_each(|place| writeln!(f, "  {place}"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place {
            file,
            offset,
            length,
            seq,
            reason,
        } = self;
        let file = file.display();
        write!(
            f,
            "{file}: {reason} at byte {offset}, {length} bytes, from record {seq}"
        )
    }
}
