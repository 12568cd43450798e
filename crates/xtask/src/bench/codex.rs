//! `bench codex`: a turn of `exec`, and the resumption of a long thread, beside the real Codex.
//!
//! The real one talks to the scripted model server, which answers at once; ours has the script agent.
//! Both resume the same rollout: the real one its file, ours what it imported of it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::build;
use super::client::Client;
use super::model::Model;
use super::sample::Sample;
use super::start::figure;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::process;
use crate::workspace::Workspace;

/// The thread of the rollout.
const THREAD: &str = "0191f0aa-0000-7000-8000-00000000c0de";

/// Bytes of one answer in the rollout: what a model says in a page or so.
const ANSWER: usize = 4096;

/// How it is measured.
#[derive(Debug, Args)]
pub(crate) struct Codex {
    /// Turns of `exec`, and resumptions, of each
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Length of the rollout in MB
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    megabytes: u64,
    /// Cargo profile that all is built with: dist is what is shipped
    #[arg(long, default_value = "release")]
    profile: String,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// The programs and where they keep what they have.
struct Place {
    environment: Environment,
    sessiond: PathBuf,
    ours: PathBuf,
    real: PathBuf,
    home: PathBuf,
}

/// Whether an answer holds the thread's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turns {
    With,
    Without,
}

/// Builds, installs, measures, and prints on stdout.
///
/// # Errors
///
/// When something cannot be built or installed, or a program fails.
pub(crate) fn run(workspace: &Workspace, options: &Codex) -> Result<()> {
    let target = workspace.target()?;
    let profile = options.profile.as_str();
    let sessiond = build::binary(workspace, &target, (profile, "sessiond-cli", "sessiond"))?;
    let ours = build::binary(
        workspace,
        &target,
        (profile, "sessiond-cli", "sessiond-codex"),
    )?;
    let named = (profile, "sessiond-conformance", "scripted-model");
    let model = build::binary(workspace, &target, named)?;
    let peers = Peers::at(&target);
    peers.install_codex(workspace)?;
    let environment = Environment::make(&target, "bench-codex", &sessiond)?;
    let home = environment.work().join("codex");
    fs::create_dir_all(&home).map_err(Error::io("making a home for Codex"))?;
    let model = Model::start(&environment, &model)?;
    let config = home.join("config.toml");
    fs::write(&config, configuration(&model.url)).map_err(Error::io("writing config.toml"))?;
    let place = Place {
        environment,
        sessiond,
        ours,
        real: peers.codex()?,
        home,
    };
    let exec = exec(&place, options.runs)?;
    let rollout = rollout(&place.home, options.megabytes * 1_000_000)?;
    let import = import(&place, &rollout)?;
    let mut resume = Vec::new();
    // Ours has an id of its own where that was taken.
    let session = import["session"].as_str().unwrap_or(THREAD).to_owned();
    for turns in [Turns::Without, Turns::With] {
        resume.push(resumed(&place, options.runs, (turns, &session))?);
    }
    let figures = json!({
        "profile": profile, "exec_ms": exec, "import": import, "resume": resume,
    });
    let text = match options.json {
        true => format!("{figures}\n"),
        false => table(&figures),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::io("writing the figures"))
}

impl Place {
    fn ours(&self) -> Command {
        let mut command = self.environment.command(&self.ours);
        command.env("SESSIOND_HOME", self.environment.work().join("store"));
        command
    }

    fn real(&self) -> Command {
        let mut command = self.environment.command(&self.real);
        command.env("CODEX_HOME", &self.home);
        command
    }
}

fn configuration(url: &str) -> String {
    format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
         sandbox_mode = \"read-only\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n[feedback]\nenabled = false\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\nrequest_max_retries = 0\n\
         stream_max_retries = 0\nsupports_websockets = false\n"
    )
}

/// Milliseconds from the start of `exec` to the end of its turn, of both.
fn exec(place: &Place, runs: u32) -> Result<Value> {
    let (mut ours, mut real) = (Sample::default(), Sample::default());
    // The first of each fills the caches.
    for run in 0..=runs {
        let times = [turn(place.ours())?, turn(place.real())?];
        if run > 0 {
            ours.add(times[0]);
            real.add(times[1]);
        }
    }
    Ok(json!({ "ours": ours.json(), "real": real.json() }))
}

