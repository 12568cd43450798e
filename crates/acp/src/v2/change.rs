//! A change to a file, as version 2 shows it: what happened to which path, and a patch in Git's format.

use std::fmt::Write;

use serde::Serialize;

/// Lines that are shown around what changed.
const CONTEXT: usize = 3;

/// A change to one file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Diff<'a> {
    changes: [Change<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<Patch>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'a> {
    operation: &'static str,
    path: &'a str,
    file_type: &'static str,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Patch {
    format: &'static str,
    text: String,
}

impl<'a> Diff<'a> {
    /// What made `new` of a file; there was none where there is no old text.
    pub(super) fn of(path: &'a str, old: Option<&str>, new: &str) -> Self {
        let operation = if old.is_some() { "modify" } else { "add" };
        let file_type = "text";
        let text = git_patch(path, old, new);
        Self {
            changes: [Change {
                operation,
                path,
                file_type,
            }],
            patch: text.map(|text| Patch {
                format: "git_patch",
                text,
            }),
        }
    }
}

/// The patch: one hunk around all that changed, so that it costs one pass over both texts. None where
/// nothing did.
fn git_patch(path: &str, old: Option<&str>, new: &str) -> Option<String> {
    if old == Some(new) {
        return None;
    }
    let name = quoted(path);
    let mut patch = format!("diff --git {name} {name}\n");
    if old.is_none() {
        patch.push_str("new file mode 100644\n");
    }
    let (before, after) = (lines(old.unwrap_or_default()), lines(new));
    if before.is_empty() && after.is_empty() {
        return Some(patch);
    }
    // What Git does, so that a name with a space ends where it ends.
    let tab = if name.contains(' ') { "\t" } else { "" };
    match old {
        Some(_) => _ = writeln!(patch, "--- {name}{tab}"),
        None => patch.push_str("--- /dev/null\n"),
    }
    _ = writeln!(patch, "+++ {name}{tab}");
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b);
    let head = same.count();
    let (old_rest, new_rest) = (
        before.get(head..).unwrap_or_default(),
        after.get(head..).unwrap_or_default(),
    );
    let same = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = same.take_while(|(a, b)| a == b).count();
    let (removed, added) = (old_rest.len() - tail, new_rest.len() - tail);
    let lead = head.min(CONTEXT);
    let trail = tail.min(CONTEXT);
    let begin = head - lead;
    let range = |count: usize| {
        // A range of no lines names the line before it.
        let first = if count == 0 { begin } else { begin + 1 };
        format!("{first},{count}")
    };
    let counts = (lead + removed + trail, lead + added + trail);
    _ = writeln!(patch, "@@ -{} +{} @@", range(counts.0), range(counts.1));
    let mut say = |sign: char, lines: &[&str]| {
        for line in lines {
            patch.push(sign);
            patch.push_str(line);
            if !line.ends_with('\n') {
                patch.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    say(' ', before.get(begin..head).unwrap_or_default());
    say('-', old_rest.get(..removed).unwrap_or_default());
    say('+', new_rest.get(..added).unwrap_or_default());
    say(
        ' ',
        old_rest.get(removed..removed + trail).unwrap_or_default(),
    );
    Some(patch)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A path as Git writes it: in quotes, escaped, where it holds anything unusual.
fn quoted(path: &str) -> String {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if path.bytes().all(is_plain) {
        return path.to_owned();
    }
    let mut name = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' => name.push_str("\\\""),
            b'\\' => name.push_str("\\\\"),
            b'\n' => name.push_str("\\n"),
            b'\t' => name.push_str("\\t"),
            b'\r' => name.push_str("\\r"),
            byte if is_plain(byte) => name.push(char::from(byte)),
            byte => _ = write!(name, "\\{byte:03o}"),
        }
    }
    name.push('"');
    name
}

#[cfg(test)]
mod tests;
