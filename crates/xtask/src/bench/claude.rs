//! `bench claude`: how soon a program on an SDK has its first result, and what taking in a long
//! transcript of Claude costs.
//!
//! Reading alone is measured by an example of its crate (`measure_transcript`), for two lengths, so
//! that the figures show whether memory grows with the file; taking it into a store, with its
//! original and synced, by the real `sessiond`.

use std::io::Write as _;

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::claude_start::{self, Programs};
use super::start::figure;
use super::taking_in;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::workspace::Workspace;

/// How the import is measured.
#[derive(Debug, Args)]
pub(crate) struct Claude {
    /// Length of the transcript in MiB; one of a quarter of it is read as well
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(4..))]
    megabytes: u64,
    /// Cargo profile that all is built with: dist is what is shipped
    #[arg(long, default_value = "release")]
    profile: String,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Builds, measures, and prints on stdout.
///
/// # Errors
///
/// When something cannot be built, or a program fails.
pub(crate) fn run(workspace: &Workspace, options: &Claude) -> Result<()> {
    let target = workspace.target()?;
    let folder = build::programs(workspace, &target, (&options.profile, "sessiond-cli"))?;
    let sessiond = folder.join("sessiond");
    // Nothing of it is measured.
    let model = build::programs(workspace, &target, ("dev", "sessiond-conformance"))?;
    let peers = Peers::at(&target);
    peers.install_claude_cli(workspace)?;
    let named = ("sessiond-claude", "measure_transcript");
    let example = build::example(workspace, &target, &options.profile, named)?;
    let environment = Environment::make(&target, "bench-claude", &sessiond)?;
    let start = claude_start::measure(
        &environment,
        &Programs {
            ours: &folder.join("sessiond-claude"),
            theirs: &peers.claude_cli()?,
            model: &model.join("scripted-model"),
        },
    )?;
    let mut figures = taking_in::measure(&environment, (&sessiond, &example), options.megabytes)?;
    figures["profile"] = json!(options.profile);
    figures["start"] = start;
    let text = match options.json {
        true => format!("{figures}\n"),
        false => table(&figures),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

fn table(figures: &Value) -> String {
    let number = |value: &Value| figure(value.as_f64());
    let start = &figures["start"];
    let mut text = format!(
        "start to first result, median: sessiond-claude with the script agent {} ms, the CLI on a \
         scripted model {} ms: {} times as long\n\n",
        number(&start["sessiond_ms"]["median"]),
        number(&start["claude_ms"]["median"]),
        number(&start["times"]),
    );
    text.push_str(&taking_in::table(figures));
    text
}
