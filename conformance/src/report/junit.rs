//! The report as JUnit XML, as continuous integration reads it.

use super::{Column, Report, Row};
use crate::verdict::Status;

/// The whole text.
pub(super) fn text(report: &Report<'_>) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for column in &report.columns {
        suite(report, column, &mut xml);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn suite(report: &Report<'_>, column: &Column, xml: &mut String) {
    let failures = column.rows.iter().filter(|row| row.status.condemns());
    let skipped = column.count(Status::Skip) + column.count(Status::Expected);
    xml.push_str(&format!(
        "  <testsuite name=\"{} {}\" tests=\"{}\" failures=\"{}\" skipped=\"{skipped}\" time=\"{:.3}\">\n",
        escape(report.name),
        escape(&column.target),
        column.rows.len(),
        failures.count(),
        column.seconds
    ));
    for row in &column.rows {
        case(column, row, xml);
    }
    xml.push_str("  </testsuite>\n");
}

fn case(column: &Column, row: &Row, xml: &mut String) {
    let took = column.cases.iter().find(|case| case.id == row.case);
    let seconds = took.map_or(0.0, |case| case.took.as_secs_f64());
    xml.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
        escape(row.area()),
        escape(&row.id)
    ));
    let why = escape(&row.why);
    let inner = match row.status {
        Status::Pass => String::new(),
        Status::Skip | Status::Expected => format!("<skipped message=\"{why}\"/>"),
        Status::Warn | Status::Observed => format!("<system-out>{why}</system-out>"),
        Status::Fail | Status::NotTestable | Status::Stale => {
            format!(
                "<failure type=\"{}\" message=\"{why}\"/>",
                row.status.name()
            )
        }
    };
    if inner.is_empty() {
        xml.push_str("/>\n");
    } else {
        xml.push_str(&format!(">{inner}</testcase>\n"));
    }
}

/// XML has no way at all to write most control characters.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
