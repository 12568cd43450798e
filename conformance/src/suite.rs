//! The cases and requirements that are in the binary.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::case::{Case, Level};
use crate::check::Check;
use crate::error::Error;
use crate::matcher::unknown_operators;
use crate::options::wanted;
use crate::requirement::{Requirement, Requirements};

include!(concat!(env!("OUT_DIR"), "/data.rs"));

/// Everything the suite knows.
#[derive(Debug)]
pub(crate) struct Suite {
    /// Cases of the suite, those of one file together.
    pub(crate) cases: Vec<Variant>,
    /// All requirements by id.
    pub(crate) requirements: BTreeMap<String, Requirement>,
    /// Documents by key.
    pub(crate) documents: BTreeMap<String, crate::requirement::Document>,
}

/// A case, or one variant of it.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// `suite.area.case` or `suite.area.case-variant`.
    pub(crate) id: String,
    pub(crate) case: Case,
    pub(crate) variables: BTreeMap<String, Value>,
}

impl Variant {
    /// The id of one of its checks.
    pub(crate) fn check_id(&self, check: &Check) -> String {
        format!("{}#{}", self.id, check.id)
    }
}

impl Suite {
    /// The suite of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when there is none, [`Error::Harness`] when its data is broken.
    pub(crate) fn load(name: &str) -> Result<Self, Error> {
        let fault = |path: &str, why: String| Error::Harness(format!("{path}: {why}"));
        let mut suite = Self {
            cases: Vec::new(),
            requirements: BTreeMap::new(),
            documents: BTreeMap::new(),
        };
        let prefix = format!("{name}.");
        for (path, text) in CASES {
            let case: Case =
                toml::from_str(text).map_err(|error| fault(path, error.to_string()))?;
            let raw: Value =
                toml::from_str(text).map_err(|error| fault(path, error.to_string()))?;
            // A misspelt operator would never fit, and a `none` would then always pass.
            if let Some(unknown) = unknown_operators(&raw).first() {
                return Err(fault(path, format!("no operator is called {unknown}")));
            }
            if case.id.starts_with(&prefix) {
                suite.cases.extend(variants(&case));
            }
        }
        for (path, text) in REQUIREMENTS {
            let file: Requirements =
                toml::from_str(text).map_err(|error| fault(path, error.to_string()))?;
            suite.documents.extend(file.documents);
            for requirement in file.requirements {
                let id = requirement.id.clone();
                if suite.requirements.insert(id.clone(), requirement).is_some() {
                    return Err(fault(path, format!("two requirements are called {id}")));
                }
            }
        }
        if suite.cases.is_empty() {
            return Err(Error::Usage(format!("there is no suite `{name}`")));
        }
        Ok(suite)
    }

    /// The ids of all checks.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        let cases = self.cases.iter();
        cases
            .flat_map(|variant| {
                let checks = variant.case.checks.iter();
                checks.map(|check| variant.check_id(check))
            })
            .collect()
    }

    /// The cases of at most this level with a check that one of the filters wants.
    pub(crate) fn select(&self, level: Level, filters: &[String]) -> Vec<&Variant> {
        self.cases
            .iter()
            .filter(|variant| variant.case.level <= level)
            .filter(|variant| {
                let mut checks = variant.case.checks.iter();
                checks.any(|check| wanted(filters, &variant.check_id(check)))
            })
            .collect()
    }
}

/// One variant for each row, or the case itself.
fn variants(case: &Case) -> Vec<Variant> {
    if case.vary.is_empty() {
        return vec![Variant {
            id: case.id.clone(),
            case: case.clone(),
            variables: BTreeMap::new(),
        }];
    }
    case.vary
        .iter()
        .map(|(name, variables)| Variant {
            id: format!("{}-{name}", case.id),
            case: case.clone(),
            variables: variables.clone(),
        })
        .collect()
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
