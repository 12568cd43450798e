//! From the start of a program to the result of its first prompt: `sessiond-claude` with the script
//! agent against the real Claude CLI on the scripted model server, which answers at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::model::Model;
use super::sample::Sample;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::process;

/// Measured starts of each, after one that does not count: it reads the programs from disk.
const RUNS: usize = 10;

/// How a program on an SDK starts either.
const FLAGS: [&str; 7] = [
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
];

/// What it is asked, in one go: the SDK for TypeScript waits for no answer either.
const INPUT: &str = concat!(
    r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}"#,
    "\n",
    r#"{"type":"user","message":{"role":"user","content":"hello"},"session_id":""}"#,
    "\n",
);

/// The three programs.
#[derive(Debug)]
pub(super) struct Programs<'a> {
    pub(super) ours: &'a Path,
    pub(super) theirs: &'a Path,
    pub(super) model: &'a Path,
}

/// Measures both in turn. The CLI is to take at least 20 times as long.
///
/// # Errors
///
/// When a program cannot be started, or tells no good result.
pub(super) fn measure(environment: &Environment, programs: &Programs<'_>) -> Result<Value> {
    let model = Model::start(environment, programs.model)?;
    let (mut ours, mut theirs) = (Sample::default(), Sample::default());
    for run in 0..=RUNS {
        for (program, sample) in [(programs.ours, &mut ours), (programs.theirs, &mut theirs)] {
            let mut command = environment.command(program);
            command.args(FLAGS);
            command.env("ANTHROPIC_BASE_URL", &model.url);
            command.env("ANTHROPIC_API_KEY", "dummy");
            command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            let took = to_result(&mut command)?;
            if run > 0 {
                sample.add(took);
            }
        }
    }
    let times = ours.median().zip(theirs.median()).map(|(a, b)| b / a);
    Ok(json!({ "sessiond_ms": ours.json(), "claude_ms": theirs.json(), "times": times }))
}

/// Milliseconds to the first result.
fn to_result(command: &mut Command) -> Result<f64> {
    let text = process::line(command);
    let failed = || Error::io(format!("running `{text}`"));
    let begun = Instant::now();
    let mut child = start(command)?;
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        stdin.write_all(INPUT.as_bytes()).map_err(failed())?;
    }
    let mut took = None;
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        while took.is_none() && stdout.read_line(&mut line).map_err(failed())? > 0 {
            let frame: Value = serde_json::from_str(&line).unwrap_or_default();
            if frame["type"] == "result" && frame["is_error"] == false {
                took = Some(begun.elapsed().as_secs_f64() * 1e3);
            }
            line.clear();
        }
        drop(stdin);
        // Whoever writes to nobody would end by that.
        let _rest = stdout.read_to_end(&mut Vec::new());
    }
    child.wait().map_err(failed())?;
    took.ok_or_else(|| Error::Command {
        command: text,
        how: "ended without a good result".to_owned(),
    })
}

fn start(command: &mut Command) -> Result<Child> {
    let text = process::line(command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(Error::io(format!("starting `{text}`")))
}
