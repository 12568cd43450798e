//! `bench acp`: what a stream of updates costs on its way to an ACP client.
//!
//! sessiond and agents on three SDKs are asked for the same stream by the same client, by turns, so
//! that a change of the machine's mood meets all of them. Messages are looked into when the clock
//! does not run. The bare writer is the ceiling: it makes a line an update and nothing else.

mod contestant;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::sample::Sample;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::toolchain::Tool;
use crate::workspace::Workspace;
use contestant::{Contestant, Measured, Role, Wish};

/// How the stream is measured.
#[derive(Debug, Args)]
pub(crate) struct Acp {
    /// Updates of the stream
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    updates: u32,
    /// Bytes of text in each
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    bytes: u32,
    /// Processes of each agent, after one that does not count
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Cargo profile that sessiond is built with: dist is what is shipped
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Measure this sessiond instead of building one
    #[arg(long, value_name = "FILE")]
    sessiond: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Builds sessiond and the peers, measures, and prints on stdout.
///
/// # Errors
///
/// When something cannot be built, an agent does not answer, or text of the stream is lost.
pub(crate) fn run(workspace: &Workspace, options: &Acp) -> Result<()> {
    let target = workspace.target()?;
    let peers = Peers::at(&target);
    peers.install(workspace)?;
    let sessiond = match &options.sessiond {
        Some(file) => file.clone(),
        None => build::sessiond(workspace, &target, &options.profile)?,
    };
    let environment = Environment::make(&target, "bench-acp", &sessiond)?;
    let mut contestants = contestants(workspace, &peers, sessiond)?;
    let wish = Wish {
        updates: options.updates,
        bytes: options.bytes,
    };
    for round in 0..=options.runs {
        for contestant in &mut contestants {
            let mut measured = std::mem::take(&mut contestant.measured);
            contestant.run(&environment, wish, &mut measured)?;
            if round > 0 {
                contestant.measured = measured;
            }
        }
    }
    let text = if options.json {
        object(&contestants, options)
    } else {
        table(&contestants, wish)
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

fn contestants(workspace: &Workspace, peers: &Peers, sessiond: PathBuf) -> Result<[Contestant; 5]> {
    let this = std::env::current_exe().map_err(Error::io("looking for this program"))?;
    let python = workspace.root().join("drives/stream/stream.py");
    Ok([
        Contestant::new(("sessiond acp", Role::Ours), sessiond, &[Path::new("acp")]),
        Contestant::new(
            ("TypeScript SDK", Role::Sdk),
            Tool::Node.program().into(),
            &[&peers.typescript_stream()],
        ),
        Contestant::new(("Rust SDK", Role::Sdk), peers.rust_stream(), &[]),
        Contestant::new(("Python SDK", Role::Sdk), peers.python(), &[&python]),
        Contestant::new(
            ("bare writer", Role::Ceiling),
            this,
            &[Path::new("bench"), Path::new("stream")],
        ),
    ])
}

/// Our rate in units of the fastest agent's on an SDK.
fn lead(contestants: &[Contestant]) -> Option<f64> {
    let rates = |role| {
        contestants
            .iter()
            .filter(move |contestant| contestant.role == role)
            .filter_map(|contestant| contestant.measured.rate.median())
    };
    let fastest = rates(Role::Sdk).max_by(f64::total_cmp)?;
    Some(rates(Role::Ours).next()? / fastest)
}

fn table(contestants: &[Contestant], wish: Wish) -> String {
    let mut text = format!(
        "{} updates of {} bytes\n{:<16} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>6} {:>8} {:>8}\n",
        wish.updates,
        wish.bytes,
        "",
        "updates/s",
        "min",
        "max",
        "ratio",
        "CPU us",
        "arrived",
        "line B",
        "peak MiB",
        "turn ms",
    );
    for contestant in contestants {
        let Measured {
            rate,
            processor_us,
            arrived,
            line_bytes,
            peak_mib,
            turn_ms,
        } = &contestant.measured;
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            text,
            "{:<16} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>6} {:>8} {:>8}",
            contestant.name,
            whole(rate.median()),
            whole(rate.min()),
            whole(rate.max()),
            figure(ratio(contestants, &contestant.measured)),
            figure(processor_us.median()),
            whole(arrived.min()),
            whole(line_bytes.median()),
            figure(peak_mib.median()),
            figure(turn_ms.median()),
        );
    }
    let _ = writeln!(
        text,
        "\nsessiond : fastest agent on an SDK = {}",
        figure(lead(contestants))
    );
    text
}

fn object(contestants: &[Contestant], options: &Acp) -> String {
    let agents: Vec<Value> = contestants.iter().map(Contestant::json).collect();
    let profile = options.sessiond.is_none().then_some(&options.profile);
    let object = json!({
        "updates": options.updates,
        "bytes": options.bytes,
        "runs": options.runs,
        "profile": profile,
        "agents": agents,
        "lead": lead(contestants),
    });
    format!("{object}\n")
}

/// A median rate in units of the first contestant's, which is ours.
fn ratio(contestants: &[Contestant], of: &Measured) -> Option<f64> {
    let median = |sample: &Sample| sample.median();
    Some(median(&of.rate)? / median(&contestants.first()?.measured.rate)?)
}

fn whole(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"))
}
