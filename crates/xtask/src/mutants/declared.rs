//! Which checks each fault is declared to turn red: `conformance/mutants/faults.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use toml::{Table, Value};

use crate::error::{Error, Result};

/// What stands at the head of the file.
const HEAD: &str = "\
# Each fault of the reference peer with the checks that it turns red, exactly. `PREFIX*` stands for
# all checks whose ids begin so. `cargo xtask mutants` proves it, `--update` writes what it saw.
";

/// The declared faults.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    faults: BTreeMap<String, BTreeSet<String>>,
}

impl Faults {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// `Content` when it is not what it must be.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path.display().to_string()))?;
        Self::parse(&text).map_err(|what| Error::content(path, what))
    }

    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        let table: Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let mut faults = BTreeMap::new();
        for (name, red) in table {
            let red = red.as_array().ok_or(format!("{name} is no list"))?;
            let red = red.iter().filter_map(Value::as_str).map(str::to_owned);
            faults.insert(name, red.collect());
        }
        Ok(Self { faults })
    }

    /// The names that contain one of the filters; all where there is none.
    pub(crate) fn names(&self, filters: &[String]) -> Vec<String> {
        let is_meant = |name: &&String| {
            filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
        };
        self.faults.keys().filter(is_meant).cloned().collect()
    }

    /// The checks that a fault is declared to turn red.
    pub(crate) fn red(&self, fault: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
        let mut red = BTreeSet::new();
        for entry in self.faults.get(fault).into_iter().flatten() {
            match entry.strip_suffix('*') {
                None => {
                    red.insert(entry.clone());
                }
                Some(prefix) => {
                    red.extend(all.iter().filter(|id| id.starts_with(prefix)).cloned());
                }
            }
        }
        red
    }

    /// How what was seen differs from what is declared.
    pub(crate) fn differs(
        &self,
        fault: &str,
        red: &BTreeSet<String>,
        all: &BTreeSet<String>,
    ) -> Vec<String> {
        let expected = self.red(fault, all);
        let missing = expected
            .difference(red)
            .map(|id| format!("{id} stays green"));
        let extra = red.difference(&expected).map(|id| format!("{id} is red"));
        missing.chain(extra).collect()
    }

    /// Declares what was seen. An area or a case that is red as a whole is written as one.
    pub(crate) fn set(&mut self, fault: &str, red: &BTreeSet<String>, all: &BTreeSet<String>) {
        let mut entries = BTreeSet::new();
        for id in red {
            let whole = prefixes(id).into_iter().find(|prefix| {
                let mut of = all
                    .iter()
                    .filter(|other| other.starts_with(prefix.as_str()));
                let more = of.clone().nth(1).is_some();
                more && of.all(|other| red.contains(other))
            });
            entries.insert(whole.map_or_else(|| id.clone(), |prefix| format!("{prefix}*")));
        }
        self.faults.insert(fault.to_owned(), entries);
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// `Io` when it cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        std::fs::write(path, self.text()).map_err(Error::io(path.display().to_string()))
    }

    pub(super) fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, red) in &self.faults {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{name} = [");
            for id in red {
                let _ = writeln!(text, "    {id:?},");
            }
            text.push_str("]\n");
        }
        text
    }
}

/// What an id may be summed up as, the widest first: its area, its case with all variants.
fn prefixes(id: &str) -> Vec<String> {
    let case = id.split('#').next().unwrap_or_default();
    let area = case.rsplit_once('.').map_or(case, |(area, _)| area);
    let family = case
        .rsplit_once('-')
        .map(|(family, _)| format!("{family}-"));
    let mut prefixes = vec![format!("{area}.")];
    prefixes.extend(family);
    prefixes.push(format!("{case}#"));
    prefixes
}
