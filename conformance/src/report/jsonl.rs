//! The report as JSON lines. A file without its footer is a run that was cut off.

use serde_json::{Value, json};

use super::Report;
use crate::verdict::Status;

/// The whole text.
pub(super) fn text(report: &Report<'_>) -> String {
    let mut lines = vec![json!({
        "type": "header",
        "format": 1,
        "suite": report.name,
        "version": env!("CARGO_PKG_VERSION"),
        "untested": report.suite.requirements.values()
            .filter_map(|requirement| Some((requirement.id.clone(), json!(requirement.untested.as_ref()?))))
            .collect::<serde_json::Map<_, _>>(),
        "targets": report.columns.iter().map(|column| &column.target).collect::<Vec<_>>(),
    })];
    for column in &report.columns {
        for row in &column.rows {
            let mut line = json!({"type": "check", "target": column.target});
            add(&mut line, json!(row));
            if let Some(requirement) = report.suite.requirements.get(&row.requirement) {
                line["text"] = json!(requirement.text);
                line["tck"] = json!(requirement.tck);
            }
            lines.push(line);
        }
        for case in &column.cases {
            lines.push(json!({
                "type": "case",
                "target": column.target,
                "id": case.id,
                "ms": u64::try_from(case.took.as_millis()).unwrap_or(u64::MAX),
                "wire": case.trace,
            }));
        }
        let mut footer =
            json!({"type": "footer", "target": column.target, "conforms": column.conforms()});
        for status in Status::ALL {
            footer[status.name()] = json!(column.count(status));
        }
        lines.push(footer);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn add(line: &mut Value, more: Value) {
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more);
    }
}
