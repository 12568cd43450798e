//! Damages what a target has stored, while none of it runs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::act::LOOK;
use super::{Did, Driver, Halt};
use crate::error::Error;
use crate::lines::contains;
use crate::recording::What;
use crate::step::{Damage, Harm, Stored};

/// As many NULs as a block that was allocated and never written leaves at least.
const ZEROS: usize = 512;

impl Driver<'_> {
    /// Damages the last file that holds the record.
    pub(super) fn damage(&mut self, damage: &Damage) -> Did {
        let session = self.variables.fill(&damage.session);
        let session = session.as_str().unwrap_or_default();
        let files = self.session_files(session);
        let wanted = damage
            .record
            .as_deref()
            .map(|text| self.variables.text(text));
        let texts = self.record(wanted.as_deref());
        let how = match (damage.how, &damage.how_from) {
            (Some(how), _) => how,
            (None, Some(name)) => self.named(name)?,
            (None, None) => Harm::Cut,
        };
        for path in files.iter().rev() {
            let bytes = std::fs::read(path)
                .map_err(|error| Error::io(path.display().to_string(), error))?;
            let Some(harmed) = harm(&bytes, &texts, how) else {
                continue;
            };
            std::fs::write(path, harmed)
                .map_err(|error| Error::io(path.display().to_string(), error))?;
            let note = format!("damaged ({how:?}) {}", path.display());
            self.recorder.add(0, What::Note(note));
            return Ok(());
        }
        Err(Halt::Stop(format!(
            "no record {:?} in {} files of session {session}",
            wanted.unwrap_or_default(),
            files.len()
        )))
    }
}

impl Driver<'_> {
    /// Waits until the record is whole in a file of the log; where none of the target's are known, not at all.
    pub(super) fn stored(&self, stored: &Stored) {
        let session = self.variables.fill(&stored.session);
        let session = session.as_str().unwrap_or_default();
        let text = self.variables.text(&stored.text);
        let texts = self.record(Some(&text));
        let within = self.within(Some(stored.within), self.target.timeouts.reply());
        let until = Instant::now() + within;
        while self.target.session_files.is_some() {
            let mut files = self.session_files(session).into_iter();
            if files.any(|path| std::fs::read(path).is_ok_and(|bytes| has(&bytes, &texts))) {
                return;
            }
            if Instant::now() > until {
                let note = format!("no record {text:?} after {} ms", within.as_millis());
                self.recorder.add(0, What::Note(note));
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// What a record holds that is meant: what is said of a text is said of the record that the model is told.
    fn record<'a>(&'a self, wanted: Option<&'a str>) -> Vec<&'a str> {
        let mark = self.target.record_mark.as_deref();
        let mark = mark.filter(|_| wanted.is_some());
        wanted.into_iter().chain(mark).collect()
    }

    /// The files of a session's log, in the order of their names; none where the profile does not say where they lie.
    pub(super) fn session_files(&self, session: &str) -> Vec<PathBuf> {
        let layout = self.target.session_files.as_deref().unwrap_or_default();
        let begins = session.get(..8).unwrap_or(session);
        let layout = layout
            .replace("{session}", session)
            .replace("{session:8}", begins);
        find(&self.place.seen(&self.place.state()), &layout)
    }
}

/// The files that a layout names, in the order of their names.
pub(super) fn find(root: &Path, layout: &str) -> Vec<PathBuf> {
    let mut found = vec![root.to_path_buf()];
    for part in layout.split('/') {
        found = found
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok())
            .flat_map(|entries| entries.filter_map(Result::ok))
            .filter(|entry| matches(part, &entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .collect();
    }
    found.sort();
    found
}

/// Whether a name fits a pattern with at most one `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}

/// The file with the harm done to the last line that holds all `texts`; `None` when it has no such one.
fn harm(bytes: &[u8], texts: &[&str], how: Harm) -> Option<Vec<u8>> {
    if how == Harm::ZeroTail {
        return Some([bytes, &[0; ZEROS]].concat());
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let at = lines.iter().rposition(|line| holds(line, texts))?;
    let (before, line, after) = (lines[..at].concat(), lines[at], lines[at + 1..].concat());
    let middle = line.len() / 2;
    Some(match how {
        Harm::Cut => [&before, &line[..middle]].concat(),
        Harm::Zeros => [&before[..], &[0; ZEROS], &after].concat(),
        Harm::Flip => {
            let mut flipped = line.to_vec();
            flipped[middle] ^= 1;
            [&before[..], &flipped, &after].concat()
        }
        Harm::Garbage => [&before[..], line, b"%%% not a record %%%\n", &after].concat(),
        Harm::ZerosAfter => [&before[..], line, &[0; ZEROS], &after].concat(),
        Harm::Half => [&before[..], &line[..middle], b"\n", &after].concat(),
        Harm::Twice => [&before[..], line, line, &after].concat(),
        Harm::Drop => [before, after].concat(),
        Harm::ZeroTail => return None,
    })
}

/// Whether a file has a line that holds all `texts` and its LF.
fn has(bytes: &[u8], texts: &[&str]) -> bool {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.any(|line| line.ends_with(b"\n") && holds(line, texts))
}

/// Whether a line holds all `texts`.
fn holds(line: &[u8], texts: &[&str]) -> bool {
    texts.iter().all(|text| contains(line, text.as_bytes()))
}

#[cfg(test)]
#[path = "damage_tests.rs"]
mod tests;
