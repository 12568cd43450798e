//! Where things lie in a store. Names are built from validated parts only (LOG-13).

use std::fmt;
use std::path::{Path, PathBuf};

use crate::subject::Subject;

pub(crate) const STORE: &str = "STORE";
pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const ARCHIVE: &str = "archive";
pub(crate) const OPEN: &str = "open";
pub(crate) const AUDIT: &str = "audit";
pub(crate) const ASIDE: &str = "aside";
pub(crate) const TRASH: &str = "trash";
pub(crate) const KEYS: &str = "keys";
pub(crate) const BACKUP: &str = "backup";

/// Where a session lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Among the sessions in use.
    Sessions,
    /// In the archive (LOG-10).
    Archive,
}

impl Place {
    /// The stable name of the place.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => SESSIONS,
            Self::Archive => ARCHIVE,
        }
    }

    /// The directory of a session there.
    pub(crate) fn home(self, subject: &Subject) -> Home {
        match self {
            Self::Sessions => Home::of(subject),
            Self::Archive => Home::archived(subject),
        }
    }
}

/// The directory of one session.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    root: PathBuf,
    open: PathBuf,
}

impl Home {
    pub(crate) fn of(subject: &Subject) -> Self {
        Self::at(Path::new(SESSIONS).join(subject.as_ref()), subject)
    }

    /// Of a session that is put away.
    pub(crate) fn archived(subject: &Subject) -> Self {
        Self::at(Path::new(ARCHIVE).join(subject.as_ref()), subject)
    }

    /// Of a session to come, of which nobody shall know yet that it is being written.
    pub(crate) fn unborn(root: PathBuf) -> Self {
        let open = root.join("OWNER");
        Self { root, open }
    }

    /// Of a session that lies in the directory `root`.
    pub(crate) fn at(root: PathBuf, subject: &Subject) -> Self {
        let open = Path::new(OPEN).join(subject.as_ref());
        Self { root, open }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("LOCK")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("log")
    }

    pub(crate) fn segment(&self, name: &str) -> PathBuf {
        self.log().join(name)
    }

    pub(crate) fn older(&self) -> PathBuf {
        self.root.join("older")
    }

    pub(crate) fn older_segment(&self, name: &str) -> PathBuf {
        self.older().join(format!("{name}.gz"))
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    pub(crate) fn torn(&self) -> PathBuf {
        self.root.join("torn")
    }

    /// The owner record: outside of the session's directory, because taking a lease for a load
    /// changes nothing there (RESUME-3).
    pub(crate) fn owner(&self) -> &Path {
        &self.open
    }
}

/// Name of a segment file: `<8-digit number>-<20-digit first seq>.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentName {
    pub(crate) number: u32,
    pub(crate) first_seq: u64,
}

impl SegmentName {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (number, first_seq) = name.strip_suffix(".jsonl")?.split_once('-')?;
        let parsed = Self {
            number: number.parse().ok()?,
            first_seq: first_seq.parse().ok()?,
        };
        (parsed.to_string() == name).then_some(parsed)
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}-{:020}.jsonl", self.number, self.first_seq)
    }
}
