//! The report as one page that needs nothing else: a matrix of checks and targets, a filter, and
//! the wire log of each cell.

use serde_json::{Value, json};

use super::Report;
use super::junit::escape;

/// The page around the data.
const PAGE: &str = include_str!("page.html");

/// The whole text.
pub(super) fn text(report: &Report<'_>) -> String {
    let data = json!({
        "suite": report.name,
        "version": env!("CARGO_PKG_VERSION"),
        "checks": checks(report),
        "columns": report.columns.iter().map(|column| json!({
            "target": column.target,
            "again": column.again,
            "seconds": column.seconds,
            "conforms": column.conforms(),
            "cells": column.rows.iter().map(|row| (row.id.clone(), json!({
                "status": row.status, "why": row.why, "case": row.case,
            }))).collect::<serde_json::Map<_, _>>(),
            "wire": column.cases.iter().map(|case| (case.id.clone(), json!(case.trace)))
                .collect::<serde_json::Map<_, _>>(),
        })).collect::<Vec<_>>(),
    });
    // Inside a script element nothing but its end tag needs care.
    let data = data
        .to_string()
        .replace("</", "<\\/")
        .replace("<!--", "<\\!--");
    let title = format!("{} conformance", report.name);
    PAGE.replace("{{title}}", &escape(&title))
        .replace("{{data}}", &data)
}

/// Every check that any target ran, with what it requires.
fn checks(report: &Report<'_>) -> Vec<Value> {
    let mut seen = Vec::new();
    let mut checks = Vec::new();
    for row in report.columns.iter().flat_map(|column| &column.rows) {
        if seen.contains(&&row.id) {
            continue;
        }
        seen.push(&row.id);
        let requirement = report.suite.requirements.get(&row.requirement);
        let title = report
            .suite
            .cases
            .iter()
            .find(|variant| variant.id == row.case)
            .map(|variant| &variant.case.title);
        let document =
            requirement.and_then(|requirement| report.suite.documents.get(&requirement.document));
        checks.push(json!({
            "id": row.id,
            "area": row.area(),
            "keyword": row.keyword,
            "title": title,
            "text": requirement.map(|requirement| &requirement.text),
            "tck": requirement.and_then(|requirement| requirement.tck.as_ref()),
            "link": document.zip(requirement).map(|(document, requirement)| {
                document.url.replace("{anchor}", &requirement.anchor)
            }),
            "source": document.map(|document| format!(
                "{} ({}), {}",
                document.title,
                document.revision,
                requirement.map_or("", |requirement| &requirement.anchor),
            )),
        }));
    }
    checks
}
