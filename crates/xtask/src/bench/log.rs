//! `bench log`: what the log and its index cost on this disk.
//!
//! Appends and lists are measured by examples of their crates (`crates/log/examples/measure_log`,
//! `crates/index/examples/measure.rs`), disk per turn by turns of the real `sessiond acp`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::client::Client;
use super::open::bytes_below;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// Bytes of a prompt, and of the reply that the script agent makes of it.
const TEXT_BYTES: usize = 1024;

/// How the log is measured.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// How long each load appends
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Turns of 1 KiB of prompt and 1 KiB of reply
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Sessions in the list
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    sessions: u32,
    /// Cargo profile that all is built with: dist is what is shipped
    #[arg(long, default_value = "release")]
    profile: String,
    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,
}

/// Builds, measures, and prints on stdout.
///
/// # Errors
///
/// When something cannot be built, or a program does not answer.
pub(crate) fn run(workspace: &Workspace, options: &Log) -> Result<()> {
    let target = workspace.target()?;
    let sessiond = build::sessiond(workspace, &target, &options.profile)?;
    let example = |named| build::example(workspace, &target, &options.profile, named);
    let environment = Environment::make(&target, "bench-log", &sessiond)?;
    let seconds = options.seconds.to_string();
    let folder = environment.work().join("append");
    let append = measure(
        &example(("sessiond-log", "measure_log"))?,
        &folder,
        &[&seconds],
    )?;
    let folder = environment.work().join("list");
    let sessions = options.sessions.to_string();
    let list = measure(
        &example(("sessiond-index", "measure"))?,
        &folder,
        &[&sessions],
    )?;
    let disk = disk(&environment, &sessiond, options.turns)?;
    let figures = json!({
        "profile": options.profile,
        "append": append["append"],
        "durable": append["durable"],
        "disk": disk,
        "list": list,
    });
    let text = match options.json {
        true => format!("{figures}\n"),
        false => table(&figures),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

/// Runs a program that measures in a folder, and reads the JSON object that it prints.
pub(super) fn measure(program: &Path, folder: &Path, arguments: &[&str]) -> Result<Value> {
    let mut command = Command::new(program);
    command.arg(folder).args(arguments);
    let text = process::line(&command);
    eprintln!("$ {text}");
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(Error::io(format!("starting `{text}`")))?;
    if !output.status.success() {
        let how = format!("ended with {}", output.status);
        return Err(Error::Command { command: text, how });
    }
    serde_json::from_slice(&output.stdout).map_err(|error| Error::content(program, error))
}

/// Bytes of all files below the store, the index included, once a process that ran so many turns of
/// one session has left.
fn disk(environment: &Environment, sessiond: &Path, turns: u32) -> Result<Value> {
    let store = environment.work().join("store");
    let mut command = environment.command(sessiond);
    command.arg("acp").env("SESSIOND_HOME", &store);
    let mut client = Client::start(&mut command, "sessiond acp")?;
    client.initialize()?;
    let new = json!({ "cwd": environment.work(), "mcpServers": [] });
    let session = client.call("session/new", &new)?.result["sessionId"].clone();
    for turn in 0..turns {
        let params = json!({
            "sessionId": session,
            "prompt": [{ "type": "text", "text": prompt(turn) }],
        });
        client.call("session/prompt", &params)?;
    }
    client.leave()?;
    let bytes = bytes_below(&store);
    let per_turn = bytes as f64 / f64::from(turns);
    Ok(json!({ "turns": turns, "bytes": bytes, "bytes_per_turn": per_turn }))
}

/// Words that the script agent says back; different ones each turn.
fn prompt(turn: u32) -> String {
    let mut text = String::new();
    let mut word = 0;
    while text.len() < TEXT_BYTES {
        word += 1;
        // Writing to a String cannot fail.
        let _ = write!(text, "word{word}of{turn} ");
    }
    text.truncate(TEXT_BYTES);
    text
}

fn table(figures: &Value) -> String {
    let number = |value: &Value| figure(value.as_f64());
    let mut text = format!(
        "{:>8} {:>10} {:>12} {:>10}\n",
        "sessions", "appenders", "records/s", "syncs/s"
    );
    for load in figures["append"].as_array().into_iter().flatten() {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            text,
            "{:>8} {:>10} {:>12} {:>10}",
            load["sessions"].to_string(),
            load["appenders"].to_string(),
            number(&load["records_per_second"]),
            number(&load["syncs_per_second"]),
        );
    }
    let (durable, disk, list) = (&figures["durable"], &figures["disk"], &figures["list"]);
    let lines = [
        ("a durable append, us", &durable["log_us"]),
        ("write + fdatasync of as much, us", &durable["bare_us"]),
        ("ratio", &durable["ratio"]),
        (
            "disk per turn of 1 KiB + 1 KiB, bytes",
            &disk["bytes_per_turn"],
        ),
        ("sessions in the list", &list["sessions"]),
        (
            "rebuild of the index, sessions/s",
            &list["rebuild_per_second"],
        ),
        ("first page, ms", &list["first_page_ms"]),
        (
            "first page, another process, ms",
            &list["first_page_of_another_process_ms"],
        ),
        (
            "first page after a session closed, ms",
            &list["first_page_after_a_session_ms"],
        ),
        ("all pages, ms", &list["all_pages_ms"]),
    ];
    text.push('\n');
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<40} {:>10}", number(value));
    }
    text
}
