//! `sessiond doctor`: is everything here fit for use, and what is in use?

mod agents;
mod finding;
mod retention;
mod store;
mod system;

use std::path::PathBuf;

use serde::Serialize;

use crate::args::{Common, Format};
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::store_path::store_path;
use finding::{Finding, Health};

/// What doctor found.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    store: PathBuf,
    healthy: bool,
    findings: Vec<Finding>,
}

/// Looks at everything; a store that does not exist yet is made.
pub(crate) fn run(common: &Common, format: Format) -> Result<(), Failure> {
    let store = store_path(common.store.as_deref())?;
    let of_store = store::findings(&store);
    let of_agents = agents::findings(common);
    let broken = |findings: &[Finding]| findings.iter().any(|found| found.health == Health::Bad);
    let unusable = broken(&of_store);
    let misconfigured = broken(&of_agents);
    let mut findings = of_store;
    findings.extend(system::findings());
    findings.extend(retention::finding(common));
    findings.extend(of_agents);
    let healthy = !broken(&findings);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        store,
        healthy,
        findings,
    };
    if format.json {
        print_json(&report)?;
    } else {
        print(&text(&report))?;
    }
    if unusable {
        return Err(Failure::Store(
            "the store cannot be used; see above".to_owned(),
        ));
    }
    if misconfigured {
        return Err(Failure::Usage(
            "the configuration cannot be used; see above".to_owned(),
        ));
    }
    if !healthy {
        return Err(Failure::Found(
            "something here does not work; see above".to_owned(),
        ));
    }
    Ok(())
}

fn text(report: &Report) -> String {
    let mut lines = format!("sessiond {}\n", report.version);
    for Finding {
        topic,
        health,
        detail,
    } in &report.findings
    {
        lines.push_str(&format!("{:<7} {topic:<12} {detail}\n", health.label()));
    }
    lines
}
