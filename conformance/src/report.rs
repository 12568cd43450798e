//! What a run found, in the forms in which it is read.

mod html;
mod jsonl;
mod junit;
mod terminal;

use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::options::wanted;
use crate::requirement::Keyword;
use crate::runner::CaseResult;
use crate::suite::Suite;
use crate::verdict::{Rigour, Status, status};

pub(crate) use terminal::print;

/// One check of one target.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// The case, whose wire log shows it.
    pub(crate) case: String,
    pub(crate) keyword: Keyword,
    pub(crate) requirement: String,
    pub(crate) status: Status,
    /// What it was before a baseline had its say.
    pub(crate) was: Status,
    /// What was seen; empty where it passes.
    pub(crate) why: String,
}

/// What one target did.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) target: String,
    /// What is typed after the suite to reach this target again.
    pub(crate) again: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) cases: Vec<CaseResult>,
    pub(crate) seconds: f64,
}

/// All targets of a run.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) name: &'a str,
    pub(crate) columns: Vec<Column>,
}

impl Row {
    /// The part of the id that groups it: `cancel` of `acp.cancel.twice#answered`.
    pub(crate) fn area(&self) -> &str {
        self.id.split('.').nth(1).unwrap_or_default()
    }
}

impl Column {
    /// How many rows have this status.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// Whether the target conforms.
    pub(crate) fn conforms(&self) -> bool {
        !self.rows.iter().any(|row| row.status.condemns())
    }
}

/// The rows of the results, those that one of the filters wants.
pub(crate) fn rows(
    suite: &Suite,
    results: &[CaseResult],
    filters: &[String],
    rigour: Rigour,
) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for result in results {
        let variant = suite.cases.iter().find(|variant| variant.id == result.id);
        let checks = variant.map(|variant| &variant.case.checks);
        for (id, finding) in &result.findings {
            if !wanted(filters, id) {
                continue;
            }
            let name = id.rsplit('#').next().unwrap_or_default();
            let check = checks.and_then(|checks| checks.iter().find(|check| check.id == name));
            let requirement = check.and_then(|check| suite.requirements.get(&check.req));
            let requirement = requirement
                .ok_or_else(|| Error::Harness(format!("{id} cites no known requirement")))?;
            let (status, why) = status(finding.clone(), requirement.keyword, rigour);
            rows.push(Row {
                id: id.clone(),
                case: result.id.clone(),
                keyword: requirement.keyword,
                requirement: requirement.id.clone(),
                status,
                was: status,
                why,
            });
        }
    }
    Ok(rows)
}

impl Report<'_> {
    /// Writes the forms that were asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a file cannot be written.
    pub(crate) fn write(
        &self,
        json: Option<&Path>,
        junit: Option<&Path>,
        html: Option<&Path>,
    ) -> Result<(), Error> {
        let put = |path: Option<&Path>, text: &dyn Fn() -> String| match path {
            None => Ok(()),
            Some(path) => std::fs::write(path, text())
                .map_err(|error| Error::io(path.display().to_string(), error)),
        };
        put(json, &|| jsonl::text(self))?;
        put(junit, &|| junit::text(self))?;
        put(html, &|| html::text(self))
    }
}

#[cfg(test)]
#[path = "report/tests.rs"]
mod tests;
