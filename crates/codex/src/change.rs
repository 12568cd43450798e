//! Changes of files, with a unified diff of each.

use std::fmt::Write as _;

use serde::Serialize;
use sessiond_protocol::{ToolCall, ToolContent, ToolKind};

/// Lines that stand around a change in its diff.
const CONTEXT: usize = 3;

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The file, absolute.
    pub(crate) path: String,
    /// What happens to it.
    pub(crate) kind: ChangeKind,
    /// A new or removed file's text, or a unified diff; empty where the agent did not tell.
    pub(crate) diff: String,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeKind {
    /// It is new.
    Add,
    /// It goes.
    Delete,
    /// It is changed.
    Update,
}

/// The changes of a call: as its diffs say, or the places it names while there are none.
pub(crate) fn changes(call: &ToolCall) -> Vec<Change> {
    let diffs: Vec<Change> = call
        .content
        .iter()
        .filter_map(|c| change(call, c))
        .collect();
    if !diffs.is_empty() {
        return diffs;
    }
    let place = |path: &String| Change {
        path: path.clone(),
        kind: match call.kind {
            ToolKind::Delete => ChangeKind::Delete,
            _ => ChangeKind::Update,
        },
        diff: String::new(),
    };
    call.locations.iter().map(|at| place(&at.path)).collect()
}

fn change(call: &ToolCall, content: &ToolContent) -> Option<Change> {
    let ToolContent::Diff {
        path,
        old_text,
        new_text,
    } = content
    else {
        return None;
    };
    let (kind, diff) = match old_text {
        None => (ChangeKind::Add, new_text.clone()),
        Some(old) if call.kind == ToolKind::Delete => (ChangeKind::Delete, old.clone()),
        Some(old) => (ChangeKind::Update, unified(old, new_text)),
    };
    Some(Change {
        path: path.clone(),
        kind,
        diff,
    })
}

/// A unified diff of one hunk: from the first line that differs to the last.
fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let rest = old.len().min(new.len()) - head;
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends.take(rest).take_while(same).count();
    if head == old.len() && head == new.len() {
        return String::new();
    }
    let from = head.saturating_sub(CONTEXT);
    let after = tail.min(CONTEXT);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let span = |end: usize| {
        let lines = end + after - from;
        // The line before, where there is none, as diff has it.
        let first = if lines == 0 { from } else { from + 1 };
        format!("{first},{lines}")
    };
    let mut text = format!("@@ -{} +{} @@\n", span(old_end), span(new_end));
    let mut say = |mark: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{mark}{line}");
        }
    };
    say(' ', old.get(from..head));
    say('-', old.get(head..old_end));
    say('+', new.get(head..new_end));
    say(' ', old.get(old_end..old_end + after));
    text
}

#[cfg(test)]
mod tests;
