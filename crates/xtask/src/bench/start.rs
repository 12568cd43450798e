//! `bench start`: from nothing to an answered initialize, and what it took in memory.
//!
//! The agents take turns, so that a change of the machine's mood meets all of them; the first round
//! is thrown away, because it reads the programs from disk.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::sample::Sample;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::handshake::handshake;
use crate::peers::Peers;
use crate::toolchain::Tool;
use crate::workspace::Workspace;

/// How the start is measured.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Measured starts of each agent, after one that does not count
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..))]
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

/// An agent and what was measured of it.
struct Contestant {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
    start_ms: Sample,
    peak_mib: Sample,
}

impl Contestant {
    fn new(name: &'static str, program: PathBuf, arguments: Vec<PathBuf>) -> Self {
        let (start_ms, peak_mib) = (Sample::default(), Sample::default());
        Self {
            name,
            program,
            arguments,
            start_ms,
            peak_mib,
        }
    }
}

/// Builds sessiond and the peers, measures, and prints on stdout.
///
/// # Errors
///
/// When something cannot be built, or an agent does not answer.
pub(crate) fn run(workspace: &Workspace, options: &Start) -> Result<()> {
    let target = workspace.target()?;
    let peers = Peers::at(&target);
    peers.install_measured(workspace)?;
    let sessiond = match &options.sessiond {
        Some(file) => file.clone(),
        None => build::sessiond(workspace, &target, &options.profile)?,
    };
    let environment = Environment::make(&target, "bench-start", &sessiond)?;
    let mut contestants = [
        Contestant::new("sessiond acp", sessiond, vec!["acp".into()]),
        Contestant::new("echo, Rust SDK", peers.rust_echo(), Vec::new()),
        Contestant::new(
            "echo, TypeScript SDK",
            Tool::Node.program().into(),
            vec![peers.typescript_echo()],
        ),
    ];
    for round in 0..=options.runs {
        for contestant in &mut contestants {
            let mut command = environment.command(&contestant.program);
            let result = handshake(command.args(&contestant.arguments), contestant.name)?;
            if round > 0 {
                contestant.start_ms.add(result.elapsed.as_secs_f64() * 1e3);
                if let Some(kib) = result.peak_kib.and_then(|kib| u32::try_from(kib).ok()) {
                    contestant.peak_mib.add(f64::from(kib) / 1024.0);
                }
            }
        }
    }
    let text = if options.json {
        object(&contestants, options)
    } else {
        table(&contestants)
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

fn table(contestants: &[Contestant]) -> String {
    let mut text = format!(
        "{:<22} {:>31}   {:>8} {:>11} {:>8}\n{:<22} {:>9} {:>10} {:>10}   {:>8} {:>11} {:>8}\n",
        "",
        "start to initialize, ms",
        "",
        "peak memory",
        "",
        "",
        "median",
        "min",
        "max",
        "ratio",
        "MiB",
        "ratio",
    );
    for contestant in contestants {
        let Contestant {
            name,
            start_ms,
            peak_mib,
            ..
        } = contestant;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{name:<22} {:>9} {:>10} {:>10}   {:>8} {:>11} {:>8}",
            figure(start_ms.median()),
            figure(start_ms.min()),
            figure(start_ms.max()),
            figure(ratio(contestants, contestant, |c| &c.start_ms)),
            figure(peak_mib.median()),
            figure(ratio(contestants, contestant, |c| &c.peak_mib)),
        );
    }
    text
}

fn object(contestants: &[Contestant], options: &Start) -> String {
    let agents: Vec<Value> = contestants
        .iter()
        .map(|contestant| {
            json!({
                "name": contestant.name,
                "start_ms": contestant.start_ms.json(),
                "start_ratio": ratio(contestants, contestant, |c| &c.start_ms),
                "peak_mib": contestant.peak_mib.json(),
                "peak_ratio": ratio(contestants, contestant, |c| &c.peak_mib),
            })
        })
        .collect();
    let profile = options.sessiond.is_none().then_some(&options.profile);
    format!(
        "{}\n",
        json!({ "runs": options.runs, "profile": profile, "agents": agents })
    )
}

/// A median in units of the first contestant's, which is ours.
fn ratio(
    contestants: &[Contestant],
    of: &Contestant,
    sample: fn(&Contestant) -> &Sample,
) -> Option<f64> {
    Some(sample(of).median()? / sample(contestants.first()?).median()?)
}

/// A figure of a table, a dash where there is none.
pub(super) fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}
