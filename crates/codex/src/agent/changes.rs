//! What Codex does to files, as the waist shows it.

use serde::Deserialize;
use serde_json::Value;
use sessiond_protocol::{Location, ToolContent};

/// A change of one file.
#[derive(Debug, Deserialize)]
struct Change {
    path: String,
    kind: Kind,
    #[serde(default)]
    diff: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind {
    Add,
    Delete,
    Update {
        #[serde(default)]
        move_path: Option<String>,
    },
}

/// The changes of a call: what to show, and the files it touches. One that is malformed is left out.
pub(super) fn read(changes: &Value) -> (Vec<ToolContent>, Vec<Location>) {
    let listed = changes.as_array().into_iter().flatten();
    let changes: Vec<Change> = listed
        .filter_map(|change| Change::deserialize(change).ok())
        .collect();
    let places = changes
        .iter()
        .flat_map(places)
        .map(|path| Location { path, line: None });
    let places = places.collect();
    (changes.into_iter().map(shown).collect(), places)
}

fn places(change: &Change) -> Vec<String> {
    let moved = match &change.kind {
        Kind::Update { move_path } => move_path.clone(),
        Kind::Add | Kind::Delete => None,
    };
    [change.path.clone()].into_iter().chain(moved).collect()
}

fn shown(change: Change) -> ToolContent {
    let (path, old_text, new_text) = match change.kind {
        Kind::Add => (change.path, None, change.diff),
        Kind::Delete => (change.path, Some(change.diff), String::new()),
        Kind::Update { move_path } => {
            let (old, new) = sides(&change.diff);
            (move_path.unwrap_or(change.path), Some(old), new)
        }
    };
    ToolContent::Diff {
        path,
        old_text,
        new_text,
    }
}

/// The two sides of a unified diff, as far as it shows them: Codex does not tell the whole file.
fn sides(diff: &str) -> (String, String) {
    let (mut old, mut new) = (String::new(), String::new());
    let mut is_in_hunk = false;
    for line in diff.split_inclusive('\n') {
        if line.starts_with("@@") {
            is_in_hunk = true;
            continue;
        }
        if !is_in_hunk || line.starts_with('\\') {
            continue;
        }
        let (mark, text) = line.split_at_checked(1).unwrap_or(("", line));
        match mark {
            "-" => old.push_str(text),
            "+" => new.push_str(text),
            _ => {
                old.push_str(text);
                new.push_str(text);
            }
        }
    }
    (old, new)
}

#[cfg(test)]
mod tests;
