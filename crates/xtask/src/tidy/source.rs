//! The files that tidy looks at, read once.

use std::path::Path;

use super::finding::Finding;
use crate::error::{Error, Result};

/// Folders that hold nothing of ours. Names that begin with `target` or, `.ci` and `.cargo`
/// excepted, with a dot are skipped as well.
const SKIPPED: [&str; 3] = ["node_modules", "__pycache__", "vendored"];

/// Kinds of file that tidy reads, by extension.
const READ: [&str; 9] = ["rs", "toml", "py", "mjs", "sh", "lua", "el", "md", "yml"];

/// One text file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path relative to the root, with forward slashes.
    pub(crate) path: String,
    /// Its whole text.
    pub(crate) text: String,
}

/// What part a file plays in its crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Compiled into the library or binary.
    Product,
    /// Compiled into tests only, recognised by its name.
    Test,
}

impl Source {
    /// Extension of the file name, or nothing.
    pub(crate) fn extension(&self) -> &str {
        self.path
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension)
    }

    /// The folder below `crates/`, if the file lies in one.
    pub(crate) fn crate_folder(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// By name: `tests.rs`, `*_tests.rs`, and everything below a folder `tests` or `benches`.
    pub(crate) fn role(&self) -> Role {
        let (folders, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let in_folder = folders
            .split('/')
            .any(|part| matches!(part, "tests" | "benches"));
        if in_folder || name == "tests.rs" || name.ends_with("_tests.rs") {
            Role::Test
        } else {
            Role::Product
        }
    }

    /// Numbered lines that are code: comments and blank lines are left out.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().filter(|(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with("//")
        })
    }

    /// Every line with its number, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .split('\n')
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// A finding at `line` of this file.
    pub(crate) fn finding(
        &self,
        line: usize,
        rule: &'static str,
        (what, fix): (String, &'static str),
    ) -> Finding {
        Finding {
            path: self.path.clone(),
            line,
            rule,
            what,
            fix,
        }
    }
}

/// All files below a root that tidy reads, in order of their paths.
#[derive(Debug)]
pub(crate) struct Tree {
    files: Vec<Source>,
}

impl Tree {
    /// Reads the tree.
    ///
    /// # Errors
    ///
    /// `Io` for a folder or file that cannot be read; a file that is not UTF-8 is such an error.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    /// Every file.
    pub(crate) fn files(&self) -> &[Source] {
        &self.files
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.extension() == "rs")
    }
}

fn walk(folder: &Path, relative: &str, into: &mut Vec<Source>) -> Result<()> {
    let failed = || format!("reading {}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(Error::io(failed()))? {
        let entry = entry.map_err(Error::io(failed()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if relative.is_empty() {
            name.clone()
        } else {
            format!("{relative}/{name}")
        };
        let kind = entry.file_type().map_err(Error::io(failed()))?;
        if kind.is_dir() {
            if !is_skipped(&name) {
                walk(&entry.path(), &path, into)?;
            }
        } else if kind.is_file() && is_read(&path) {
            let text = std::fs::read_to_string(entry.path())
                .map_err(Error::io(format!("reading {path}")))?;
            into.push(Source { path, text });
        }
    }
    Ok(())
}

fn is_skipped(name: &str) -> bool {
    let hidden = name.starts_with('.') && !matches!(name, ".ci" | ".cargo");
    hidden || name.starts_with("target") || SKIPPED.contains(&name)
}

fn is_read(path: &str) -> bool {
    path == ".ci/run"
        || path
            .rsplit_once('.')
            .is_some_and(|(_, kind)| READ.contains(&kind))
}
