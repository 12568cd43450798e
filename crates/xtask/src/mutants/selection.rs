//! Which cases a fault is run on: those of the areas that it is declared to turn red, and a sample of
//! all others, another one for each fault. A fault that a check of all cases sees runs them all.

use std::collections::BTreeSet;

/// One case in so many outside of its areas is run with a fault.
const SAMPLE: u64 = 10;

/// Cases without which no other says anything.
const FIRST: [&str; 11] = [
    "acp.negotiation.initialize#",
    "acp.sessions.new#",
    "acp.v2.negotiation.initialize#",
    "acp.v2.sessions.new#",
    "sqeq.hello.welcome#",
    "sqeq.sessions.new#",
    "claude.control.initialize#",
    "claude.turns.text#",
    "codex-exec.turn.text#",
    "codex-app-server.hello.initialize#",
    "codex-app-server.threads.start#",
];

/// What the names of faults begin with that are not about ACP, and their suites.
const SUITES: [(&str, &str); 6] = [
    ("sqeq-", "sqeq"),
    ("claude-", "claude"),
    ("exec-", "codex-exec"),
    ("app-", "codex-app-server"),
    ("cross-", "cross"),
    ("transcript-", "transcript"),
];

/// The suite that a fault is about, by its name.
pub(crate) fn suite_of(fault: &str) -> &'static str {
    let mut suites = SUITES.iter();
    let found = suites.find(|(prefix, _)| fault.starts_with(prefix));
    found.map_or("acp", |(_, suite)| suite)
}

/// The checks that a fault is about: those of the protocol that its name says.
pub(crate) fn about(fault: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let second = |id: &str| id.starts_with("acp.v2.");
    let suite = suite_of(fault);
    let mine = |id: &&String| match fault {
        _ if suite != "acp" => id.split('.').next() == Some(suite),
        fault if fault.starts_with("v2-") => second(id),
        _ => id.starts_with("acp.") && !second(id),
    };
    all.iter().filter(mine).cloned().collect()
}

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What the fault may touch, and a sample.
    Sample,
    /// Everything it is about.
    Whole,
}

/// The beginnings of the checks that are run with a fault: `all` are those it is about, `declared`
/// those that it turns red, `of_every` the cases that look at all others.
pub(crate) fn selection(
    fault: &str,
    declared: &BTreeSet<String>,
    all: &BTreeSet<String>,
    of_every: &BTreeSet<String>,
    extent: Extent,
) -> Vec<String> {
    let whole = extent == Extent::Whole
        || declared.is_empty()
        || declared.iter().any(|id| of_every.contains(case_of(id)));
    let areas: BTreeSet<&str> = declared.iter().map(|id| area_of(id)).collect();
    let cases: BTreeSet<&str> = all.iter().map(|id| case_of(id)).collect();
    let chosen = cases.into_iter().filter(|case| {
        // A check of all cases needs them all.
        let alone = !of_every.contains(*case);
        let first = FIRST
            .iter()
            .any(|first| first.strip_suffix('#') == Some(case));
        let near =
            first || areas.contains(area_of(case)) || hash(&[fault, case]).is_multiple_of(SAMPLE);
        whole || (alone && near)
    });
    chosen.map(|case| format!("{case}#")).collect()
}

/// The case of a check.
fn case_of(id: &str) -> &str {
    id.split('#').next().unwrap_or_default()
}

/// The area of a case or check.
fn area_of(id: &str) -> &str {
    let case = case_of(id);
    case.rsplit_once('.').map_or(case, |(area, _)| area)
}

/// FNV-1a: the same sample on every machine.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
