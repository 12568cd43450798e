//! `bench claude`: how soon a program on an SDK has its first result, and what taking in a long
//! transcript of Claude costs.
//!
//! Reading alone is measured by an example of its crate (`measure_transcript`), for two lengths, so
//! that the figures show whether memory grows with the file; taking it into a store, with its
//! original and synced, by the real `sessiond`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::claude_start::{self, Programs};
use super::log::measure;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::peers::Peers;
use crate::process;
use crate::workspace::Workspace;

/// Between two looks at the memory of a process.
const LOOK: Duration = Duration::from_millis(5);

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
    let mut read = Vec::new();
    for megabytes in [options.megabytes / 4, options.megabytes] {
        let folder = environment.work().join(format!("transcript-{megabytes}"));
        read.push(measure(&example, &folder, &[&megabytes.to_string()])?);
    }
    let whole = read.last().cloned().unwrap_or_default();
    let import = import(&environment, &sessiond, &whole)?;
    let figures = json!({
        "profile": options.profile, "start": start, "read": read, "import": import,
    });
    let text = match options.json {
        true => format!("{figures}\n"),
        false => table(&figures),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

/// Takes the transcript into a store.
fn import(environment: &Environment, sessiond: &Path, read: &Value) -> Result<Value> {
    let file = read["file"].as_str().unwrap_or_default();
    let mut command = environment.command(sessiond);
    command.args(["sessions", "import", file, "--json"]);
    command.env("SESSIOND_HOME", environment.work().join("store"));
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let text = process::line(&command);
    let failed = || Error::io(format!("running `{text}`"));
    let begun = Instant::now();
    let mut child = command.spawn().map_err(failed())?;
    // It grows to its peak and stays there: a look now and then finds it.
    let (mut peak, mut status) = (0, None);
    while status.is_none() {
        peak = Memory::of_tree(child.id()).map_or(peak, |now| now.peak_kib.max(peak));
        std::thread::sleep(LOOK);
        status = child.try_wait().map_err(failed())?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let output = child.wait_with_output().map_err(failed())?;
    if !output.status.success() {
        let how = format!("ended with {}", output.status);
        return Err(Error::Command { command: text, how });
    }
    let said: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| Error::content(sessiond, error))?;
    let bytes = read["bytes"].as_f64().unwrap_or_default();
    Ok(json!({
        "items": said["items"],
        "mb_per_second": bytes / 1e6 / seconds,
        "peak_kilobytes": peak,
    }))
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
    let _ = writeln!(
        text,
        "{:>12} {:>10} {:>12} {:>12} {:>10}",
        "bytes", "items", "index, MB/s", "read, MB/s", "peak, KiB"
    );
    for read in figures["read"].as_array().into_iter().flatten() {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            text,
            "{:>12} {:>10} {:>12} {:>12} {:>10}",
            read["bytes"].to_string(),
            read["items"].to_string(),
            number(&read["index_mb_per_second"]),
            number(&read["mb_per_second"]),
            number(&read["peak_kilobytes"]),
        );
    }
    let import = &figures["import"];
    let _ = writeln!(
        text,
        "\ninto a store, original kept and synced: {} MB/s, peak {} KiB",
        number(&import["mb_per_second"]),
        number(&import["peak_kilobytes"]),
    );
    text
}
