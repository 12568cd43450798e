//! What a target made durable, and which of its files hold what.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Did, Driver, Halt};
use crate::lines::contains;
use crate::recording::{ProcessIndex, What};

/// Folders of a case that are the target's own.
const OWN: [&str; 2] = ["home", "state"];
/// Longest file that is looked into.
const LONGEST: u64 = 64 * 1024 * 1024;

impl Driver<'_> {
    /// Waits until the calls of a process are watched; the case is skipped where they cannot be.
    pub(super) fn watched(&self, index: ProcessIndex) -> Did {
        let found = self.recorder.wait(
            self.target.timeouts.start(),
            0,
            |_, entry| match &entry.what {
                What::Watched(watched) if entry.process == index => Some(watched.clone()),
                _ => None,
            },
            |_| None,
        );
        let why = match found {
            Some(Ok(())) => return Ok(()),
            Some(Err(why)) => why,
            None => "the guard does not answer".to_owned(),
        };
        Err(Halt::Skip(format!(
            "this machine lets nobody watch what a target syncs: {why}"
        )))
    }

    /// Records which files hold a text: of those of the session's log, or of all, whatever their form, where
    /// the profile does not say where that lies.
    pub(super) fn holders(&self, mark: &str) -> Did {
        let text = self.variables.text(mark);
        let mut found = Vec::new();
        if self.target.session_files.is_some() {
            let files = self.session_files(&self.variables.text("${session}"));
            found.extend(
                files
                    .into_iter()
                    .filter(|path| holds(path, text.as_bytes())),
            );
        } else {
            for folder in OWN {
                search(&self.place.root.join(folder), text.as_bytes(), &mut found);
            }
        }
        let mut names: Vec<String> = found
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        names.sort();
        self.recorder.add(0, What::Holders(text, names));
        Ok(())
    }
}

/// The files below a folder that hold a text; links are not followed, and what cannot be read holds nothing.
fn search(folder: &Path, text: &[u8], found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            search(&path, text, found);
        } else if kind.is_file() && holds(&path, text) {
            found.push(path);
        }
    }
}

/// Whether a file holds a text, in its path too: a session may be its file's name and stand nowhere else.
/// One that is too long holds none.
fn holds(path: &Path, text: &[u8]) -> bool {
    if contains(path.as_os_str().as_bytes(), text) {
        return true;
    }
    let short = std::fs::metadata(path).is_ok_and(|of| of.len() <= LONGEST);
    short && std::fs::read(path).is_ok_and(|bytes| contains(&bytes, text))
}

#[cfg(test)]
#[path = "holders_tests.rs"]
mod tests;