/// One turn: milliseconds to its end.
fn turn(mut command: Command) -> Result<f64> {
    command.args(["exec", "--json", "--skip-git-repo-check", "hello"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let text = process::line(&command);
    let failed = || Error::io(format!("running `{text}`"));
    let begun = Instant::now();
    let mut child = command.spawn().map_err(failed())?;
    let mut elapsed = None;
    for line in child
        .stdout
        .take()
        .map(BufReader::new)
        .into_iter()
        .flat_map(|out| out.lines())
    {
        if line.map_err(failed())?.contains("\"turn.completed\"") {
            elapsed = Some(begun.elapsed());
        }
    }
    let status = child.wait().map_err(failed())?;
    match elapsed {
        Some(elapsed) if status.success() => Ok(elapsed.as_secs_f64() * 1e3),
        _ => Err(Error::Command {
            command: text,
            how: format!("completed no turn, {status}"),
        }),
    }
}

/// Writes a rollout of so many bytes where the real one finds it.
fn rollout(home: &Path, bytes: u64) -> Result<PathBuf> {
    let folder = home.join("sessions/2026/01/02");
    fs::create_dir_all(&folder).map_err(Error::io("making the folder of the rollout"))?;
    let file = folder.join(format!("rollout-2026-01-02T03-04-05-{THREAD}.jsonl"));
    let failed = || Error::io(format!("writing {}", file.display()));
    let mut out = std::io::BufWriter::new(fs::File::create(&file).map_err(failed())?);
    let mut written = 0_u64;
    let mut say = |kind: &str, payload: Value| -> Result<u64> {
        let line =
            json!({ "timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload });
        let line = format!("{line}\n");
        out.write_all(line.as_bytes()).map_err(failed())?;
        Ok(line.len() as u64)
    };
    let cwd = home.display().to_string();
    written += say(
        "session_meta",
        json!({
            "id": THREAD, "timestamp": "2026-01-02T03:04:05.000Z", "cwd": cwd, "originator": "bench",
            "cli_version": "0.171.0", "source": "cli", "model_provider": "scripted",
        }),
    )?;
    let answer = "All work and no play makes a long answer. ".repeat(ANSWER / 42);
    let mut number = 0_u64;
    while written < bytes {
        number += 1;
        let (asked, call) = (format!("question {number}"), format!("call_{number}"));
        let message = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
        written += say("response_item", message("user", "input_text", &asked))?;
        written += say(
            "event_msg",
            json!({ "type": "user_message", "message": asked }),
        )?;
        written += say(
            "response_item",
            json!({ "type": "function_call", "name": "exec_command",
            "arguments": "{\"cmd\":\"ls\"}", "call_id": call }),
        )?;
        written += say(
            "response_item",
            json!({ "type": "function_call_output", "call_id": call,
            "output": answer }),
        )?;
        written += say(
            "response_item",
            message("assistant", "output_text", &answer),
        )?;
        written += say(
            "event_msg",
            json!({ "type": "agent_message", "message": answer }),
        )?;
    }
    out.flush().map_err(failed())?;
    Ok(file)
}

/// Takes the rollout into our store.
fn import(place: &Place, rollout: &Path) -> Result<Value> {
    let mut command = place.environment.command(&place.sessiond);
    command.args(["sessions", "import", "--json"]).arg(rollout);
    command.env("SESSIOND_HOME", place.environment.work().join("store"));
    let text = process::line(&command);
    let begun = Instant::now();
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(Error::io(format!("running `{text}`")))?;
    let seconds = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        let how = format!("ended with {}", output.status);
        return Err(Error::Command { command: text, how });
    }
    let bytes = fs::metadata(rollout)
        .map_err(Error::io("looking at the rollout"))?
        .len();
    let said: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| Error::content(&place.sessiond, error))?;
    let bytes = u32::try_from(bytes).map_or(f64::INFINITY, f64::from);
    Ok(json!({
        "session": said["session"], "bytes": bytes, "mb_per_second": bytes / 1e6 / seconds,
    }))
}

/// Milliseconds from `thread/resume` to its answer, and the peak of memory, of both.
fn resumed(place: &Place, runs: u32, (turns, session): (Turns, &str)) -> Result<Value> {
    let exclude = turns == Turns::Without;
    let mut figures = json!({ "exclude_turns": exclude });
    for (name, command, thread) in [
        ("ours", Place::ours as fn(&Place) -> Command, session),
        ("real", Place::real, THREAD),
    ] {
        let (mut times, mut memory) = (Sample::default(), Sample::default());
        let mut bytes = 0;
        for run in 0..=runs {
            let mut app = command(place);
            let mut client = Client::start(app.arg("app-server"), name)?;
            let about = json!({ "clientInfo": { "name": "xtask", "version": "0" } });
            client.call("initialize", &about)?;
            let params = json!({ "threadId": thread, "excludeTurns": exclude });
            let answer = client.call("thread/resume", &params)?;
            let peak = client.leave()?.peak_mib();
            if run > 0 {
                times.add(answer.elapsed.as_secs_f64() * 1e3);
                memory.add(peak);
            }
            bytes = answer.result.to_string().len();
        }
        figures[name] = json!({
            "ms": times.json(), "peak_mib": memory.json(), "answer_bytes": bytes,
        });
    }
    Ok(figures)
}

fn table(figures: &Value) -> String {
    let number = |value: &Value| figure(value.as_f64());
    let ratio = |ours: &Value, real: &Value| {
        let parts = ours.as_f64().zip(real.as_f64());
        figure(parts.map(|(ours, real)| ours / real))
    };
    let exec = &figures["exec_ms"];
    let (ours, real) = (&exec["ours"]["median"], &exec["real"]["median"]);
    let mut text = format!(
        "exec, start to turn.completed: {} ms, the real one {} ms: {} of it\n",
        number(ours),
        number(real),
        ratio(ours, real),
    );
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        text,
        "import of the rollout, kept and synced: {} MB/s",
        number(&figures["import"]["mb_per_second"]),
    );
    for resume in figures["resume"].as_array().into_iter().flatten() {
        let (ours, real) = (&resume["ours"], &resume["real"]);
        let turns = match resume["exclude_turns"].as_bool() {
            Some(true) => "without turns",
            _ => "with turns",
        };
        let _ = writeln!(
            text,
            "thread/resume {turns}: {} ms, the real one {} ms: {} of it; peak {} MiB with an answer \
             of {} bytes, the real one {} MiB",
            number(&ours["ms"]["median"]),
            number(&real["ms"]["median"]),
            ratio(&ours["ms"]["median"], &real["ms"]["median"]),
            number(&ours["peak_mib"]["median"]),
            ours["answer_bytes"],
            number(&real["peak_mib"]["median"]),
        );
    }
    text
}
