//! `tidy`: the house rules that neither rustfmt nor clippy can check, in well under two seconds
//! and without a build.
//!
//! Every finding says where, which rule, what is wrong and what to do. A check is a function from
//! a [`Tree`] (every text file, read once) to findings, so that each is tested on a small tree.

mod arrows;
mod citation;
mod finding;
mod house;
mod purity;
mod source;
#[cfg(test)]
mod tests;

use std::path::Path;

use finding::Finding;
use source::Tree;

use crate::error::{Error, Result};

/// Checks the tree below `root` and prints each finding on stderr.
///
/// # Errors
///
/// `Tidy` with the number of findings, or `Io` when a file cannot be read.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let findings = check(&tree);
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        eprintln!("tidy: {} files, nothing to say", tree.files().len());
        return Ok(());
    }
    Err(Error::Tidy(findings.len()))
}

fn check(tree: &Tree) -> Vec<Finding> {
    let checks: [fn(&Tree) -> Vec<Finding>; 4] =
        [arrows::check, house::check, purity::check, citation::check];
    let mut findings: Vec<Finding> = checks.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings
}
