//! Who may touch what: files only through `Fs` in log and engine, no I/O in protocol.

use super::finding::Finding;
use super::source::{Role, Source, Tree};

/// A crate (and what of it is excepted) that must not name some things.
struct Rule {
    /// Folder below `crates/`.
    folder: &'static str,
    /// Files that are the one place where it is done, as prefixes of the path.
    except: &'static [&'static str],
    /// What must not be named.
    needles: &'static [&'static str],
    /// What to do instead.
    fix: &'static str,
}

const FILES: [&str; 8] = [
    "std::fs",
    "tokio::fs",
    "rustix::fs",
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions::",
    "use std::{fs",
];

const RULES: [Rule; 3] = [
    Rule {
        folder: "log",
        except: &["crates/log/src/fs/real.rs", "crates/log/src/fs/facts.rs"],
        needles: &FILES,
        fix: "go through the `Fs` trait; only fs/real.rs and fs/facts.rs touch the disk",
    },
    Rule {
        folder: "engine",
        except: &[],
        needles: &FILES,
        fix: "the engine reaches the disk through sessiond-log only",
    },
    Rule {
        folder: "protocol",
        except: &[],
        needles: &[
            "std::fs",
            "std::net",
            "std::process",
            "std::env",
            "std::thread",
            "SystemTime::now",
            "Instant::now",
            "Timestamp::now",
            "Zoned::now",
            "now_v7",
            "new_v4",
            "tokio",
            "rustix",
        ],
        fix: "protocol does no I/O and asks no clock; take the value as a parameter",
    },
];

/// Checks the product code of the three crates; their tests may do as they need.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|source| source.role() == Role::Product)
        .flat_map(|source| RULES.iter().flat_map(|rule| offences(source, rule)))
        .collect()
}

fn offences(source: &Source, rule: &Rule) -> Vec<Finding> {
    let excepted = rule
        .except
        .iter()
        .any(|prefix| source.path.starts_with(prefix));
    let inside = source
        .path
        .starts_with(&format!("crates/{}/src/", rule.folder));
    if excepted || !inside {
        return Vec::new();
    }
    source
        .code()
        .filter_map(|(number, line)| {
            let needle = rule.needles.iter().find(|needle| line.contains(*needle))?;
            let what = format!("`{needle}` in {}", rule.folder);
            Some(source.finding(number, "purity", (what, rule.fix)))
        })
        .collect()
}
