//! Rule ids that are cited must exist: a test that claims to prove LOG-4 means a rule.

use super::finding::Finding;
use super::source::{Source, Tree};

/// The families of requirements with their highest number.
const FAMILIES: [(&str, u32); 11] = [
    ("WIRE", 14),
    ("SQEQ", 12),
    ("LOG", 19),
    ("RESUME", 19),
    ("CTX", 9),
    ("CKPT", 6),
    ("TASK", 11),
    ("ADAPT", 11),
    ("SEC", 5),
    ("CONF", 5),
    ("PROJ", 2),
];

/// Capitals, a dash and digits that are something else than a requirement.
const FOREIGN: [&str; 8] = ["UTF", "ISO", "RFC", "SHA", "CRC", "BLAKE", "UUID", "ACP"];

/// Checks every id that is cited in any file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .iter()
        .filter(|source| source.extension() != "toml")
        .flat_map(unknown)
        .collect()
}

fn unknown(source: &Source) -> Vec<Finding> {
    let fix = "cite an id of requirements.md (the families are in tidy/citation.rs)";
    let mut findings = Vec::new();
    for (number, line) in source.lines() {
        for (family, digits) in ids(line) {
            let known = FAMILIES.iter().find(|(name, _)| *name == family);
            let exists = known.is_some_and(|(_, highest)| {
                digits
                    .parse::<u32>()
                    .is_ok_and(|id| (1..=*highest).contains(&id))
            });
            // An unknown family is a finding only where a doc comment of a test cites it.
            let cited = line.trim_start().starts_with(&format!("/// {family}-"));
            let foreign = FOREIGN.contains(&family);
            if !exists && (known.is_some() || (cited && !foreign)) {
                let what = format!("no rule has the id {family}-{digits}");
                findings.push(source.finding(number, "citation", (what, fix)));
            }
        }
    }
    findings
}

/// Every `FAMILY-123` in a line: capitals, one dash, digits, not part of a longer word.
fn ids(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices('-').filter_map(move |(dash, _)| {
        let (before, after) = (&line[..dash], &line[dash + 1..]);
        let head = before.trim_end_matches(|c: char| c.is_ascii_uppercase());
        let family = &before[head.len()..];
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &after[..after.len() - rest.len()];
        let joined = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let alone =
            !head.ends_with(joined) && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        (family.len() >= 3 && !digits.is_empty() && alone).then_some((family, digits))
    })
}
