//! `bench rollout`: what taking in a long rollout of Codex costs.

use std::io::Write as _;

use clap::Args;
use serde_json::json;

use super::{build, taking_in};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// How it is measured.
#[derive(Debug, Args)]
pub(crate) struct Rollout {
    /// Length of the rollout in MiB; one of a quarter of it is read as well
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
pub(crate) fn run(workspace: &Workspace, options: &Rollout) -> Result<()> {
    let target = workspace.target()?;
    let folder = build::programs(workspace, &target, (&options.profile, "sessiond-cli"))?;
    let sessiond = folder.join("sessiond");
    let named = ("sessiond-codex", "measure_rollout");
    let example = build::example(workspace, &target, &options.profile, named)?;
    let environment = Environment::make(&target, "bench-rollout", &sessiond)?;
    let mut figures = taking_in::measure(&environment, (&sessiond, &example), options.megabytes)?;
    figures["profile"] = json!(options.profile);
    let text = match options.json {
        true => format!("{figures}\n"),
        false => taking_in::table(&figures),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}
