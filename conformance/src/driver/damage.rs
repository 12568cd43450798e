//! Damages what a target has stored, while none of it runs.

use std::path::{Path, PathBuf};

use super::{Did, Driver, Halt};
use crate::error::Error;
use crate::recording::What;
use crate::step::{Damage, Harm};

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
        // What is said of a text is said of the record that the model is told.
        let mark = self
            .target
            .record_mark
            .as_deref()
            .filter(|_| wanted.is_some());
        let texts: Vec<&str> = wanted.as_deref().into_iter().chain(mark).collect();
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
    let holds = |line: &&[u8]| {
        texts.iter().all(|text| {
            let mut windows = line.windows(text.len());
            windows.any(|window| window == text.as_bytes())
        })
    };
    let at = lines.iter().rposition(holds)?;
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

#[cfg(test)]
#[path = "damage_tests.rs"]
mod tests;
