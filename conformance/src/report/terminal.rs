//! The report on a terminal.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Column, Report, Row};
use crate::verdict::Status;

/// What is listed row by row.
const LISTED: [Status; 5] = [
    Status::Fail,
    Status::NotTestable,
    Status::Stale,
    Status::Warn,
    Status::Expected,
];

/// Prints each target: its areas, then one line for each check that is not kept, with the command
/// that runs it alone.
///
/// # Errors
///
/// What the writer says.
pub(crate) fn print(report: &Report<'_>, out: &mut impl Write) -> io::Result<()> {
    for column in &report.columns {
        column_of(report, column, out)?;
    }
    Ok(())
}

fn column_of(report: &Report<'_>, column: &Column, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{} · {} · {} checks in {:.1} s",
        report.name,
        column.target,
        column.rows.len(),
        column.seconds
    )?;
    let mut areas: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &column.rows {
        areas.entry(row.area()).or_default().push(row);
    }
    for (area, rows) in areas {
        let pass = rows.iter().filter(|row| row.status == Status::Pass).count();
        write!(out, "  {area:<14} {pass:>3} pass")?;
        for status in Status::ALL {
            let count = rows.iter().filter(|row| row.status == status).count();
            if count > 0 && status != Status::Pass {
                write!(out, ", {count} {}", status.name())?;
            }
        }
        writeln!(out)?;
    }
    for status in LISTED {
        for row in column.rows.iter().filter(|row| row.status == status) {
            writeln!(
                out,
                "{} {} ({}): {}",
                status.name().to_uppercase(),
                row.id,
                row.keyword.name(),
                row.why
            )?;
            if status.condemns() || status == Status::Warn {
                let again = &column.again;
                let command = format!("sessiond-conformance {} -k '{}'", report.name, row.id);
                writeln!(out, "    {command} {again}")?;
            }
        }
    }
    let verdict = if column.conforms() {
        "conformant"
    } else {
        "not conformant"
    };
    write!(out, "{}: {verdict}", column.target)?;
    for status in Status::ALL {
        let count = column.count(status);
        if count > 0 {
            write!(out, ", {count} {}", status.name())?;
        }
    }
    writeln!(out)
}
