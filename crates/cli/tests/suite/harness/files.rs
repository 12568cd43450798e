//! The files below a directory, as they are at one moment.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Names and contents.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    pub(crate) fn below(directory: &Path) -> Files {
        let mut files = BTreeMap::new();
        collect(directory, directory, &mut files);
        Files(files)
    }

    /// The first name at the top.
    pub(crate) fn first_folder(&self) -> String {
        self.0.keys().next().unwrap().to_str().unwrap().to_owned()
    }

    /// Their contents in the order of their names.
    pub(crate) fn text(&self) -> String {
        self.0
            .values()
            .map(|bytes| String::from_utf8_lossy(bytes))
            .collect()
    }
}

fn collect(top: &Path, directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(top, &path, files);
        }
        // A directory counts by its name; its content is in its own entries.
        let name = path.strip_prefix(top).unwrap().to_owned();
        files.insert(name, fs::read(&path).unwrap_or_default());
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.0.iter().map(|(name, bytes)| (name, bytes.len())))
            .finish()
    }
}
