//! What taking in a long conversation of another program costs: reading alone, by an example of its
//! crate, and into a store, by the real `sessiond`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::log;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::process;

/// Between two looks at the memory of a process.
const LOOK: Duration = Duration::from_millis(5);

/// Has `example` write and read two files, one of so many MiB and one of a quarter of it, and
/// `sessiond` take in the longer one.
///
/// # Errors
///
/// When a program fails.
pub(super) fn measure(
    environment: &Environment,
    (sessiond, example): (&Path, &Path),
    megabytes: u64,
) -> Result<Value> {
    let mut read = Vec::new();
    for megabytes in [megabytes / 4, megabytes] {
        let folder = environment.work().join(format!("transcript-{megabytes}"));
        read.push(log::measure(example, &folder, &[&megabytes.to_string()])?);
    }
    let whole = read.last().cloned().unwrap_or_default();
    let import = import(environment, sessiond, &whole)?;
    Ok(json!({ "read": read, "import": import }))
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

/// The figures for people.
pub(super) fn table(figures: &Value) -> String {
    let number = |value: &Value| figure(value.as_f64());
    let mut text = format!(
        "{:>12} {:>10} {:>12} {:>12} {:>10}\n",
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
