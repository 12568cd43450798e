//! `bench waist`: what an event costs on its way, and what a session that rests keeps in memory.
//!
//! Measured by an example of the host crate (`crates/host/examples/measure_waist.rs`): in one
//! process, so that the same clock and the same load count for all figures.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::Args;
use serde_json::Value;

use super::build;
use super::log::measure;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// How the waist is measured.
#[derive(Debug, Args)]
pub(crate) struct Waist {
    /// Sessions in one engine, each with a turn
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    sessions: u32,
    /// Deltas of the turn that is timed
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    events: u32,
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
/// When something cannot be built, or the program ends otherwise than well.
pub(crate) fn run(workspace: &Workspace, options: &Waist) -> Result<()> {
    let target = workspace.target()?;
    let sessiond = build::sessiond(workspace, &target, &options.profile)?;
    let named = ("sessiond-host", "measure_waist");
    let example = build::example(workspace, &target, &options.profile, named)?;
    let environment = Environment::make(&target, "bench-waist", &sessiond)?;
    let folder = environment.work().join("waist");
    let (sessions, events) = (options.sessions.to_string(), options.events.to_string());
    let figures = measure(&example, &folder, &[&sessions, &events])?;
    let text = match options.json {
        true => format!("{figures}\n"),
        false => table(&figures),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

fn table(figures: &Value) -> String {
    let rows = [
        ("an event to a client in the process, us", "in_process_us"),
        ("an event to a client behind a socket, us", "socket_us"),
        ("a turn until 100 viewers have its end, ms", "viewers_ms"),
        (
            "the same with one of them stopped, ms",
            "viewers_one_stopped_ms",
        ),
        ("ratio", "viewers_ratio"),
        ("sessions at the same time, each with a turn", "sessions"),
        ("seconds for all of them", "sessions_seconds"),
        ("events lost or out of order", "out_of_order"),
        ("memory of a session that rests, bytes", "bytes_per_session"),
    ];
    let mut text = String::new();
    for (name, key) in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:<44} {}", figure(figures[key].as_f64()));
    }
    text
}
