//! Which crate may depend on which (design.md, "Dependencies point down only").
//!
//! A new arrow, or a new crate, is a reviewed change of [`ALLOWED`].

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::finding::Finding;
use super::source::{Source, Tree};

/// Package name prefix of the crates of this workspace.
const OURS: &str = "sessiond-";

/// The conformance suite, which lies beside the crates.
const SUITE: &str = "conformance";

/// Each crate with the crates of ours that its code may use.
const ALLOWED: [(&str, &[&str]); 15] = [
    ("protocol", &[]),
    ("wire", &["protocol"]),
    ("log", &[]),
    ("index", &["log", "protocol"]),
    ("engine", &["index", "log", "protocol", "wire"]),
    ("mcp", &["protocol", "wire"]),
    ("script", &["engine", "mcp", "protocol", "wire"]),
    ("acp", &["engine", "protocol", "wire"]),
    ("claude", &["engine", "mcp", "protocol", "wire"]),
    ("codex", &["engine", "protocol", "wire"]),
    ("sqeq", &["protocol", "wire"]),
    ("host", &["engine", "protocol", "sqeq", "wire"]),
    (
        "cli",
        &[
            "acp", "claude", "codex", "engine", "host", "log", "mcp", "protocol", "script", "sqeq",
            "wire",
        ],
    ),
    ("xtask", &[]),
    // It must be able to find our faults: nothing of what it judges is part of it.
    (SUITE, &["protocol", "wire"]),
];

/// A crate's dependencies on crates of ours: name without prefix, and the line that says so.
type Edges = BTreeMap<String, usize>;

struct Manifest<'a> {
    source: &'a Source,
    name: String,
    normal: Edges,
    dev: Edges,
}

/// Checks every `crates/*/Cargo.toml`, and that of the conformance suite.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut manifests = Vec::new();
    for source in tree.files() {
        let of_crate = source.path.split('/').count() == 3
            && source.crate_folder().is_some()
            && source.path.ends_with("/Cargo.toml");
        if of_crate || source.path == "conformance/Cargo.toml" {
            match toml::from_str::<Table>(&source.text) {
                Ok(table) => {
                    findings.extend(lints(source, &table));
                    manifests.push(manifest(source, &table));
                }
                Err(error) => findings.push(source.finding(
                    1,
                    "manifest",
                    (
                        format!("not TOML: {}", error.message()),
                        "mend the manifest",
                    ),
                )),
            }
        }
    }
    findings.extend(manifests.iter().flat_map(arrows));
    findings.extend(cycles(&manifests));
    findings
}

fn lints(source: &Source, table: &Table) -> Option<Finding> {
    let inherited = table.get("lints").and_then(|lints| lints.get("workspace"));
    (inherited != Some(&Value::Boolean(true))).then(|| {
        source.finding(
            1,
            "lints",
            (
                "the workspace's lints are not in force here".to_owned(),
                "add `[lints]` with `workspace = true`",
            ),
        )
    })
}

fn manifest<'a>(source: &'a Source, table: &Table) -> Manifest<'a> {
    let mut tables = vec![table];
    if let Some(targets) = table.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let edges = |section: &str| -> Edges {
        tables
            .iter()
            .filter_map(|table| table.get(section).and_then(Value::as_table))
            .flatten()
            .filter_map(|(key, value)| {
                let renamed = value.get("package").and_then(Value::as_str);
                let name = renamed.unwrap_or(key).strip_prefix(OURS)?;
                Some((name.to_owned(), line_of(source, key)))
            })
            .collect()
    };
    let mut normal = edges("dependencies");
    normal.extend(edges("build-dependencies"));
    Manifest {
        source,
        name: source.crate_folder().unwrap_or(SUITE).to_owned(),
        normal,
        dev: edges("dev-dependencies"),
    }
}

/// The first line that begins with `key`; good enough to jump to.
fn line_of(source: &Source, key: &str) -> usize {
    source
        .lines()
        .find(|(_, line)| line.trim_start().starts_with(key))
        .map_or(1, |(number, _)| number)
}

fn arrows(manifest: &Manifest<'_>) -> Vec<Finding> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == manifest.name) else {
        return vec![manifest.source.finding(
            1,
            "arrow",
            (
                format!("crate `{}` is not in the table of arrows", manifest.name),
                "add it to ALLOWED in crates/xtask/src/tidy/arrows.rs",
            ),
        )];
    };
    manifest
        .normal
        .iter()
        .filter(|(to, _)| !allowed.contains(&to.as_str()))
        .map(|(to, line)| {
            let what = format!(
                "{} may not depend on {to} (allowed: {allowed:?})",
                manifest.name
            );
            let fix = "move the code down, or review a new arrow in tidy/arrows.rs";
            manifest.source.finding(*line, "arrow", (what, fix))
        })
        .collect()
}

/// A dev-dependency may point anywhere below, but never close a circle: a crate whose tests need
/// what stands on it is tested with two copies of itself.
fn cycles(manifests: &[Manifest<'_>]) -> Vec<Finding> {
    let below: BTreeMap<&str, Vec<&str>> = manifests
        .iter()
        .map(|manifest| {
            let all = manifest.normal.keys().chain(manifest.dev.keys());
            // A crate's tests may turn on features of their own crate.
            let all = all.filter(|name| **name != manifest.name);
            (manifest.name.as_str(), all.map(String::as_str).collect())
        })
        .collect();
    let mut findings = Vec::new();
    for manifest in manifests {
        for (to, line) in manifest.dev.iter().chain(&manifest.normal) {
            if *to != manifest.name && reaches(&below, to, &manifest.name) {
                let what = format!("{} and {to} depend on each other", manifest.name);
                let fix = "move the test to the upper crate";
                findings.push(manifest.source.finding(*line, "cycle", (what, fix)));
            }
        }
    }
    findings
}

fn reaches(below: &BTreeMap<&str, Vec<&str>>, from: &str, goal: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![from];
    while let Some(name) = todo.pop() {
        if name == goal {
            return true;
        }
        if seen.insert(name) {
            todo.extend(below.get(name).into_iter().flatten().copied());
        }
    }
    false
}
