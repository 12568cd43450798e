//! `bench acp`: what a stream of updates costs on its way to an ACP client.
//!
//! sessiond and agents on three SDKs are asked for the same stream by the same client, by turns, so
//! that a change of the machine's mood meets all of them. Messages are looked into when the clock
//! does not run. The bare writer is the ceiling: it makes a line an update and nothing else. One of
//! the agents is asked once more, behind sessiond: what that adds is what a relay costs. A turn of
//! one update tells the fixed cost of a turn, which is printed apart.

mod contestant;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::toolchain::Tool;
use crate::workspace::Workspace;
use contestant::{Contestant, Measured, Role, Wish};

/// What the agent behind sessiond is called in its configuration.
const RELAYED: &str = "stream";

/// The agent that is asked once more, behind sessiond.
const ALONE: &str = "TypeScript SDK";

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
    /// Measure only those whose name contains one of these words
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
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
    peers.install_measured(workspace)?;
    let sessiond = match &options.sessiond {
        Some(file) => file.clone(),
        None => build::sessiond(workspace, &target, &options.profile)?,
    };
    let environment = Environment::make(&target, "bench-acp", &sessiond)?;
    let mut contestants = contestants(workspace, &peers, sessiond.clone())?;
    contestants.push(relayed(&environment.work(), &peers, sessiond)?);
    if !options.only.is_empty() {
        contestants.retain(|one| options.only.iter().any(|word| one.name.contains(word)));
    }
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

/// sessiond with the agent on the TypeScript SDK behind it.
fn relayed(folder: &Path, peers: &Peers, sessiond: PathBuf) -> Result<Contestant> {
    let file = folder.join("relay.toml");
    // A JSON array of strings is one of TOML.
    let command = json!([Tool::Node.program(), peers.typescript_stream()]);
    let text = format!("[agents.{RELAYED}]\nkind = \"acp\"\ncommand = {command}\n");
    std::fs::write(&file, text).map_err(Error::io(format!("writing {}", file.display())))?;
    let arguments = ["acp", "--agent", RELAYED, "--config"].map(OsStr::new);
    let arguments: Vec<&OsStr> = arguments.into_iter().chain([file.as_os_str()]).collect();
    let role = ("TS SDK, relayed", Role::Relayed);
    Ok(Contestant::new(role, sessiond, &arguments))
}

fn contestants(workspace: &Workspace, peers: &Peers, sessiond: PathBuf) -> Result<Vec<Contestant>> {
    let this = std::env::current_exe().map_err(Error::io("looking for this program"))?;
    let python = workspace.root().join("drives/stream/stream.py");
    Ok(vec![
        Contestant::new(
            ("sessiond acp", Role::Ours),
            sessiond,
            &["acp"].map(OsStr::new),
        ),
        Contestant::new(
            (ALONE, Role::Sdk),
            Tool::Node.program().into(),
            &[peers.typescript_stream().as_os_str()],
        ),
        Contestant::new(("Rust SDK", Role::Sdk), peers.rust_stream(), &[]),
        Contestant::new(
            ("Python SDK", Role::Sdk),
            peers.python(),
            &[python.as_os_str()],
        ),
        Contestant::new(
            ("bare writer", Role::Ceiling),
            this,
            &["bench", "stream"].map(OsStr::new),
        ),
    ])
}

/// What a relay adds to the agent behind it.
struct Added {
    /// Its time over the agent's own.
    time: f64,
    /// The same without what a turn of one update takes of each.
    stream_time: f64,
    /// Milliseconds that it adds to a turn of one update.
    turn_ms: f64,
    /// Peak memory, where what sessiond and its guard share counts twice.
    mib: f64,
    /// The same, where it counts once.
    share_mib: f64,
}

impl Added {
    fn by(contestants: &[Contestant], updates: u32) -> Option<Self> {
        let mut all = contestants.iter();
        let alone = &all.clone().find(|one| one.name == ALONE)?.measured;
        let relayed = &all.find(|one| one.role == Role::Relayed)?.measured;
        let ms = |of: &Measured| Some(f64::from(updates) * 1e3 / of.rate.median()?);
        let (ms_alone, ms_relayed) = (ms(alone)?, ms(relayed)?);
        let (turn_alone, turn_relayed) = (alone.turn_ms.median()?, relayed.turn_ms.median()?);
        Some(Self {
            time: ms_relayed / ms_alone,
            stream_time: (ms_relayed - turn_relayed) / (ms_alone - turn_alone),
            turn_ms: turn_relayed - turn_alone,
            mib: relayed.peak_mib.median()? - alone.peak_mib.median()?,
            share_mib: relayed.share_mib.median()? - alone.share_mib.median()?,
        })
    }

    fn json(&self) -> Value {
        json!({
            "time": self.time,
            "stream_time": self.stream_time,
            "turn_ms": self.turn_ms,
            "mib": self.mib,
            "share_mib": self.share_mib,
        })
    }
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
            ..
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
    if let Some(added) = Added::by(contestants, wish.updates) {
        let _ = writeln!(
            text,
            "relayed : alone = {:.2} in time, {:.2} without the fixed cost of a turn ({:+.2} ms)\n\
             relayed - alone = {:+.1} MiB at peak, {:+.1} where what processes share counts in parts",
            added.time, added.stream_time, added.turn_ms, added.mib, added.share_mib,
        );
    }
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
        "relay": Added::by(contestants, options.updates).map(|added| added.json()),
    });
    format!("{object}\n")
}

/// A median rate in units of ours.
fn ratio(contestants: &[Contestant], of: &Measured) -> Option<f64> {
    let ours = contestants.iter().find(|one| one.role == Role::Ours)?;
    Some(of.rate.median()? / ours.measured.rate.median()?)
}

fn whole(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"))
}
