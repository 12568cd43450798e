//! The audit files: what was decided about sessions, and why (LOG-19).
//!
//! Each process appends to a file of its own, one JSON object a line; a reader merges them. They
//! lie beside the sessions, so that a refused load has its record and changes no session.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::error::{Doing, LogError, found};
use crate::fs::{AppendFile, write_whole};
use crate::layout::AUDIT;
use crate::owner::Owner;
use crate::record::is_name;
use crate::store::Store;
use crate::subject::Subject;

/// A decision about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When, as the caller writes times; entries are merged by it, so it must sort as text.
    pub at: String,
    /// The session; none when the one asked for was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// What was asked: a plain name such as `resume` or `fork`.
    pub action: String,
    /// What was decided.
    pub verdict: Verdict,
    /// Why: a stable code, a plain name.
    pub reason: String,
    /// Who held the session, when that was the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Owner>,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was done. Durable when [`Store::audit`] returns.
    Accepted,
    /// It was not done. Durable when [`Store::audit`] returns.
    Refused,
    /// A step on the way: a hit, a miss, another path. Written, and durable with the next of the
    /// others.
    Noted,
}

/// The file of this process, once it has been opened.
#[derive(Debug, Default)]
pub(crate) struct Audit(Mutex<Option<Box<dyn AppendFile>>>);

impl Store {
    /// Appends an entry to this process's audit file. May make the store's directory, and no
    /// session.
    ///
    /// # Errors
    /// [`LogError::InvalidRecord`] for a text that is no plain name; [`LogError::TooNew`];
    /// [`LogError::Io`]: the entry may be lost, the next one is tried on its own.
    pub fn audit(&self, entry: &AuditEntry) -> Result<(), LogError> {
        let texts = [&entry.at, &entry.action, &entry.reason];
        if !texts.iter().all(|text| is_name(text)) {
            return Err(LogError::InvalidRecord("an audit text is not a plain name"));
        }
        let path = own_path();
        let line = serde_json::to_string(entry).map_err(io::Error::other);
        let line = line.doing("write", &path)? + "\n";
        let file = &self.audit_file().0;
        let mut slot = file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match slot.take() {
            Some(file) => file,
            None => self.open_audit(&path)?,
        };
        write_whole(file.as_mut(), line.as_bytes()).doing("write", &path)?;
        if entry.verdict != Verdict::Noted {
            file.sync().doing("sync", &path)?;
        }
        // Not after a failure: whoever opens it again ends the line that was left unfinished.
        *slot = Some(file);
        Ok(())
    }

    /// All entries of all processes, by time; of one process in the order of their making. A line
    /// that a dying process left unfinished is passed over.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn audit_trail(&self) -> Result<Vec<AuditEntry>, LogError> {
        let mut names = self.names(AUDIT)?;
        names.retain(|name| name.ends_with(".jsonl"));
        names.sort_unstable();
        let mut entries: Vec<AuditEntry> = Vec::new();
        for path in names.iter().map(|name| Path::new(AUDIT).join(name)) {
            let bytes = self.fs().read(&path, 0..u64::MAX).doing("read", &path)?;
            let lines = bytes.split(|b| *b == b'\n');
            entries.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
        }
        entries.sort_by(|a, b| a.at.cmp(&b.at));
        Ok(entries)
    }

    fn open_audit(&self, path: &Path) -> Result<Box<dyn AppendFile>, LogError> {
        self.prepare()?;
        self.make_place(AUDIT)?;
        let (fs, dir) = (self.fs(), Path::new(AUDIT));
        let Some(mut file) = found(fs.append(path)).doing("open", path)? else {
            let file = fs.create(path).doing("create", path)?;
            fs.sync_dir(dir).doing("sync", dir)?;
            return Ok(file);
        };
        // A predecessor in this process may have died between making the name and syncing it.
        fs.sync_dir(dir).doing("sync", dir)?;
        let bytes = fs.stat(path).doing("look up", path)?.bytes;
        let last = fs.read(path, bytes.saturating_sub(1)..bytes);
        if !matches!(last.doing("read", path)?.as_slice(), [] | [b'\n']) {
            write_whole(file.as_mut(), b"\n").doing("write", path)?;
        }
        Ok(file)
    }
}

/// The file of this process: `<boot>-<pid>-<start>.jsonl`.
fn own_path() -> PathBuf {
    let owner = Owner::current();
    let plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let boot: String = owner.boot_id.chars().filter(plain).collect();
    let (pid, start) = (owner.pid, owner.start_time);
    Path::new(AUDIT).join(format!("{boot}-{pid}-{start}.jsonl"))
}
