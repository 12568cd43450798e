//! House style: size of files, tests in files of their own, nothing left half done.

use super::finding::Finding;
use super::source::{Role, Source, Tree};

/// Hard cap on the lines of a source file.
const MAX_LINES: usize = 500;
/// Kinds of file the cap holds for.
const CAPPED: [&str; 3] = ["rs", "py", "mjs"];

// The needles are put together here, so that this file does not find itself.
const LEFT_OPEN: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];
const IGNORED: &str = concat!("#[", "ignore");
const TEST_MARKS: [&str; 4] = [
    "#[test]",
    "#[tokio::test",
    "proptest! {",
    "proptest::proptest! {",
];
const PRINTS: [&str; 2] = [concat!("print", "ln!("), concat!("print", "!(")];

/// Checks every file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.files() {
        findings.extend(size(source));
        if source.extension() != "md" {
            findings.extend(endings(source));
            findings.extend(left_open(source));
        }
        if source.extension() == "rs" {
            findings.extend(ignored(source));
            if source.role() == Role::Product {
                findings.extend(inline_tests(source));
                findings.extend(prints(source));
            }
        }
    }
    findings
}

fn size(source: &Source) -> Option<Finding> {
    let count = source.text.lines().count();
    (CAPPED.contains(&source.extension()) && count > MAX_LINES).then(|| {
        let what = format!("{count} lines, more than {MAX_LINES}");
        source.finding(MAX_LINES + 1, "size", (what, "split it by noun"))
    })
}

/// Markdown is left out: two blanks at a line's end mean something there.
fn endings(source: &Source) -> Vec<Finding> {
    let mut findings: Vec<Finding> = source
        .lines()
        .filter(|(_, line)| line.ends_with([' ', '\t', '\r']))
        .map(|(number, _)| {
            let what = "blank at the end of the line".to_owned();
            source.finding(number, "ending", (what, "remove it"))
        })
        .collect();
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        let what = "no newline at the end of the file".to_owned();
        findings.push(source.finding(source.text.lines().count(), "ending", (what, "add one")));
    }
    findings
}

fn left_open(source: &Source) -> Vec<Finding> {
    source
        .lines()
        .filter_map(|(number, line)| {
            let word = LEFT_OPEN.iter().find(|word| contains_word(line, word))?;
            let fix = "do it now, or file an issue and leave the code whole";
            Some(source.finding(number, "left-open", (format!("`{word}` in the tree"), fix)))
        })
        .collect()
}

/// Whether `line` has `word` that is not part of a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        ![before, after]
            .into_iter()
            .flatten()
            .any(|c| c.is_alphanumeric() || c == '_')
    })
}

fn ignored(source: &Source) -> Vec<Finding> {
    starts(source, &[IGNORED])
        .map(|number| {
            let what = "an ignored test proves nothing".to_owned();
            source.finding(number, "ignored", (what, "mend it or remove it"))
        })
        .collect()
}

fn inline_tests(source: &Source) -> Vec<Finding> {
    let fix = "move them to tests.rs beside it, or to the crate's tests/ folder";
    let mut findings: Vec<Finding> = starts(source, &TEST_MARKS)
        .map(|number| {
            let what = "a test in a file that is not a test file".to_owned();
            source.finding(number, "inline-test", (what, fix))
        })
        .collect();
    let mut after_cfg_test = false;
    for (number, line) in source.code() {
        let line = line.trim();
        if after_cfg_test && line.starts_with("mod ") && line.ends_with('{') {
            let what = format!("inline test module `{}`", line.trim_end_matches([' ', '{']));
            findings.push(source.finding(number, "inline-test", (what, fix)));
        }
        // Other attributes may stand between the cfg and the module.
        after_cfg_test = line == "#[cfg(test)]" || (after_cfg_test && line.starts_with("#["));
    }
    findings
}

fn prints(source: &Source) -> Vec<Finding> {
    source
        .code()
        .filter(|(_, line)| {
            // `eprintln!` holds the needle too; a print of ours is never preceded by a letter.
            PRINTS.iter().any(|needle| {
                line.match_indices(needle).any(|(at, _)| {
                    line[..at]
                        .chars()
                        .next_back()
                        .is_none_or(|c| !c.is_alphanumeric())
                })
            })
        })
        .map(|(number, _)| {
            let what = "stdout belongs to the protocol (WIRE-10)".to_owned();
            source.finding(
                number,
                "print",
                (what, "write to the writer you were given"),
            )
        })
        .collect()
}

/// Lines of code that begin with one of the needles.
fn starts<'a>(source: &'a Source, needles: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    source
        .code()
        .filter(|(_, line)| {
            needles
                .iter()
                .any(|needle| line.trim_start().starts_with(needle))
        })
        .map(|(number, _)| number)
}
