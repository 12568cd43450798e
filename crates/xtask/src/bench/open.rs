//! `bench open`: what a long history costs: opening a session without its past, and replaying all of
//! it to an ACP client, for sessions of growing length.
//!
//! The sessions are written by the project's own engine (`crates/engine/examples/long_session.rs`).
//! Each measurement is of a process of its own, so that its peak memory is that of one opening.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::client::Client;
use super::sample::Sample;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// How openings are measured.
#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Turns of the sessions, each with one tool call of 3,900 bytes of output
    #[arg(long, value_delimiter = ',', default_values_t = [55, 550, 5500])]
    turns: Vec<u32>,
    /// Measurements of each, after one that does not count
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Cargo profile that sessiond is built with: dist is what is shipped
    #[arg(long, default_value = "release")]
    profile: String,
    /// Keep the sessions here, and use those that are here already
    #[arg(long, value_name = "FOLDER")]
    stores: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// A session of so many turns, and what was measured of it.
struct Length {
    turns: u32,
    store: PathBuf,
    session: String,
    store_bytes: u64,
    updates: u64,
    open_ms: Sample,
    open_mib: Sample,
    load_ms: Sample,
    load_mib: Sample,
}

/// Builds sessiond and the writer, writes the sessions, measures, and prints on stdout.
///
/// # Errors
///
/// When something cannot be built, or sessiond does not answer.
pub(crate) fn run(workspace: &Workspace, options: &Open) -> Result<()> {
    let target = workspace.target()?;
    let sessiond = build::sessiond(workspace, &target, &options.profile)?;
    let writer = ("sessiond-engine", "long_session");
    let writer = build::example(workspace, &target, &options.profile, writer)?;
    let environment = Environment::make(&target, "bench-open", &sessiond)?;
    let stores = match &options.stores {
        Some(folder) => folder.clone(),
        None => environment.work().join("stores"),
    };
    let mut lengths = Vec::new();
    for turns in &options.turns {
        lengths.push(Length::make(&stores, *turns, &writer)?);
    }
    for round in 0..=options.runs {
        for length in &mut lengths {
            let opened = length.open(&environment, &writer)?;
            let loaded = length.load(&environment, &sessiond)?;
            if round > 0 {
                length.open_ms.add(opened.0);
                length.open_mib.add(opened.1);
                length.load_ms.add(loaded.0);
                length.load_mib.add(loaded.1);
            }
        }
    }
    let text = match options.json {
        true => object(&lengths, options),
        false => table(&lengths),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

impl Length {
    /// The session in `<stores>/store-<turns>`, written when it is not there.
    fn make(stores: &Path, turns: u32, writer: &Path) -> Result<Self> {
        let store = stores.join(format!("store-{turns}"));
        let sessions = store.join("sessions");
        if !sessions.exists() {
            std::fs::create_dir_all(stores)
                .map_err(Error::io(format!("making {}", stores.display())))?;
            let mut command = Command::new(writer);
            command.arg("write").arg(&store).arg(turns.to_string());
            process::run(command.stdout(Stdio::null()))?;
        }
        let session = std::fs::read_dir(&sessions)
            .map_err(Error::io(format!("listing {}", sessions.display())))?
            .find_map(|entry| entry.ok()?.file_name().into_string().ok())
            .ok_or_else(|| Error::content(&sessions, "there is no session"))?;
        let store_bytes = bytes_below(&store);
        let [open_ms, open_mib, load_ms, load_mib] = std::array::from_fn(|_| Sample::default());
        Ok(Self {
            turns,
            store,
            session,
            store_bytes,
            updates: 0,
            open_ms,
            open_mib,
            load_ms,
            load_mib,
        })
    }

    /// Milliseconds and peak MiB of an opening without replay.
    fn open(&self, environment: &Environment, opener: &Path) -> Result<(f64, f64)> {
        let mut command = environment.command(opener);
        command.arg("open").arg(&self.store).arg(&self.session);
        let mut opener = Client::start(&mut command, "long_session open")?;
        let line = opener.line()?;
        let millis = line.trim().parse();
        let millis =
            millis.map_err(|_| opener.failed(format!("it said `{}` for a time", line.trim())))?;
        Ok((millis, opener.leave()?.peak_mib()))
    }

    /// Milliseconds and peak MiB of a load with the replay of everything.
    fn load(&mut self, environment: &Environment, sessiond: &Path) -> Result<(f64, f64)> {
        let mut command = environment.command(sessiond);
        command.arg("acp").env("SESSIOND_HOME", &self.store);
        let mut client = Client::start(&mut command, "sessiond acp")?;
        client.initialize()?;
        let params = json!({ "sessionId": self.session, "cwd": "/tmp", "mcpServers": [] });
        let answer = client.call("session/load", &params)?;
        self.updates = answer.notifications;
        Ok((
            answer.elapsed.as_secs_f64() * 1e3,
            client.leave()?.peak_mib(),
        ))
    }
}

/// Bytes of all files below a folder; none of what cannot be read.
pub(super) fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

fn table(lengths: &[Length]) -> String {
    let mut text = format!(
        "{:>6} {:>9} | {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9} {:>8}\n",
        "turns", "store MB", "open ms", "max", "peak MiB", "load ms", "max", "peak MiB", "updates"
    );
    for length in lengths {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:>6} {:>9.1} | {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9} {:>8}",
            length.turns,
            length.store_bytes as f64 / 1e6,
            figure(length.open_ms.median()),
            figure(length.open_ms.max()),
            figure(length.open_mib.max()),
            figure(length.load_ms.median()),
            figure(length.load_ms.max()),
            figure(length.load_mib.max()),
            length.updates,
        );
    }
    text
}

fn object(lengths: &[Length], options: &Open) -> String {
    let lengths: Vec<Value> = lengths
        .iter()
        .map(|length| {
            json!({
                "turns": length.turns,
                "store_bytes": length.store_bytes,
                "open_ms": length.open_ms.json(),
                "open_peak_mib": length.open_mib.json(),
                "load_ms": length.load_ms.json(),
                "load_peak_mib": length.load_mib.json(),
                "load_updates": length.updates,
            })
        })
        .collect();
    let (runs, profile) = (options.runs, &options.profile);
    format!(
        "{}\n",
        json!({ "runs": runs, "profile": profile, "sessions": lengths })
    )
}
