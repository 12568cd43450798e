//! A baseline written anew after a run, as people left it: comments, order and groups stay.

use std::io::ErrorKind;
use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, value};

use crate::error::Error;
use crate::report::Row;
use crate::verdict::Status;

/// Most characters of what was seen that stand in place of a reason.
const MOST_SEEN: usize = 200;

/// How many entries came in and went out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Renewed {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Writes into a baseline what its target was found to do; the file may be new. What was not run is left alone.
///
/// # Errors
///
/// [`Error::Usage`] when the file is no TOML, [`Error::Io`] when it cannot be read or written.
pub(crate) fn renew(path: &Path, target: &str, rows: &[Row]) -> Result<Renewed, Error> {
    let name = || path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => format!("target = {target:?}\n"),
        Err(error) => return Err(Error::io(name(), error)),
    };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error| Error::Usage(format!("{}: {error}", name())))?;
    let mut renewed = Renewed {
        added: 0,
        removed: 0,
    };
    for row in rows {
        match row.status {
            Status::Stale => {
                remove(&mut document, &row.id);
                renewed.removed += 1;
            }
            Status::Fail | Status::NotTestable | Status::Warn => {
                add(&mut document, row);
                renewed.added += 1;
            }
            Status::Pass | Status::Skip | Status::Observed | Status::Expected => {}
        }
    }
    let temporary = path.with_extension("toml.new");
    std::fs::write(&temporary, document.to_string())
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|error| Error::io(name(), error))?;
    Ok(renewed)
}

fn add(document: &mut DocumentMut, row: &Row) {
    let expected = document.entry("expected").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let seen: String = row.why.chars().take(MOST_SEEN).collect();
    let mut entry = Table::new();
    entry["reason"] = value(format!("not yet explained: {seen}"));
    expected[&row.id] = Item::Table(entry);
}

/// Takes an id out, and the group that then has none.
fn remove(document: &mut DocumentMut, id: &str) {
    if let Some(expected) = document
        .get_mut("expected")
        .and_then(Item::as_table_like_mut)
    {
        expected.remove(id);
    }
    let groups = document
        .get_mut("groups")
        .and_then(Item::as_array_of_tables_mut);
    if let Some(groups) = groups {
        groups.retain(|group| checks(group) != [id]);
        for group in groups.iter_mut() {
            if let Some(checks) = group.get_mut("checks").and_then(Item::as_array_mut) {
                checks.retain(|check| check.as_str() != Some(id));
            }
        }
    }
}

/// The ids of a group.
fn checks(group: &Table) -> Vec<&str> {
    let checks = group.get("checks").and_then(Item::as_array);
    let ids = checks.into_iter().flat_map(|checks| checks.iter());
    ids.filter_map(|id| id.as_str()).collect()
}

#[cfg(test)]
#[path = "renew_tests.rs"]
mod tests;
